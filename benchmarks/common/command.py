"""The command line that all studies share."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common.store import ResultStore
from benchmarks.common.study import Cell, Study, run_study, select


def main(study: Study, arguments: Sequence[str] | None = None) -> int:
    """Run a study, or write its tables; returns the exit code."""
    options = _parser(study).parse_args(arguments)
    if options.quick and options.results is None:
        name = f"s2mam-bench-{study.name}-quick.jsonl"
        options.results = Path(tempfile.gettempdir()) / name
    store = ResultStore(options.results) if options.results else study.results()
    if options.action == "summary":
        return _write_summary(study, store)
    if options.action == "compact":
        store.compact()
        return 0
    cells = _cells(study, options)
    if not cells:
        print("No cell fits these filters; see --help.", file=sys.stderr)
        return 2
    if options.action == "list":
        for cell in cells:
            print(" ".join(f"{key}={value}" for key, value in cell.items()))
        return 0
    run_study(
        study,
        store,
        cells,
        n_jobs=options.n_jobs,
        time_limit=options.time_limit,
        redo=options.redo,
        retry_failed=options.retry_failed,
    )
    return _write_summary(study, store)


def parse_seeds(text: str) -> list[int]:
    """Seeds from "10" (0 to 9), "3-5" (3, 4, 5) or "1,4,6-8"."""
    if text.isdigit():
        return list(range(int(text)))
    seeds: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        seeds.extend(range(int(first), int(last or first) + 1))
    return seeds


def parse_filters(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Wanted values by field, from texts such as "data=iris,wine"."""
    wanted = {}
    for text in texts:
        field, equals, values = text.partition("=")
        if not equals:
            raise argparse.ArgumentTypeError(f"{text!r} is not of the form field=value,value")
        wanted[field] = tuple(values.split(","))
    return wanted


def _cells(study: Study, options: argparse.Namespace) -> list[Cell]:
    wanted = parse_filters(options.cells)
    if options.methods:
        wanted["method"] = tuple(options.methods.split(","))
    seeds = options.seeds or parse_seeds("1" if options.quick else "10")
    cells = study.make_cells(seeds)
    if options.quick:
        cells = select(cells, {key: val for key, val in study.quick.items() if key not in wanted})
    return select(cells, wanted)


def _write_summary(study: Study, store: ResultStore) -> int:
    rows = store.rows()
    if not rows:
        print(f"No results in {store.path}.", file=sys.stderr)
        return 1
    target = store.path.with_suffix(".md")
    target.write_text(study.summarize(rows) + _footer(study, store), encoding="utf-8")
    print(f"{len(rows)} cells -> {target}", file=sys.stderr)
    return 0


def _footer(study: Study, store: ResultStore) -> str:
    lines = ["", "## Protocol", "", study.protocol.strip(), "", "Runs:", ""]
    for name, run in store.runs().items():
        packages = ", ".join(f"{key} {value}" for key, value in run["versions"].items())
        lines.append(
            f"- `{name}`: {packages}; commit {run['commit']}, source {run['source']}; "
            f"{run['machine']}"
        )
    return "\n".join(lines) + "\n"


def _parser(study: Study) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"benchmarks/{study.name}/run.py",
        description=study.protocol,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = ("run", "summary", "compact", "list")
    parser.add_argument(
        "action",
        nargs="?",
        choices=actions,
        default="run",
        help="run the cells and write the tables (default); write the tables; drop overwritten "
        "rows of the results; print the cells",
    )
    parser.add_argument(
        "--seeds", type=parse_seeds, help='"5" is 0 to 4; "3-5"; "1,4" (default 10)'
    )
    parser.add_argument("--methods", help="names separated by commas; a trailing * is a wildcard")
    parser.add_argument(
        "--cells",
        nargs="+",
        default=[],
        metavar="FIELD=VALUES",
        help="only these values of a field, such as data=iris,wine",
    )
    parser.add_argument("--quick", action="store_true", help="one seed, few cells, results apart")
    parser.add_argument("--n-jobs", type=int, default=2, help="cells at a time (default 2)")
    parser.add_argument("--time-limit", type=float, default=300.0, help="seconds a cell (300)")
    parser.add_argument("--redo", action="store_true", help="run finished cells again")
    parser.add_argument("--retry-failed", action="store_true", help="run failed cells again")
    parser.add_argument("--results", type=Path, help="file of the results (default: beside run.py)")
    return parser
