"""``s2mam experiments``: the paper's theorems looked at by experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from s2mam.cli.console import Console, Debug, Jobs, Json, Quiet, session
from s2mam.cli.paper import Quick

__all__ = ["experiments"]

_HELP = """Look at the paper's theorems by experiment.

\b
Examples:
  s2mam experiments convergence --quick
  s2mam experiments generalization --n-jobs 2 --output results
"""
experiments = typer.Typer(no_args_is_help=True, help=_HELP)

_Output = Annotated[Path, typer.Option("--output", "-o", file_okay=False, help="Folder to write.")]
_Seed = Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed of all draws.")]
_FOLDER = Path("s2mam_experiments")


@experiments.command()
def convergence(
    output: _Output = _FOLDER,
    quick: Quick = False,
    seed: _Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Gradient mapping of the paper's algorithm against the number of iterations.

    \b
    Examples:
      s2mam experiments convergence --quick
    """
    with session(as_json=as_json, quiet=quiet, debug=debug) as console:
        from s2mam.experiments.tables import check_folder
        from s2mam.experiments.theory.convergence import convergence as measure

        check_folder(output)
        small = {"iterations": 100, "runs": 3, "n_rows": 30, "n_junk": 0} if quick else {}
        _show(console, measure(seed=seed, **small), output)


@experiments.command()
def generalization(
    output: _Output = _FOLDER,
    quick: Quick = False,
    seed: _Seed = 0,
    n_jobs: Jobs = 1,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Excess risk against the numbers of labelled and unlabelled rows.

    \b
    Examples:
      s2mam experiments generalization --quick
    """
    with session(as_json=as_json, quiet=quiet, debug=debug) as console:
        from s2mam.experiments.tables import check_folder
        from s2mam.experiments.theory.generalization import generalization as measure

        check_folder(output)
        small: dict[str, Any] = {}
        if quick:
            small = {"labeled": (25, 50), "unlabeled": (25, 50), "repeats": 1, "n_junk": 2}
        _show(console, measure(seed=seed, n_jobs=n_jobs, **small), output)


@experiments.command()
def complexity(
    output: _Output = _FOLDER,
    quick: Quick = False,
    seed: _Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Time and memory of a fit against rows, columns and selected columns.

    \b
    Examples:
      s2mam experiments complexity --quick
    """
    with session(as_json=as_json, quiet=quiet, debug=debug) as console:
        from s2mam.experiments.tables import check_folder
        from s2mam.experiments.theory.complexity import complexity as measure

        check_folder(output)
        small: dict[str, Any] = {}
        if quick:
            small = {"grids": {"n": (60, 120), "p": (8, 16), "C": (2, 4)}, "repeats": 1}
        _show(console, measure(seed=seed, **small), output)


def _show(console: Console, report: Any, output: Path) -> None:
    paths = report.save(output)
    console.result(
        [report.markdown(), f"Wrote {', '.join(map(str, paths))}."],
        command=f"experiments {report.name}",
        rows=[dict(row) for row in report.rows],
        files=paths,
    )
