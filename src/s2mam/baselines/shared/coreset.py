"""PBCS along the other axis: probabilistic bilevel selection of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.baselines.shared.batch_fits import constant_loss, fit_batch, mean_losses
from s2mam.baselines.shared.column_budget import top_columns
from s2mam.baselines.shared.mask_policy import PolicySearch, generator_of, learn_probabilities
from s2mam.baselines.shared.parameters import choice, positive, whole

__all__ = ["RowSelection", "select_rows"]


@dataclass(frozen=True)
class RowSelection:
    """Rows that :func:`select_rows` found.

    Attributes
    ----------
    probabilities : (l,) array
        Chance of each row.
    rows : (budget,) array of int
        The rows with the largest chances, rising.
    history : list of float
        Mean loss of the draws of each step, relative to a constant.
    """

    probabilities: FloatArray
    rows: IntArray
    history: list[float]


def select_rows(
    table: FloatArray,
    target: FloatArray,
    budget: int,
    *,
    loss: str = "logistic",
    penalty: float = 1e-2,
    outer: tuple[FloatArray, FloatArray] | None = None,
    search: PolicySearch | None = None,
    random_state: Any = None,
) -> RowSelection:
    """Choose the rows to train on so that the trained model fits all rows: a coreset.

    Parameters
    ----------
    table : (l, q) array
        Candidates.
    target : (l,) array
        Numbers, or 0 and 1 for the logistic loss.
    budget : int
        Rows to choose.
    loss : {"logistic", "squared"}
        Loss of the model and of the choice.
    penalty : float
        Weight of the squared norm of the model's coefficients.
    outer : (table, target), optional
        Rows the trained model is judged on; by default all candidates.
    search : PolicySearch, optional
        Settings of the search.
    random_state : int, RandomState instance or None
        Draws the masks.

    Returns
    -------
    RowSelection

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 12)[:, None]
    >>> select_rows(x, (x[:, 0] > 0) * 1.0, 3, random_state=0).rows.size
    3
    """
    choice("loss", loss, ("logistic", "squared"))
    penalty = positive("penalty", penalty)
    budget = min(whole("budget", budget), table.shape[0])
    targets = np.asarray(target, dtype=np.float64)[:, None]
    judged, truth = (table, targets) if outer is None else (outer[0], outer[1][:, None])

    def evaluate(masks: BoolArray) -> FloatArray:
        weights = masks / np.maximum(masks.sum(axis=1, keepdims=True), 1)
        coefs = fit_batch(table[None], weights, targets, penalty, loss)
        return mean_losses(judged[None], coefs, truth, loss)

    null = constant_loss(truth, loss)
    s, history = learn_probabilities(
        lambda masks: evaluate(masks) / null,
        targets.size,
        budget,
        generator_of(random_state),
        search,
    )
    return RowSelection(s, top_columns(s, budget), history)
