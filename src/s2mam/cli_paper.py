"""The command line of the studies: ``s2mam paper`` and ``s2mam experiments``."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from s2mam.exceptions import InvalidInputError, S2MAMError, S2MAMWarning

__all__ = ["app", "experiments_app", "paper", "register"]

experiments_app = typer.Typer(
    no_args_is_help=True, help="Look at the paper's theorems by experiment."
)

_Output = Annotated[Path, typer.Option("--output", "-o", file_okay=False, help="Folder to write.")]
_Quick = Annotated[bool, typer.Option("--quick", help="A small form, to see that it works.")]
_Seed = Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed of all draws.")]
_Jobs = Annotated[int, typer.Option("--n-jobs", help="Fits side by side; -1 for all cores.")]


def register(root: typer.Typer) -> None:
    """Mount both commands on a command line.

    Parameters
    ----------
    root : typer.Typer
    """
    root.command("paper")(paper)
    root.add_typer(experiments_app, name="experiments")


def paper(
    name: Annotated[str, typer.Argument(help="Study; without a name the studies are listed.")] = "",
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Repeats; the default is the paper's number.")
    ] = None,
    quick: _Quick = False,
    systems: Annotated[
        str | None, typer.Option(help="Systems to run, with commas between them.")
    ] = None,
    settings: Annotated[
        str | None, typer.Option(help="Only settings that match, such as 'code_*'.")
    ] = None,
    n_jobs: _Jobs = 1,
    output: _Output = Path("s2mam_paper"),
    data_home: Annotated[
        Path | None,
        typer.Option("--data-home", file_okay=False, help="Folder of data sets."),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(min=0.0, help="Most CPU seconds of a cell.")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run cells again that failed.")
    ] = False,
) -> None:
    """Run a study of the paper and print its table beside the paper's claims.

    Finished cells are kept in the output folder: the same command again goes on where it was
    stopped, and more repeats are added to those that are there.

    \b
    Examples:
      s2mam paper
      s2mam paper table2 --quick
      s2mam paper table2 --settings 'code_*' --systems S2MAM,LapSVM,null --n-jobs 2
      s2mam paper adni --data-home ~/data
    """
    with _plain_errors():
        from s2mam.experiments.progress import watch
        from s2mam.experiments.report import run_study
        from s2mam.experiments.studies import PROTOCOLS, make_protocol, shorten

        if not name:
            for key, make in PROTOCOLS.items():
                typer.echo(f"{key:10} {str(make.__doc__).splitlines()[0]}")
            return
        protocol = shorten(
            make_protocol(name),
            quick=quick,
            repeats=repeats,
            systems=None if systems is None else _names(systems),
            settings=settings,
            time_limit=time_limit,
        )
        study = run_study(
            protocol,
            output,
            n_jobs=n_jobs,
            data_home=data_home,
            retry_failed=retry_failed,
            progress=watch,
        )
        typer.echo(study.text)
        paths = list(study.paths)
        if name == "figure1":
            from s2mam.experiments.figure1 import draw_curves

            paths.append(draw_curves(protocol, output / "figure1.png"))
        _wrote(paths)


@experiments_app.command()
def convergence(
    output: _Output = Path("s2mam_experiments"), quick: _Quick = False, seed: _Seed = 0
) -> None:
    """Gradient mapping of the paper's algorithm against the number of iterations.

    \b
    Examples:
      s2mam experiments convergence --quick
    """
    with _plain_errors():
        from s2mam.experiments.theory.convergence import convergence as measure

        small = {"iterations": 100, "runs": 3, "n_rows": 30, "n_junk": 0} if quick else {}
        _show(measure(seed=seed, **small), output)


@experiments_app.command()
def generalization(
    output: _Output = Path("s2mam_experiments"),
    quick: _Quick = False,
    seed: _Seed = 0,
    n_jobs: _Jobs = 1,
) -> None:
    """Excess risk against the numbers of labelled and unlabelled rows.

    \b
    Examples:
      s2mam experiments generalization --quick
    """
    with _plain_errors():
        from s2mam.experiments.theory.generalization import generalization as measure

        small: dict[str, Any] = {}
        if quick:
            small = {"labeled": (25, 50), "unlabeled": (25, 50), "repeats": 1, "n_junk": 2}
        _show(measure(seed=seed, n_jobs=n_jobs, **small), output)


@experiments_app.command()
def complexity(
    output: _Output = Path("s2mam_experiments"), quick: _Quick = False, seed: _Seed = 0
) -> None:
    """Time and memory of a fit against rows, columns and selected columns.

    \b
    Examples:
      s2mam experiments complexity --quick
    """
    with _plain_errors():
        from s2mam.experiments.theory.complexity import complexity as measure

        small: dict[str, Any] = {}
        if quick:
            small = {"grids": {"n": (60, 120), "p": (8, 16)}, "repeats": 1}
        _show(measure(seed=seed, **small), output)


def _show(report: Any, output: Path) -> None:
    typer.echo(report.markdown())
    _wrote(report.save(output))


def _wrote(paths: list[Path]) -> None:
    typer.echo(f"Wrote {', '.join(str(path) for path in paths)}.")


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise InvalidInputError("--systems names no system; put commas between the names.")
    return names


@contextmanager
def _plain_errors() -> Iterator[None]:
    """One line for what went wrong, and exit status 1; one line for each warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", S2MAMWarning)
        warnings.showwarning = _show_warning  # catch_warnings puts the old one back
        try:
            yield
        except (S2MAMError, OSError) as error:
            typer.echo(f"s2mam: error: {' '.join(str(error).split())}", err=True)
            raise typer.Exit(1) from error


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    typer.echo(f"s2mam: warning: {message}", err=True)


app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
register(app)
