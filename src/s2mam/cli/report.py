"""``s2mam report``: a page about a model, to look at and to send on."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from s2mam.cli.columns import model_columns, require_column, select
from s2mam.cli.console import Console, Debug, Jobs, Json, Quiet, session
from s2mam.cli.files import check_output
from s2mam.cli.models import ModelFile, load_model
from s2mam.cli.progress import watch_steps
from s2mam.cli.reading import (
    Delimiter,
    Encoding,
    Missing,
    Sheet,
    Table,
    TableOptions,
    existing_file,
    name_of,
    read_table,
)
from s2mam.cli.target import Task, read_target
from s2mam.exceptions import InvalidInputError, MissingDependencyError

__all__ = ["report", "require_report", "write_report"]


def report(
    model: ModelFile,
    table: Table,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", help="Column that is predicted; else that of the fit."),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Page to write, .html.")] = Path(
        "report.html"
    ),
    unlabeled: Annotated[
        str | None,
        typer.Option(help="What marks an unlabelled row in the target, beside an empty cell."),
    ] = None,
    test: Annotated[
        Path | None,
        typer.Option(
            callback=existing_file, help="Another table with the target, to score the model on."
        ),
    ] = None,
    resamples: Annotated[
        int, typer.Option(min=0, help="Refits for bands; 0 leaves them out, 100 to publish.")
    ] = 10,
    folds: Annotated[
        int, typer.Option(min=0, help="Folds over the labels for the score; 0 for none.")
    ] = 5,
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    show_rows: Annotated[
        bool, typer.Option("--rows/--no-rows", help="Whether values of single rows are shown.")
    ] = True,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed of all draws.")] = 0,
    n_jobs: Jobs = 1,
    missing: Missing = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a page about a model: its columns, their effects, how good it is.

    The table is the one of the fit. The model is fitted again to parts of it, for the score and
    for bands around the effects: give --resamples 0 --folds 0 for a page at once.

    \b
    Examples:
      s2mam report wines.s2mam wines.csv --output wines.html
      s2mam report wines.s2mam wines.csv --target cultivar --test test.csv --resamples 0
    """
    with session(as_json=as_json, quiet=quiet, debug=debug) as console:
        check_output(output, model, table)
        require_report()
        estimator = load_model(model, table)
        options = TableOptions(encoding, delimiter, tuple(missing or ()), sheet)
        target = _target(estimator, target)
        X, y = _rows(estimator, table, target, unlabeled, options, console)
        held_out = None
        if test is not None:
            held_out = _rows(estimator, test, target, unlabeled, options, console)
        write_report(
            estimator,
            X,
            y,
            output,
            console,
            test=held_out,
            n_resamples=resamples,
            folds=folds,
            title=title,
            model_path=model,
            show_rows=show_rows,
            random_state=seed,
            n_jobs=n_jobs,
        )
        console.result(
            [f"Wrote {output}."], command="report", output=output, labeled=int(y.notna().sum())
        )


def _target(estimator: Any, given: str | None) -> str:
    known = getattr(estimator, "target_name_", None) if given is None else given
    if known is None:
        raise InvalidInputError("The model does not know its target's name; give it with --target.")
    return str(known).strip()


def _rows(
    estimator: Any,
    table: Path,
    target: str,
    unlabeled: str | None,
    options: TableOptions,
    console: Console,
) -> tuple[Any, Any]:
    known = model_columns(estimator)
    frame = read_table(
        table, console, options, target=target, text=known.text, numeric=known.numeric
    )
    require_column(frame, target, name_of(table))
    X = select(frame, estimator, name_of(table))
    task = Task.classification if hasattr(estimator, "classes_") else Task.regression
    return X, read_target(frame[target], task, unlabeled, console).y


def require_report() -> None:
    """Fail before the work when the page could not be written."""
    _function()


def write_report(
    estimator: Any, X: Any, y: Any, path: Path, console: Console, **settings: Any
) -> None:
    """Write the page, all or nothing.

    Parameters
    ----------
    estimator : fitted estimator of this package
    X : pandas.DataFrame
    y : pandas.Series
        Missing where unlabelled.
    path : Path
    console : Console
        Hears of the steps.
    **settings
        Of `s2mam.inspection.report`.
    """
    with watch_steps(shown=console.talks) as say:
        _function()(estimator, X, y, path, progress=say, **settings)


def _function() -> Any:
    if find_spec("plotly") is None:
        raise MissingDependencyError("Reports need plotly; install it with: pip install plotly.")
    return import_module("s2mam.inspection.report").report
