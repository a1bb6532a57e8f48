"""``s2mam fit``: a table goes in, a model file comes out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from s2mam.cli.columns import choose_columns, require_column
from s2mam.cli.console import Console, Debug, Jobs, Json, Quiet, session
from s2mam.cli.files import check_output
from s2mam.cli.leaks import warn_of_leaks
from s2mam.cli.names import shown
from s2mam.cli.progress import watch_fit
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
from s2mam.cli.report import require_report, write_report
from s2mam.cli.target import Target, Task, read_target
from s2mam.exceptions import InvalidInputError, S2MAMError

__all__ = ["fit"]

_Names = list[str] | None
# The columns named after a fit; all of them are in the JSON object and in `s2mam info`.
_MOST_SHOWN = 20
# Below this share of the effects, columns that are not selected are worth a word.
_MOST_OF_IT = 0.9
# Below this one, the selected columns are not what the model is about.
_NEXT_TO_NOTHING = 0.05
_EARLY = {"interrupted": "stopped with Ctrl-C", "time_limit": "its time was up"}


def fit(
    table: Table,
    target: Annotated[str, typer.Option("--target", "-t", help="Column to predict.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Model file to write.")] = Path(
        "model.s2mam"
    ),
    unlabeled: Annotated[
        str | None,
        typer.Option(help="What marks an unlabelled row in the target, beside an empty cell."),
    ] = None,
    task: Annotated[Task, typer.Option(help="auto looks at the target.")] = Task.auto,
    columns: Annotated[
        _Names, typer.Option(help="Columns to learn from: a,b or 'x*'; else all others.")
    ] = None,
    drop: Annotated[_Names, typer.Option(help="Columns to leave out: a,b or 'id*'.")] = None,
    categorical: Annotated[
        _Names, typer.Option(help="Columns of numbers that are categories; text always is.")
    ] = None,
    n_select: Annotated[
        int | None,
        typer.Option("--n-select", "--select", min=1, help="Columns to select; else data decide."),
    ] = None,
    paper: Annotated[
        bool, typer.Option("--paper", help="The paper's algorithm to the letter: slower, weaker.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed of all draws.")] = 0,
    n_jobs: Jobs = 1,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="File that keeps finished work, so that a killed fit goes on."),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(min=0.0, help="Seconds after which to end with what there is.")
    ] = None,
    keep_on_stop: Annotated[
        bool, typer.Option("--keep-on-stop", help="On Ctrl-C, save the model of what there is.")
    ] = False,
    report: Annotated[
        Path | None, typer.Option(help="Page to write about the model, .html.")
    ] = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Fit a model to a table and save it.

    The target is empty where it is unknown. Columns of text are categories.

    \b
    Examples:
      s2mam fit wines.csv --target cultivar --output wines.s2mam
      s2mam fit houses.tsv --target price --task regression --unlabeled "?"
      s2mam fit patients.xlsx -t outcome --drop 'id,name' --categorical ward --report page.html
      zcat big.csv.gz | s2mam fit - -t y --n-select 5 --json
    """
    with session(as_json=as_json, quiet=quiet, debug=debug) as console:
        check_output(output, table)
        if report is not None:
            check_output(report, table, output)
            require_report()
        options = TableOptions(encoding, delimiter, tuple(missing or ()), sheet)
        frame = read_table(table, console, options, target=target)
        require_column(frame, target, name_of(table))
        console.wait("Looking at the columns")  # and importing scikit-learn, which takes longer
        X, categories = choose_columns(
            frame, target, console, columns=columns, drop=drop, categorical=categorical
        )
        labels = read_target(frame[target], task, unlabeled, console)
        warn_of_leaks(X, labels, categories, console)
        settings: dict[str, Any] = {
            "n_features_to_select": "auto" if n_select is None else _at_most(n_select, X),
            "categorical": categories or "auto",
            "random_state": seed,
            "n_jobs": n_jobs,
            "checkpoint": checkpoint,
            "time_limit": time_limit,
            "on_interrupt": "keep" if keep_on_stop else "raise",
        }
        if unlabeled is not None:
            settings["unlabeled"] = np.nan  # a mark of the user's own frees -1 to be a class
        began = time.perf_counter()
        model = _learn(X, labels, settings, paper, console)
        seconds = time.perf_counter() - began
        model.save(output)
        if report is not None:
            write_report(model, X, labels.y, report, console, model_path=output, n_jobs=n_jobs)
        _tell(console, model, X, labels, target=target, output=output, report=report, took=seconds)


def _at_most(n_select: int, X: Any) -> int:
    if n_select > X.shape[1]:
        raise InvalidInputError(
            f"--n-select {n_select} is more than the {X.shape[1]} columns there are."
        )
    return n_select


def _learn(X: Any, labels: Target, settings: dict[str, Any], paper: bool, console: Console) -> Any:
    from s2mam.bilevel.paper import PAPER
    from s2mam.estimators import S2MAMClassifier, S2MAMRegressor

    console.go_on()
    kind = S2MAMClassifier if labels.classification else S2MAMRegressor
    total = PAPER["max_iter"] if paper else None
    with watch_fit("Fitting", total=total, shown=console.talks) as step:
        model = kind(**{**(PAPER if paper else {}), **settings}, callbacks=[step])
        model.fit(X, labels.y)
    model.callbacks = None
    if not np.all(np.isfinite(model.mask_probabilities_)):
        raise S2MAMError("The fit ended with numbers that are not finite; no model is written.")
    if model.stop_reason_ in _EARLY:
        console.warn(f"the fit ended early ({_EARLY[model.stop_reason_]}); the model is rougher.")
    return model


def _tell(
    console: Console,
    model: Any,
    X: Any,
    labels: Target,
    *,
    target: str,
    output: Path,
    report: Path | None,
    took: float,
) -> None:
    probabilities = model.mask_probabilities_
    order = np.argsort(-probabilities, kind="stable")
    chosen = [(str(X.columns[j]), float(probabilities[j])) for j in order if model.support_[j]]
    # Where no column is likely by itself, the model names those that count most in its average.
    likely = bool(chosen) and chosen[0][1] > 0.5
    share = _share_of_selected(model, X)
    heading = "Columns that matter" if likely else "No column is likely by itself; these count most"
    if likely and share < _NEXT_TO_NOTHING:
        heading = "Likely columns, though the model rests on others"
    lines = [f"{heading}, with their probability:"] if chosen else []
    lines += [f"  {probability:.2f}  {shown(name)}" for name, probability in chosen[:_MOST_SHOWN]]
    if len(chosen) > _MOST_SHOWN:
        lines.append(f"  and {len(chosen) - _MOST_SHOWN} more: s2mam info {output} --json")
    if not chosen:
        lines.append("No column stands out; the model may use many of them lightly.")
    elif share < _MOST_OF_IT:
        which = "It carries" if len(chosen) == 1 else "They carry"
        rest = "the rest comes lightly from columns that are less sure"
        carried = "less than 1 %" if share < 0.01 else f"{100 * share:.0f} %"
        lines.append(f"{which} {carried} of the effects; {rest}.")
    lines.append(f"Wrote {output}{'' if report is None else f' and {report}'}.")
    console.result(
        lines,
        command="fit",
        model=output,
        report=report,
        target=target,
        task="classification" if labels.classification else "regression",
        rows=len(X),
        labeled=labels.n_labeled,
        classes=labels.counts or None,
        columns=list(X.columns),
        selected=[{"name": name, "probability": value} for name, value in chosen],
        effect_share=share,
        stop_reason=model.stop_reason_,
        seconds=round(took, 3),
    )


def _share_of_selected(model: Any, X: Any) -> float:
    """Share of the sizes of all effects that is that of the selected columns."""
    from s2mam.inspection.components import effects

    sizes = effects(model.contributions(X))
    total = float(sizes.sum())
    return float(sizes[model.support_].sum()) / total if total > 0.0 else 0.0
