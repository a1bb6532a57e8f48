"""Independent Bernoulli masks: draws, log-probability and its score."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from s2mam._typing import BoolArray, FloatArray
from s2mam.exceptions import InvalidInputError

__all__ = ["clip_probabilities", "draw_masks", "log_probability", "score"]


def clip_probabilities(s: ArrayLike, eps: float = 0.0) -> FloatArray:
    """Return ``clip(s, eps, 1 - eps)``.

    With ``eps = 0`` a probability of zero or one is absorbing: its column is never drawn (or
    always), and its score is zero. A positive ``eps`` keeps every column in play.

    Examples
    --------
    >>> clip_probabilities([0.0, 0.4, 1.0], 0.02)
    array([0.02, 0.4 , 0.98])
    """
    if not 0.0 <= eps < 0.5:
        raise InvalidInputError(f"eps={eps} must lie in [0, 0.5).")
    return np.clip(np.asarray(s, dtype=np.float64), eps, 1.0 - eps)


def draw_masks(
    s: ArrayLike, n_draws: int, rng: np.random.Generator, *, eps: float = 0.0
) -> BoolArray:
    """Draw ``n_draws`` masks with independent entries m_j ~ Bernoulli(clip(s_j)).

    Examples
    --------
    >>> import numpy as np
    >>> draw_masks([0.0, 1.0], 2, np.random.default_rng(0))
    array([[False,  True],
           [False,  True]])
    """
    probabilities = clip_probabilities(s, eps)
    # random() < 1 always, so that probability one draws one and probability zero never does.
    result: BoolArray = rng.random((n_draws, probabilities.size)) < probabilities
    return result


def log_probability(masks: ArrayLike, s: ArrayLike, *, eps: float = 0.0) -> FloatArray:
    """Return ln p(m | s) of each row of ``masks``; minus infinity for impossible masks.

    Examples
    --------
    >>> import numpy as np
    >>> float(np.exp(log_probability([[True, False]], [0.5, 0.2])).round(3)[0])
    0.4
    """
    drawn = np.atleast_2d(np.asarray(masks, dtype=bool))
    probabilities = clip_probabilities(s, eps)
    with np.errstate(divide="ignore"):
        terms = np.where(drawn, np.log(probabilities), np.log1p(-probabilities))
    result: FloatArray = terms.sum(axis=1)
    return result


def score(masks: ArrayLike, s: ArrayLike, *, eps: float = 0.0) -> FloatArray:
    """Return the gradient of ln p(m | s) with respect to s, one row per mask.

    It is ``(m - s) / (s (1 - s))`` at the clipped probabilities. At exactly zero or one (only
    possible with ``eps = 0``) the entry is zero: such a column does not move any more.

    Examples
    --------
    >>> score([[True, False, False]], [0.5, 0.2, 0.0])
    array([[ 2.  , -1.25,  0.  ]])
    """
    drawn = np.atleast_2d(np.asarray(masks, dtype=bool))
    probabilities = clip_probabilities(s, eps)
    spread = probabilities * (1.0 - probabilities)
    interior = spread > 0.0
    safe = np.where(interior, spread, 1.0)
    result: FloatArray = np.where(interior, (drawn - probabilities) / safe, 0.0)
    return result
