"""Estimators of the gradient of E[loss(m)] with respect to the mask probabilities.

All of them are functions of (losses, draws, s): K losses, the K masks that gave them, and the
probabilities the masks were drawn from.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from s2mam._typing import FloatArray
from s2mam.exceptions import InvalidInputError
from s2mam.masks.draws import score

__all__ = ["reinforce", "rloo"]


def reinforce(losses: ArrayLike, masks: ArrayLike, s: ArrayLike, *, eps: float = 0.0) -> FloatArray:
    """Return mean_k losses_k * score(m_k): the paper's policy gradient, without a baseline.

    Unbiased when the masks were drawn from ``clip(s, eps, 1 - eps)``, for the gradient at that
    clipped point. Its variance grows with E[loss^2].

    Examples
    --------
    >>> reinforce([2.0], [[True, False]], [0.5, 0.5])
    array([ 4., -4.])
    """
    values, scores = _read(losses, masks, s, eps)
    estimate: FloatArray = values @ scores / values.size
    return estimate


def rloo(losses: ArrayLike, masks: ArrayLike, s: ArrayLike, *, eps: float = 0.0) -> FloatArray:
    """Return the policy gradient with the mean of the other draws' losses as baseline.

    The baseline of a draw does not depend on that draw, so the estimate stays unbiased, while
    its variance grows with Var(loss) only. Equal to sum_k (losses_k - mean) score(m_k) / (K - 1).

    Examples
    --------
    >>> rloo([2.0, 1.0], [[True, False], [True, True]], [0.5, 0.5])
    array([ 0., -2.])
    """
    values, scores = _read(losses, masks, s, eps)
    if values.size < 2:
        raise InvalidInputError(
            "The leave-one-out baseline needs at least two masks; set n_masks >= 2 or use "
            'mask_learner="reinforce".'
        )
    estimate: FloatArray = (values - values.mean()) @ scores / (values.size - 1)
    return estimate


def _read(
    losses: ArrayLike, masks: ArrayLike, s: ArrayLike, eps: float
) -> tuple[FloatArray, FloatArray]:
    values = np.atleast_1d(np.asarray(losses, dtype=np.float64))
    scores = score(masks, s, eps=eps)
    if values.shape != (scores.shape[0],):
        raise InvalidInputError(
            f"losses has shape {values.shape} for {scores.shape[0]} masks; pass one loss per mask."
        )
    return values, scores
