"""A study: a list of cells, run in parallel, every finished one stored at once."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.common.environment import run_facts, single_thread
from benchmarks.common.isolate import call_isolated
from benchmarks.common.store import ResultStore, Row, cell_key
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

Cell: TypeAlias = dict[str, Any]
Execute: TypeAlias = Callable[[Cell], Row]


@dataclass(frozen=True)
class Study:
    """What is run and how its results are told.

    Attributes
    ----------
    name : str
    protocol : str
        How rows are drawn, scaled and scored; stored with the results.
    folder : Path
        Where ``results.jsonl`` and ``results.md`` lie.
    make_cells : callable
        Seeds -> cells; every cell has the fields "method" and "seed".
    execute : callable
        Cell -> scores. Runs in a process of its own.
    summarize : callable
        Rows -> markdown.
    quick : dict
        Fields and values that the quick form keeps.
    """

    name: str
    protocol: str
    folder: Path
    make_cells: Callable[[Sequence[int]], list[Cell]]
    execute: Execute
    summarize: Callable[[Sequence[Row]], str]
    quick: dict[str, tuple[str, ...]]

    def results(self) -> ResultStore:
        """The results that belong to the repository."""
        return ResultStore(self.folder / "results.jsonl")


def select(cells: Iterable[Cell], wanted: dict[str, tuple[str, ...]]) -> list[Cell]:
    """Cells whose fields have one of the wanted values; a trailing * stands for any ending."""
    return [
        cell
        for cell in cells
        if all(
            field in cell and _matches(str(cell[field]), values) for field, values in wanted.items()
        )
    ]


def run_study(
    study: Study,
    store: ResultStore,
    cells: Sequence[Cell],
    *,
    n_jobs: int = 2,
    time_limit: float | None = None,
    redo: bool = False,
    retry_failed: bool = False,
) -> int:
    """Run the cells that are not in the store yet; return how many were run.

    ``redo`` runs all of them again, ``retry_failed`` those that failed; later rows win.
    """
    done = set() if redo else store.finished(failures=not retry_failed)
    todo = [cell for cell in cells if cell_key(cell) not in done]
    _say(f"{study.name}: {len(todo)} cells to run, {len(cells) - len(todo)} there already")
    if not todo:
        return 0
    facts = run_facts(study.name, study.protocol)
    if facts["run"] not in store.runs():
        store.append(facts)
    os.environ.update(single_thread())  # for programs that a cell starts
    tasks = (delayed(_run_cell)(study.execute, cell, time_limit) for cell in todo)
    started = time.monotonic()
    finished = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")(
        tasks
    )
    for count, row in enumerate(finished, start=1):
        store.append({**row, "run": facts["run"]})
        left = (time.monotonic() - started) / count * (len(todo) - count)
        _say(f"[{count}/{len(todo)}] {_describe(row)}; {_clock(left)} left")
    return len(todo)


def _run_cell(execute: Execute, cell: Cell, time_limit: float | None) -> Row:
    return {"cell": cell, **call_isolated(_single_threaded, execute, cell, seconds=time_limit)}


def _single_threaded(execute: Execute, cell: Cell) -> Row:
    warnings.simplefilter("ignore")  # peers warn about few labels in every fold
    with threadpool_limits(1):
        return execute(cell)


def _matches(text: str, patterns: tuple[str, ...]) -> bool:
    return any(
        text.startswith(pattern[:-1]) if pattern.endswith("*") else text == pattern
        for pattern in patterns
    )


def _describe(row: Row) -> str:
    place = " ".join(str(value) for value in row["cell"].values())
    if "failure" in row:
        return f"{place}: FAILED, {row['failure']}"
    score = f"{row['test']:.4g}" if row.get("test") is not None else "-"
    return f"{place}: {score} in {row.get('cpu', 0.0):.2f} s"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min" if minutes >= 3 else f"{60 * minutes + rest} s"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
