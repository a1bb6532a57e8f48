"""Would the tests notice? Small changes to the mathematics, one at a time.

    python benchmarks/faults/mutate.py --count 100 [--seed 0] [--folders losses masks ...]
    python benchmarks/faults/mutate.py --count 0            (writes the page only)
    python benchmarks/faults/mutate.py --count 0 --again    (runs the tests that were added, too)

Draws places in the modules of the folders, changes one operator, comparison, constant or result
there, and runs the tests of the folder against a copy of the package with this change. A change
that no test notices "survives". Each finished mutant is a line of ``mutants.jsonl`` beside this
file; a run that was stopped goes on there, until every folder has its share. Survivors get, by
hand, a description (``what``) and either the test that was added for them (``test``) or the reason
to leave them (``why``). Writes ``mutation.md``; exits with 1 when a survivor has neither, or its
test does not notice it.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "s2mam"
RESULTS = Path(__file__).with_name("mutants.jsonl")
PAGE = Path(__file__).with_name("mutation.md")
FOLDERS = ("losses", "masks", "graphs", "solvers")

_OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
}
_COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


def places(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Nodes that can be changed, with the kind of change; annotations and messages are left out."""
    skipped = {id(node) for parent in ast.walk(tree) for node in _unchanged(parent)}
    for node in ast.walk(tree):
        if id(node) in skipped or not hasattr(node, "lineno"):
            continue
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            yield node, "operator"
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
            yield node, "comparison"
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            yield node, "constant"
        elif isinstance(node, ast.BoolOp):
            yield node, "logic"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
            yield node, "sign"
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.BinOp | ast.Call):
            yield node, "result"


def _unchanged(node: ast.AST) -> list[ast.AST]:
    parts: list[ast.AST | None] = []
    if isinstance(node, ast.FunctionDef):
        parts += [node.returns, *(one.annotation for one in node.args.args + node.args.kwonlyargs)]
    elif isinstance(node, ast.AnnAssign):
        parts.append(node.annotation)
    elif isinstance(node, ast.Raise | ast.JoinedStr) or _warns(node):
        parts.append(node)
    return [inner for part in parts if part is not None for inner in ast.walk(part)]


def _warns(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "warn_user"


def change(node: ast.AST, kind: str) -> None:
    """Change a node in its place."""
    if kind == "operator":
        node.op = _OPERATORS[type(node.op)]()
    elif kind == "comparison":
        node.ops[0] = _COMPARISONS[type(node.ops[0])]()
    elif kind == "constant":
        node.value = node.value + 1 if node.value == 0 or abs(node.value) >= 1 else node.value * 2
    elif kind == "logic":
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif kind == "sign":
        node.op = ast.UAdd() if isinstance(node.op, ast.USub) else ast.Not()
        if isinstance(node.op, ast.Not):
            node.operand = ast.UnaryOp(ast.Not(), node.operand)
    elif kind == "result":
        node.value = ast.BinOp(node.value, ast.Mult(), ast.Constant(2.0))


def mutants(folders: list[str], count: int, seed: int) -> Iterator[dict[str, object]]:
    """Draw mutants, the same number in every folder."""
    rng = random.Random(seed)
    for folder in folders:
        found = []
        for path in sorted((SOURCE / folder).glob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for number, (node, kind) in enumerate(places(tree)):
                found.append((path, number, kind, node.lineno, ast.unparse(node)))
        for path, number, kind, line, text in rng.sample(
            found, min(len(found), count // len(folders))
        ):
            file = str(path.relative_to(SOURCE))
            yield {"file": file, "place": number, "kind": kind, "line": line, "text": text}


def mutated(mutant: dict[str, object]) -> tuple[str, str]:
    """Source with the change, and the changed expression."""
    path = SOURCE / str(mutant["file"])
    tree = copy.deepcopy(ast.parse(path.read_text(encoding="utf-8")))
    node, kind = list(places(tree))[int(str(mutant["place"]))]
    change(node, kind)
    ast.fix_missing_locations(tree)
    return ast.unparse(tree), ast.unparse(node)


def survives(mutant: dict[str, object], home: Path, seconds: float) -> str:
    """Run the tests of the folder: "killed", "survived" or "timeout" (which counts as killed)."""
    folder = str(mutant["file"]).split("/")[0]
    more = ["tests/properties"] if folder in ("masks", "graphs") else []
    text, mutant["after"] = mutated(mutant)
    return outcome(mutant, text, [f"tests/{folder}", *more], home, seconds)


def outcome(
    mutant: dict[str, object], text: str, tests: list[str], home: Path, seconds: float
) -> str:
    """Run tests against the copy with one file changed."""
    target = home / "s2mam" / str(mutant["file"])
    original = target.read_text(encoding="utf-8")
    target.write_text(text, encoding="utf-8")
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    # Files of several folders have the same names, so that each folder is a run of its own.
    try:
        for one in tests:
            done = subprocess.run(
                [*command, one],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(home), "OMP_NUM_THREADS": "1"},
                capture_output=True,
                timeout=seconds,
            )
            if done.returncode != 0:
                return "killed"
        return "survived"
    except subprocess.TimeoutExpired:
        return "timeout"
    finally:
        target.write_text(original, encoding="utf-8")


def still_survives(mutant: dict[str, object], home: Path, seconds: float) -> bool:
    """Whether the test that was added for a survivor misses it; lines may have moved since."""
    tree = ast.parse((SOURCE / str(mutant["file"])).read_text(encoding="utf-8"))
    wanted = (mutant["kind"], mutant["text"])
    same = [
        (abs(node.lineno - int(str(mutant["line"]))), number)
        for number, (node, kind) in enumerate(places(tree))
        if (kind, ast.unparse(node)) == wanted
    ]
    if not same:
        print("gone", mutant["file"], mutant["text"], flush=True)
        return False
    text, _ = mutated({**mutant, "place": min(same)[1]})
    found = outcome(mutant, text, [str(mutant["test"])], home, seconds)
    print("again", found, mutant["file"], mutant["text"], flush=True)
    return found == "survived"


def main() -> int:
    """Run what is missing and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folders", nargs="+", default=list(FOLDERS))
    parser.add_argument("--seconds", type=float, default=900.0, help="limit of one run of tests")
    parser.add_argument("--again", action="store_true", help="run the tests that were added")
    options = parser.parse_args()
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    done = [json.loads(line) for line in lines]
    known = {(one["file"], one["line"], one["text"], one["kind"]) for one in done}
    home = ROOT / "build" / "mutants"
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(SOURCE, home / "s2mam", ignore=shutil.ignore_patterns("__pycache__"))
    # Where the source has changed since, other places are drawn: fill up, do not start again.
    wanted = options.count // len(options.folders)
    finished = Counter(str(one["file"]).split("/")[0] for one in done)
    for mutant in mutants(options.folders, options.count, options.seed):
        folder = str(mutant["file"]).split("/")[0]
        seen = (mutant["file"], mutant["line"], mutant["text"], mutant["kind"]) in known
        if seen or finished[folder] >= wanted:
            continue
        finished[folder] += 1
        mutant["outcome"] = survives(mutant, home, options.seconds)
        done.append(mutant)
        with RESULTS.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(mutant) + "\n")
        print(mutant["outcome"], mutant["file"], mutant["line"], mutant["text"], flush=True)
    PAGE.write_text(page(done), encoding="utf-8")
    survivors = [one for one in done if one["outcome"] == "survived"]
    wrong = [one for one in survivors if not (one.get("test") or one.get("why"))]
    if options.again:
        wrong += [
            one
            for one in survivors
            if one.get("test") and still_survives(one, home, options.seconds)
        ]
    for one in wrong:
        print("OPEN", one["file"], one["line"], one["text"], "->", one["after"], flush=True)
    return int(bool(wrong))


def page(done: list[dict[str, str]]) -> str:
    """Counts by folder, and what became of the survivors."""
    lines = [
        "# Would the tests notice?",
        "",
        "Small changes to `losses/`, `masks/`, `graphs/` and `solvers/`, drawn at random, one at a "
        "time, against the tests of the same folder; doctests of the modules and tests of other "
        "folders, the estimators' above all, are not counted. A run that takes too long counts as "
        "noticed. Single mutants are in `mutants.jsonl`; this page is made by "
        "`python benchmarks/faults/mutate.py`.",
        "",
        "| folder | drawn | noticed | survived, noticed since | survived, explained | open |",
        "| :-- | --: | --: | --: | --: | --: |",
    ]
    for folder in (*FOLDERS, ""):
        ours = [one for one in done if one["file"].startswith(folder)]
        left = [one for one in ours if one["outcome"] == "survived"]
        since, why = (sum(key in one for one in left) for key in ("test", "why"))
        lines.append(
            f"| {folder or 'together'} | {len(ours)} | {len(ours) - len(left)} | {since} | {why} "
            f"| {len(left) - since - why} |"
        )
    survivors = [one for one in done if one["outcome"] == "survived"]
    for title, key, head in (
        ("Noticed by tests that were added for them", "test", "test"),
        ("Left, with the reason", "why", "why no test should fail"),
    ):
        lines += ["", f"## {title}", "", f"| change | {head} |", "| :-- | :-- |"]
        for one in survivors:
            if key in one:
                told = f"`{one[key]}`" if key == "test" else one[key]
                lines.append(f"| `{one['file']}`: {one['what']} | {told} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
