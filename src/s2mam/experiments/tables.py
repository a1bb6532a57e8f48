"""Tables as text: Markdown for people, CSV for programs, both replaced in one step."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from s2mam.exceptions import InvalidInputError
from s2mam.experiments.claims import Claim
from s2mam.experiments.protocol import Protocol
from s2mam.experiments.summary import Line, Moments
from s2mam.persistence.atomic import atomic_writer

__all__ = ["check_folder", "csv_text", "line_rows", "markdown_table", "study_text", "write_text"]

_UNITS = {
    "accuracy": "accuracy, %",
    "mse": "mean squared error",
    "rmse": "root mean squared error",
    "relative_mse": "mean squared error / variance of the target",
}
_SCALES = {"default": "", None: "; columns as they are"}
_LEGEND = (
    "Mean ± standard deviation over the repeats; errors have their median beside, as one repeat "
    "can make up most of a mean. 'paper' is what the paper claims. 'null' is the best constant for "
    "the whole training target, a reference that sees hidden labels. The oracle mask is our "
    "default fitted to the informative columns alone (where they are not known: the real ones): a "
    "reference and no upper bound, as another model of these columns may be better. "
    "S2MAM (PAPER) is Algorithm 1 with fixed penalties and our solver for the same lower level. "
    "Recall and precision are those of the selected columns. Seconds are CPU seconds of a cell, "
    "tuning included. Parameters are tuned on labelled rows alone: leave-one-out up to 20 labels, "
    "5 folds above, ties to the stronger penalty."
)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows with columns of equal width.

    Examples
    --------
    >>> print(markdown_table(["a", "b"], [["1", "long"]]))
    | a | b    |
    |---|------|
    | 1 | long |
    """
    columns = list(zip(header, *rows, strict=True))
    widths = [max(len(text) for text in column) for column in columns]

    def line(cells: Sequence[str]) -> str:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
        return "| " + " | ".join(padded) + " |"

    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([line(header), rule, *(line(row) for row in rows)])


def study_text(protocol: Protocol, lines: Sequence[Line], origins: Sequence[str]) -> str:
    """All tables of a study, with what a reader has to know.

    Parameters
    ----------
    protocol : Protocol
    lines : sequence of Line
    origins : sequence of str
        States of the package that computed the cells; more than one is pointed out.
    """
    parts = [f"# {protocol.title}", _LEGEND, *protocol.notes]
    for setting in protocol.settings:
        own = [line for line in lines if line.setting == setting.name]
        if own:
            scale = _SCALES.get(setting.scale, f"; columns scaled: {setting.scale}")
            parts.append(f"## {setting.name} ({_UNITS[setting.metric]}{scale})")
            parts.append(_setting_table(own))
    errors = [
        f"- {line.system} failed in {line.failed} cells of {line.setting}: {line.error}"
        for line in lines
        if line.failed
    ]
    if errors:
        parts.append("\n".join(["Failures:", "", *errors]))
    if len(origins) > 1:
        parts.append(
            "These cells were computed by different states of the code and may not agree with "
            "each other; for one state, name the systems in --rerun."
        )
    if origins:
        parts.append(f"Computed by s2mam {'; '.join(origins)}.")
    return "\n\n".join(parts) + "\n"


def line_rows(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """The lines as flat rows for CSV."""
    rows = []
    for line in lines:
        row: dict[str, Any] = {
            "setting": line.setting,
            "system": line.system,
            "metric": line.metric,
        }
        for part in ("test", "unlabeled"):
            ours, claim = line.scores.get(part), line.claims.get(part)
            row[f"{part}_mean"] = None if ours is None else ours.mean
            row[f"{part}_sd"] = None if ours is None else ours.sd
            row[f"{part}_median"] = None if ours is None else ours.median
            row[f"{part}_paper_mean"] = None if claim is None else claim.mean
            row[f"{part}_paper_sd"] = None if claim is None else claim.sd
        for name in ("recall", "precision", "selected"):
            row[name] = line.scores[name].mean if name in line.scores else None
        tests = line.scores.get("test")
        row |= {
            "seconds": line.seconds,
            "cells": 0 if tests is None else tests.count,
            "failed": line.failed,
        }
        rows.append(row)
    return rows


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as CSV, numbers to six digits, nothing for None and NaN.

    Examples
    --------
    >>> csv_text([{"a": 1.23456789, "b": None}])
    'a,b\\n1.23457,\\n'
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(rows[0] if rows else [])
    for row in rows:
        writer.writerow([_number(value) for value in row.values()])
    return out.getvalue()


def check_folder(folder: str | os.PathLike[str]) -> None:
    """Make a folder that can be written, or say that it cannot, before hours go into its content.

    Parameters
    ----------
    folder : path

    Examples
    --------
    >>> check_folder("/dev/null/results")
    Traceback (most recent call last):
    ...
    s2mam.exceptions.InvalidInputError: The output folder /dev/null/results cannot be written ...
    """
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise InvalidInputError(
            f"The output folder {place} cannot be written ({error.strerror}); give another one."
        ) from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file so that it is either the old or the new one.

    Parameters
    ----------
    path : path
    text : str
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with atomic_writer(path) as stream:
        stream.write(text.encode())


def _setting_table(lines: Sequence[Line]) -> str:
    has = {part: any(part in line.claims for line in lines) for part in ("test", "unlabeled")}
    # A share of right answers is bounded, so that no repeat can make up its mean.
    is_error = lines[0].metric != "accuracy"
    header = ["system", "test"] + ["median"] * is_error
    header += (
        ["paper: test"] * has["test"] + ["unlabelled"] + ["paper: unlabelled"] * has["unlabeled"]
    )
    header += ["recall", "precision", "columns", "seconds", "cells"]
    rows = []
    for line in lines:
        scores = line.scores
        row = [line.system, _pair(scores.get("test"))]
        row += [_median(scores.get("test"))] * is_error
        row += [_pair(line.claims.get("test"))] * has["test"]
        row += [_pair(scores.get("unlabeled"))]
        row += [_pair(line.claims.get("unlabeled"))] * has["unlabeled"]
        row += [_mean(scores.get(name), 2) for name in ("recall", "precision")]
        row += [_mean(scores.get("selected"), 1)]
        row += ["-" if line.seconds != line.seconds else f"{line.seconds:.2f}"]
        rows.append([*row, _count(line)])
    return markdown_table(header, rows)


def _pair(value: Moments | Claim | None) -> str:
    if value is None:
        return "-"
    digits = 1 if abs(value.mean) >= 10 else 3
    return f"{value.mean:.{digits}f} ± {value.sd:.{digits}f}".replace(" ± nan", "")


def _median(value: Moments | None) -> str:
    if value is None or value.median != value.median:
        return "-"
    return f"{value.median:.{1 if abs(value.median) >= 10 else 3}f}"


def _mean(value: Moments | None, digits: int) -> str:
    return "-" if value is None else f"{value.mean:.{digits}f}"


def _count(line: Line) -> str:
    tests = line.scores.get("test")
    done = 0 if tests is None else tests.count
    if not done and not line.failed:
        return "not run"
    return f"{done}" + (f" ({line.failed} failed)" if line.failed else "")


def _number(value: Any) -> Any:
    if value is None or value != value:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else value
