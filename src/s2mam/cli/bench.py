"""``s2mam bench``: a benchmark of seconds, and the way to the large ones."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from s2mam.cli.console import Console, Debug, Json, Quiet, session
from s2mam.cli.progress import watch_fit

if TYPE_CHECKING:
    from s2mam.cli.contest import Result

__all__ = ["STUDIES", "bench"]

#: Studies that take longer, with the commands that run them; the scripts are in the repository.
STUDIES = {
    "python benchmarks/few_labels/run.py": "few labels on real tables, with and without junk",
    "python benchmarks/unlabeled/run.py": "what unlabelled rows add, and where they hurt",
    "python benchmarks/selection/run.py": "which columns are found",
    "python benchmarks/lower_level/run.py": "time of the solver against others",
    "python benchmarks/cost/run.py": "seconds and memory of a fit",
    "s2mam paper": "the tables and figures of the paper beside its claims",
    "s2mam experiments --help": "the paper's theorems by experiment",
}

_READ_WITH_CARE = (
    "Rows without label are scored, which no method saw; mean of the draws, seconds of a fit.",
    "Junk columns depend on nothing here, which s2mam uses and the others do not; the studies",
    "below have real tables and harder junk.",
)


def bench(
    repeats: Annotated[int, typer.Option(min=1, help="Draws of every problem.")] = 2,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="The first draw.")] = 0,
    studies: Annotated[
        bool, typer.Option("--list", help="Only name the large studies and their commands.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compare with scikit-learn's usual methods on generated tables, in seconds.

    \b
    Examples:
      s2mam bench
      s2mam bench --repeats 10 --json
      s2mam bench --list
    """
    with session(as_json=as_json, quiet=quiet, debug=debug) as console:
        results = [] if studies else _run(repeats, seed, console)
        lines = [] if studies else [*_table(results), *_READ_WITH_CARE, ""]
        width = max(map(len, STUDIES))
        lines += ["Large studies:", *(f"  {k:{width}}  {v}" for k, v in STUDIES.items())]
        console.result(
            lines,
            command="bench",
            repeats=repeats,
            seed=seed,
            results=[asdict(result) for result in results],
            studies=STUDIES,
        )


def _run(repeats: int, seed: int, console: Console) -> list[Result]:
    from s2mam.cli.contest import count, run

    results = []
    with watch_fit("Fits", total=count(repeats), shown=console.talks) as step:
        for result in run(repeats, seed):
            results.append(result)
            step({"done": len(results)})
    return results


def _table(results: list[Result]) -> list[str]:
    from s2mam.cli.contest import PROBLEMS

    lines: list[str] = []
    for name, problem in PROBLEMS.items():
        lines.append(f"{name}: {problem.title}")
        for method in dict.fromkeys(one.method for one in results if one.problem == name):
            mine = [one for one in results if (one.problem, one.method) == (name, method)]
            score = sum(one.score for one in mine) / len(mine)
            seconds = sum(one.seconds for one in mine) / len(mine)
            lines.append(f"  {method:18} {score:6.3f} {seconds:8.2f} s")
        lines.append("")
    return lines
