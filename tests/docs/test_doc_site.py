"""The site is whole: links lead somewhere, all pages and all public names are in it."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from page_blocks import DOCS, ROOT, pages

import s2mam
import s2mam.conformance
import s2mam.inspection
from s2mam.baselines import all_baselines

MARKDOWN = [page for page in pages() if page.suffix == ".md"]
# Made by the build.
GENERATED = "generated/"
_CODE = re.compile(r"^```(?:python|pycon|sh|text)\n.*?^```$", flags=re.M | re.S)


def _name(page: Path) -> str:
    return str(page.relative_to(DOCS))


def _targets(page: Path) -> list[str]:
    """What a page links to, includes or lists, as paths below docs/."""
    text = re.sub(
        r"^```(?:python|pycon|sh|text)\n.*?^```$", "", page.read_text(), flags=re.M | re.S
    )
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    links = [link for link in links if "://" not in link and not link.startswith("mailto:")]
    included = re.findall(r"```\{include\} (\S+)", text)
    documents = re.findall(r"\{doc\}`(?:[^`<]*<)?([^`<>]+)>?`", text)
    listed = [
        line.strip()
        for tree in re.findall(r"```\{toctree\}\n(.*?)^```$", text, flags=re.M | re.S)
        for line in tree.splitlines()
        if line.strip() and not line.startswith(":")
    ]
    return links + included + documents + listed


def _exists(page: Path, target: str) -> bool:
    base = DOCS if target.startswith("/") else page.parent
    path = (base / target.lstrip("/")).resolve()
    if path.is_relative_to(DOCS / GENERATED):
        return True
    return any(Path(f"{path}{end}").is_file() for end in ("", ".md", ".rst"))


@pytest.mark.parametrize("page", MARKDOWN, ids=_name)
def test_links_lead_somewhere(page: Path):
    assert [target for target in _targets(page) if not _exists(page, target)] == []


def test_every_page_can_be_reached():
    reached: set[Path] = set()
    waiting = [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        if page.suffix != ".md":
            continue
        for target in _targets(page):
            path = (page.parent / target).resolve()
            ends = ("", ".md", ".rst")
            found = [other for end in ends if (other := Path(f"{path}{end}")).is_file()]
            waiting += [other for other in found if other in set(pages())]
    assert [page for page in pages() if page not in reached] == []


def test_the_reference_lists_all_public_names():
    text = (DOCS / "reference.rst").read_text(encoding="utf-8")
    listed = {line.strip().split(".")[-1] for line in text.splitlines() if line.startswith("   ")}
    parts = ("inspection", "conformance", "datasets", "model_selection", "exceptions")
    modules = [getattr(s2mam, part) for part in parts]
    wanted = {name for module in modules for name in module.__all__}
    own = set(s2mam.__all__) - {"__version__"}
    wanted |= {name for name in own if not inspect.ismodule(getattr(s2mam, name))}
    wanted |= {cls.__name__ for cls in all_baselines().values()}
    assert wanted - listed - {"PAPER"} == set()
    assert ".. py:data:: PAPER" in text


def _reference() -> dict[str, object]:
    """All names of the reference, with what they stand for."""
    found: dict[str, object] = {}
    module = ""
    for line in (DOCS / "reference.rst").read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r"   [A-Za-z_][\w.]*", line):
            path, _, name = f"{module}.{line.strip()}".rpartition(".")
            found[f"{path}.{name}"] = getattr(importlib.import_module(path), name)
    return found


def test_every_name_of_the_reference_is_explained_with_an_example():
    names = _reference()
    assert len(names) > 50
    bare = {
        name
        for name, what in names.items()
        if not (inspect.isclass(what) and issubclass(what, Exception))
        and not inspect.isabstract(what)
        and ">>>" not in (inspect.getdoc(what) or "")
    }
    # What a baseline is handed and inherits: "write your own baseline" is their example.
    assert {name for name in bare if not name.startswith("s2mam.baselines.")} == set()
    assert all(inspect.getdoc(what) for what in names.values())


@pytest.mark.parametrize("name", ["S2MAM", "ManifoldAdditive"])
@pytest.mark.parametrize("task", ["Regressor", "Classifier"])
def test_every_parameter_is_explained_where_it_is_looked_up(name: str, task: str):
    kind = getattr(s2mam, name + task)
    heads = re.findall(r"^    (\w[\w, ]*) : ", kind.__doc__, flags=re.M)
    told = {one for head in heads for one in head.split(", ")}
    assert set(inspect.signature(kind).parameters) - told == set()


def test_the_guide_names_all_systems():
    text = (DOCS / "guide" / "baselines.md").read_text(encoding="utf-8")
    names = {cls.paper_name for cls in all_baselines().values()}
    assert {name for name in names if f"| {name} |" not in text} == set()


@pytest.mark.slow
def test_the_site_builds_without_warnings(tmp_path: Path):
    pytest.importorskip("sphinx_gallery")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", "docs", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
