"""The command line: ``s2mam demo``, ``s2mam fit`` and ``s2mam predict``."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from s2mam._version import __version__
from s2mam.exceptions import (
    InvalidInputError,
    MissingDependencyError,
    NoLabelsError,
    S2MAMError,
    S2MAMWarning,
)

__all__ = ["app", "main"]

# Whole numbers with at most this many different values are read as classes.
_MAX_CLASSES = 10

app = typer.Typer(
    name="s2mam",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line."""
    app()


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"s2mam {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Few labels, many unlabelled rows, many junk columns: find the columns that matter.

    \b
    Examples:
      s2mam demo
      s2mam fit table.csv --target y --output model.s2mam
      s2mam predict model.s2mam new.csv --output predictions.csv
    """


@app.command()
def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", dir_okay=False, help="The picture to write.")
    ] = Path("s2mam_demo.png"),
    seed: Annotated[
        int, typer.Option(min=0, max=2**31 - 1, help="Draws the junk, the split and the labels.")
    ] = 0,
    paper_iterations: Annotated[
        int, typer.Option(min=1, help="Iterations of the paper's algorithm.")
    ] = 300,
) -> None:
    """Compare methods on a real table and draw a picture.

    15 labelled wines among 118, 13 measurements and 20 columns of junk; takes well under a minute.

    \b
    Examples:
      s2mam demo
      s2mam demo --seed 3 --output wines.png
    """
    with _plain_errors():
        from s2mam._demo.contenders import compare
        from s2mam._demo.example import make_example
        from s2mam._demo.picture import draw
        from s2mam._demo.report import EXPLANATION, show_scores

        if not output.resolve().parent.is_dir():
            raise InvalidInputError(f"There is no folder {str(output.parent)!r} to write into.")
        example = make_example(seed)
        n_real, n_labeled = int(example.real.sum()), int(example.labeled.sum())
        typer.echo(
            f"{len(example.y)} wines of 3 cultivars, {n_labeled} of them labelled; {n_real} "
            f"measurements and {example.real.size - n_real} columns of junk."
        )
        scores = []
        for score in compare(example, seed=seed, paper_iterations=paper_iterations):
            scores.append(score)
            _progress(f"{score.name}: {score.seconds:.1f} s")
        _progress("")
        show_scores(scores)
        typer.echo(EXPLANATION.format(n_test=len(example.y_test)))
        best = scores[0].model
        shown = draw(best, example, output)
        chosen = [name for name, on in zip(example.names, best.support_, strict=True) if on]
        typer.echo(f"Columns that S2MAM chose: {', '.join(chosen)}.")
        typer.echo(f"Wrote {output}: the effects of {', '.join(shown)}.")


@app.command()
def fit(
    table: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="Table, .csv or .tsv.")
    ],
    target: Annotated[str, typer.Option("--target", "-t", help="Column to predict.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", dir_okay=False, help="Model file to write.")
    ] = Path("model.s2mam"),
    unlabeled: Annotated[
        str | None,
        typer.Option(help="What marks an unlabelled row in the target, beside an empty cell."),
    ] = None,
    task: Annotated[
        str, typer.Option(help="auto, classification or regression; auto looks at the target.")
    ] = "auto",
    select: Annotated[
        int | None, typer.Option(min=1, help="Number of columns to select; else the data decide.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed of all draws.")] = 0,
) -> None:
    """Fit a model to a table and save it.

    The target is empty where it is unknown. Columns of text are categories.

    \b
    Examples:
      s2mam fit wines.csv --target cultivar --output wines.s2mam
      s2mam fit houses.tsv --target price --task regression --unlabeled "?"
    """
    with _plain_errors():
        from s2mam.estimators import S2MAMClassifier, S2MAMRegressor

        frame = _read_csv(table, target, unlabeled)
        if target not in frame.columns:
            raise InvalidInputError(f"{table} has no column {target!r}; it has {_some(frame)}.")
        y, X = frame[target].convert_dtypes(), frame.drop(columns=[target])
        kind = _task(y, task, unlabeled)
        settings: dict[str, Any] = {
            "n_features_to_select": "auto" if select is None else select,
            "random_state": seed,
        }
        if kind == "classification":
            # A mark of the user's own frees -1 to be a class.
            marker = "auto" if unlabeled is None else np.nan
            model: Any = S2MAMClassifier(unlabeled=marker, **settings).fit(X, y)
            what = f"{model.classes_.size} classes, so classification"
        else:
            model = S2MAMRegressor(**settings).fit(X, y.astype("float64"))
            what = "numbers, so regression"
        model.save(output)
        typer.echo(f"{target}: {int(y.notna().sum())} of {len(y)} cells filled, {what}.")
        order = np.argsort(-model.mask_probabilities_, kind="stable")
        typer.echo("Columns that matter, with their probability:")
        for j in order[model.support_[order]]:
            typer.echo(f"  {model.mask_probabilities_[j]:.2f}  {X.columns[j]}")
        typer.echo(f"Wrote {output}.")


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Model file.")],
    table: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="Table, .csv or .tsv.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", dir_okay=False, help="Else to standard output."),
    ] = None,
) -> None:
    """Predict the rows of a table with a saved model.

    Other columns than those of the fit are ignored.

    \b
    Examples:
      s2mam predict wines.s2mam new.csv
      s2mam predict wines.s2mam new.csv --output predictions.csv
    """
    with _plain_errors():
        from s2mam.persistence import load

        estimator = load(model)
        frame = _read_csv(table)
        names = list(getattr(estimator, "feature_names_in_", frame.columns))
        absent = [name for name in names if name not in frame.columns]
        if absent:
            raise InvalidInputError(
                f"{table} lacks {len(absent)} columns of the model: {', '.join(absent[:10])}."
            )
        X = frame[names]
        predictions = frame[[]].assign(prediction=estimator.predict(X))
        if hasattr(estimator, "classes_"):
            for label, values in zip(estimator.classes_, estimator.predict_proba(X).T, strict=True):
                predictions[f"probability_{label}"] = values
        predictions.to_csv(sys.stdout if output is None else output, index=False)


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


def _progress(text: str) -> None:
    """One line that is written over, on a terminal only."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()


def _read_csv(path: Path, target: str | None = None, marker: str | None = None) -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingDependencyError(
            "Tables need pandas; install it with: pip install 's2mam[table]'."
        ) from error
    marks = None if target is None or marker is None else {target: [marker]}
    separator = "\t" if path.suffix.lower() in (".tsv", ".tab") else ","
    try:
        frame = pd.read_csv(path, sep=separator, na_values=marks)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"Cannot read {path} as a table: {error}") from error
    if frame.empty:
        raise InvalidInputError(f"{path} has no rows.")
    return frame


def _task(y: Any, task: str, marker: str | None) -> str:
    """The task asked for, or a guess from the labels."""
    if task in ("classification", "regression"):
        return task
    if task != "auto":
        raise InvalidInputError(
            f"--task {task} is unknown; use auto, classification or regression."
        )
    from pandas.api.types import is_float_dtype, is_integer_dtype

    known = y.dropna()
    if known.empty:
        raise NoLabelsError(f"No cell of {y.name!r} is filled; at least one label is needed.")
    if is_float_dtype(known):
        return "regression"
    if is_integer_dtype(known):
        classes = known.nunique() - int(marker is None and (known == -1).any())
        return "classification" if classes <= _MAX_CLASSES else "regression"
    return "classification"


def _some(frame: Any) -> str:
    names = [str(name) for name in frame.columns]
    return ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
