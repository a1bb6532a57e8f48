"""Scale of the decision values of a classifier, from predictions of rows it did not see."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from s2mam._typing import FloatArray, IntArray

__all__ = ["calibrate"]

# Prior of the slope: where labels are too few to tell, decisions of size one mean fair confidence.
_SLOPE, _SPREAD = {1: 2.5, 2: 5.0}, 0.7
# Prior spread of the shift: a few held-out labels say little about where the boundary lies.
_SHIFT = 0.5


def calibrate(
    held_out: FloatArray | None, codes: IntArray, weights: FloatArray
) -> tuple[float, float]:
    """Slope and shift that turn averaged scores into log-odds.

    Parameters
    ----------
    held_out : (l, k) array or None
        Scores of labelled rows by models that did not see them; None when there are none.
    codes : (l,) array of int
        Their classes.
    weights : (l,) array
        Their weights.

    Returns
    -------
    slope, shift : float
        The shift is zero for more than two classes.

    Examples
    --------
    >>> calibrate(None, np.array([0, 1]), np.ones(2))
    (2.5, 0.0)
    """
    binary = held_out is None or held_out.shape[1] == 1
    prior = np.log(_SLOPE[1 if binary else 2])
    if held_out is None:
        return float(np.exp(prior)) if codes.max(initial=0) < 2 else _SLOPE[2], 0.0
    index = np.arange(codes.size)

    def loss(parameters: FloatArray) -> float:
        slope, shift = np.exp(parameters[0]), parameters[1]
        if binary:
            logits = np.column_stack([np.zeros(codes.size), slope * held_out[:, 0] + shift])
        else:
            logits = slope * held_out
        likelihood = float(weights @ log_softmax(logits, axis=1)[index, codes])
        penalty = ((parameters[0] - prior) / _SPREAD) ** 2 + (shift / _SHIFT) ** 2
        return float(0.5 * penalty - likelihood)

    found = minimize(loss, np.array([prior, 0.0]), method="Nelder-Mead", tol=1e-6).x
    return float(np.exp(found[0])), float(found[1]) if binary else 0.0
