"""The shape of the package: imports point one way, and the documents speak of what is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "s2mam"

# What every folder may import beside `_typing`, `exceptions` and `_version`.
FOUNDATION = {"losses", "bases", "graphs"}
ALLOWED = {
    "intake": set(),
    "losses": set(),
    "bases": set(),
    "graphs": {"intake"},
    "solvers": FOUNDATION | {"intake"},
    "masks": FOUNDATION | {"intake"},
    "bilevel": FOUNDATION | {"intake", "solvers", "masks"},
    "persistence": {"intake"},
    # Rows in blocks: the parts of a fit as sums over rows, wherever the rows are.
    "scale": FOUNDATION | {"intake", "solvers", "masks", "bilevel"},
    # What notebooks show of a fitted model is drawn by `inspection`, which imports no estimators.
    "estimators": FOUNDATION
    | {"intake", "masks", "bilevel", "persistence", "solvers"}
    | {"inspection", "scale", "neural"},
    # Reads fitted models; draws graphs, and refits clones to tell how sure a model is.
    "inspection": {"intake", "graphs", "model_selection", "persistence"},
    # Looks at parts that others write, by their contracts.
    "conformance": {"masks"},
    "datasets": {"intake"},
    "model_selection": {"intake"},
    # The training loop of all networks; it knows nothing of tables.
    "training": set(),
    "baselines": FOUNDATION | {"intake", "solvers", "masks", "training"},
    "neural": FOUNDATION | {"masks", "bilevel", "training"},
    "images": {"datasets"},
    # The bench of everything: it fits any estimator on any data set.
    "experiments": {"intake", "datasets", "baselines", "estimators", "bilevel", "model_selection"}
    | FOUNDATION
    | {"masks", "solvers", "persistence", "inspection", "training"},
}
SHARED = {"_typing", "exceptions", "_version"}
# Front ends: they may import anything, and nothing may import them.
FRONT = {"cli", "_demo", "__init__", "__main__"}


def imported(tree: ast.AST, *, package: str = "s2mam") -> set[str]:
    """Parts of the package that a module imports, imports for type checking left out."""
    parts: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                parts.add("a relative import")
            elif module == package:
                parts |= {alias.name for alias in node.names}
            elif module.startswith(package + "."):
                parts.add(module.split(".")[1])
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            parts |= {name[1] if len(name) > 1 else "*" for name in names if name[0] == package}
        else:
            parts |= imported(node, package=package)
    return parts


def part_of(path: Path) -> str:
    inside = path.relative_to(PACKAGE)
    return inside.parts[0] if len(inside.parts) > 1 else inside.stem


MODULES = sorted(path for path in PACKAGE.rglob("*.py"))


def test_the_rule_sees_back_pointing_imports_of_every_form():
    tree = ast.parse(
        "from s2mam.estimators.base import A\n"
        "def f():\n    import s2mam.bilevel.loop\n    from s2mam import masks\n"
        "if TYPE_CHECKING:\n    from s2mam.solvers import solve\n"
    )
    assert imported(tree) == {"estimators", "bilevel", "masks"}


def test_every_folder_has_a_place():
    assert {part_of(path) for path in MODULES} <= set(ALLOWED) | SHARED | FRONT


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path: Path):
    part = part_of(path)
    found = imported(ast.parse(path.read_text(encoding="utf-8")))
    if part in FRONT:
        return
    if part in SHARED:
        assert found == set()
        return
    back = found - ALLOWED[part] - SHARED - {part}
    assert not back, f"{path.relative_to(PACKAGE)} imports {sorted(back)}"


def test_allowed_imports_have_no_cycle():
    settled: set[str] = set()
    while len(settled) < len(ALLOWED):
        ready = {part for part, uses in ALLOWED.items() if uses <= settled} - settled
        assert ready, f"a cycle among {sorted(set(ALLOWED) - settled)}"
        settled |= ready


def named_files(document: Path) -> list[str]:
    """Files in backquotes or as link targets."""
    text = document.read_text(encoding="utf-8")
    quoted = re.findall(r"`([\w./]+\.(?:py|md|png|toml))`", text)
    linked = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    return quoted + linked


@pytest.mark.parametrize("name", ["docs/architecture.md", "README.md"])
def test_documents_name_files_that_exist(name: str):
    document = ROOT / name
    files = named_files(document)
    assert len(files) >= 5
    places = (PACKAGE, ROOT, document.parent)
    assert [file for file in files if not any((place / file).exists() for place in places)] == []


def test_the_page_names_every_folder():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert [part for part in ALLOWED if f"`{part}/" not in text] == []


def test_the_example_of_the_readme_runs(capsys: pytest.CaptureFixture[str]):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    assert len(blocks) == 1
    names: dict[str, object] = {}
    exec(compile(blocks[0], "README.md", "exec"), names)
    score = float(capsys.readouterr().out.split()[0])
    assert score > 0.85
    assert names["X"].shape == (178, 33)
    assert (names["y_few"] == -1).sum() == 163
