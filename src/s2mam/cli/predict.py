"""``s2mam predict``: predictions for the rows of a table."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Annotated, Any

import typer

from s2mam.cli.columns import model_columns, require_column, select
from s2mam.cli.console import Debug, Json, Quiet, session
from s2mam.cli.files import check_output, replacing
from s2mam.cli.models import ModelFile, load_model
from s2mam.cli.names import choose
from s2mam.cli.reading import (
    Delimiter,
    Encoding,
    Missing,
    Sheet,
    Table,
    TableOptions,
    name_of,
    read_table,
)
from s2mam.cli.scoring import tell_score
from s2mam.exceptions import InvalidInputError

__all__ = ["predict"]

_TEXT = {"": ",", ".csv": ",", ".txt": ",", ".tsv": "\t", ".tab": "\t"}


def predict(
    model: ModelFile,
    table: Table,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help=".csv or .tsv to write; else standard output."),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="Columns of the table to write beside the predictions: id,name."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", help="Column with the truth: say how good they are."),
    ] = None,
    unlabeled: Annotated[
        str | None, typer.Option(help="What marks a row whose truth is not known, beside empty.")
    ] = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Predict the rows of a table with a saved model.

    Rows stay in order. Other columns than those of the fit are ignored.

    \b
    Examples:
      s2mam predict wines.s2mam new.csv
      s2mam predict wines.s2mam new.csv --keep id --output predictions.csv
      s2mam predict wines.s2mam test.csv --target cultivar --output predictions.csv
      cat new.csv | s2mam predict wines.s2mam - | head
    """
    with session(as_json=as_json, quiet=quiet, debug=debug) as console:
        output = None if str(output) == "-" else output
        separator = "," if output is None else _separator(output)
        if output is not None:
            check_output(output, model, table, device=True)
        estimator = load_model(model, table)
        known = model_columns(estimator)
        frame = read_table(
            table,
            console,
            TableOptions(encoding, delimiter, tuple(missing or ()), sheet),
            target=target,
            text=known.text,
            numeric=known.numeric,
        )
        label = name_of(table)
        X = select(frame, estimator, label)
        predictions = _predict(estimator, X, frame[choose("--keep", keep, list(frame.columns))])
        score = None
        if target is not None:
            require_column(frame, target, label)
            score = tell_score(
                estimator, frame[target], predictions["prediction"], unlabeled, console
            )
        if output is not None:
            _write(predictions, output, separator)
            console.note(f"Wrote {len(predictions)} predictions to {output}.")
            console.result(
                [],
                command="predict",
                output=output,
                rows=len(predictions),
                score=score,
            )
        elif as_json:
            console.result([], command="predict", **_columns(predictions), score=score)
        else:
            text = io.StringIO()
            predictions.to_csv(text, index=False)
            typer.echo(text.getvalue(), nl=False)


def _separator(output: Path) -> str:
    suffix = output.suffix.lower()
    if suffix not in _TEXT:
        raise InvalidInputError(
            f"Predictions are written as text; give {output} the ending .csv or .tsv."
        )
    return _TEXT[suffix]


def _predict(estimator: Any, X: Any, kept: Any) -> Any:
    import pandas as pd

    made = {"prediction": estimator.predict(X)}
    if hasattr(estimator, "classes_"):
        for label, values in zip(estimator.classes_, estimator.predict_proba(X).T, strict=True):
            made[f"probability_{label}"] = values
    clash = [name for name in kept.columns if name in made]
    if clash:
        raise InvalidInputError(f"--keep {clash[0]}: the predictions have a column of this name.")
    return pd.concat([kept, pd.DataFrame(made, index=kept.index)], axis=1)


def _write(predictions: Any, output: Path, separator: str) -> None:
    with replacing(output) as temporary:
        predictions.to_csv(temporary, index=False, sep=separator)


def _columns(predictions: Any) -> dict[str, Any]:
    return {
        "rows": len(predictions),
        "columns": {name: predictions[name].tolist() for name in predictions.columns},
    }
