"""Would the tests notice? Small changes to the mathematics, one at a time.

    python benchmarks/faults/mutate.py --count 100 [--seed 0] [--folders losses masks ...]

Draws places in the modules of the folders, changes one operator, comparison, constant or result
there, and runs the tests of the folder against a copy of the package with this change. A change
that no test notices "survives". Each finished mutant is a line of ``mutants.jsonl`` beside this
file; a run that was stopped goes on there. Writes the table of ``mutation.md`` between its marks.
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
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "s2mam"
RESULTS = Path(__file__).with_name("mutants.jsonl")
PAGE = Path(__file__).with_name("mutation.md")
FOLDERS = ("losses", "masks", "graphs", "solvers")
MARK = "<!-- made by mutate.py -->"

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
    target = home / "s2mam" / str(mutant["file"])
    text, after = mutated(mutant)
    mutant["after"] = after
    original = target.read_text(encoding="utf-8")
    target.write_text(text, encoding="utf-8")
    folder = str(mutant["file"]).split("/")[0]
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    more = ["tests/properties"] if folder in ("masks", "graphs") else []
    # Files of several folders have the same names, so that each folder is a run of its own.
    try:
        for tests in (f"tests/{folder}", *more):
            done = subprocess.run(
                [*command, tests],
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


def main() -> int:
    """Run what is missing and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folders", nargs="+", default=list(FOLDERS))
    parser.add_argument("--seconds", type=float, default=900.0, help="limit of one run of tests")
    options = parser.parse_args()
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    done = [json.loads(line) for line in lines]
    known = {(one["file"], one["line"], one["text"], one["kind"]) for one in done}
    home = ROOT / "build" / "mutants"
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(SOURCE, home / "s2mam", ignore=shutil.ignore_patterns("__pycache__"))
    for mutant in mutants(options.folders, options.count, options.seed):
        if (mutant["file"], mutant["line"], mutant["text"], mutant["kind"]) in known:
            continue
        mutant["outcome"] = survives(mutant, home, options.seconds)
        done.append(mutant)
        with RESULTS.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(mutant) + "\n")
        print(mutant["outcome"], mutant["file"], mutant["line"], mutant["text"], flush=True)
    _write(done)
    return 0


def _write(done: list[dict[str, str]]) -> None:
    rows = ["| folder | mutants | noticed | survived |", "| :-- | --: | --: | --: |"]
    for folder in FOLDERS:
        ours = [one for one in done if one["file"].startswith(f"{folder}/")]
        left = sum(one["outcome"] == "survived" for one in ours)
        rows.append(f"| {folder} | {len(ours)} | {len(ours) - left} | {left} |")
    old = PAGE.read_text(encoding="utf-8") if PAGE.exists() else f"{MARK}\n{MARK}\n"
    before, _, after = old.split(MARK)
    text = "\n".join([before + MARK, "", *rows, "", MARK + after])
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
