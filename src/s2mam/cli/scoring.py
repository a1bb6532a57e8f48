"""How good predictions are where the truth is known, beside the best constant."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2mam.cli.console import Console
from s2mam.cli.target import Task, read_target

__all__ = ["tell_score"]


def tell_score(
    estimator: Any, truth: Any, predictions: Any, marker: str | None, console: Console
) -> dict[str, Any]:
    """Score predictions and say so on the console.

    Parameters
    ----------
    estimator : fitted estimator of this package
    truth, predictions : pandas.Series
        The truth is missing where it is not known.
    marker : str or None
        What marks such rows beside an empty cell.
    console : Console

    Returns
    -------
    dict
        Name and value of the score, that of the best constant, and the number of rows.
    """
    classes = getattr(estimator, "classes_", None)
    task = Task.regression if classes is None else Task.classification
    labels = read_target(truth, task, marker, console)
    known = labels.y.notna().to_numpy()
    y, made = labels.y[known], predictions[known]
    if classes is None:
        numbers = y.to_numpy(dtype=np.float64)
        spread = float(np.sum((numbers - numbers.mean()) ** 2))
        error = float(np.sum((numbers - made.to_numpy()) ** 2))
        name, value, constant = "R2", 1.0 - error / spread if spread else float("nan"), 0.0
    else:
        name, value = "accuracy", float(np.mean(_same(y, made)))
        constant = max(labels.counts.values()) / labels.n_labeled
    console.note(
        f"{name} {value:.3f} on {labels.n_labeled} rows; the best constant has {constant:.3f}. "
        "Rows of the fit flatter the model."
    )
    return {"name": name, "value": value, "constant": constant, "rows": labels.n_labeled}


def _same(truth: Any, made: Any) -> Any:
    """Compare classes: 1 is 1.0, and the text of a number is the number."""
    from pandas.api.types import is_numeric_dtype

    if is_numeric_dtype(truth) and is_numeric_dtype(made):
        return truth.to_numpy(dtype=np.float64) == made.to_numpy(dtype=np.float64)
    return truth.astype(str).to_numpy() == made.astype(str).to_numpy()
