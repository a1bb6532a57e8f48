"""Many small penalised fits at once: ridge and logistic regression over a batch of masks."""

from __future__ import annotations

import numpy as np

from s2mam._typing import BoolArray, FloatArray

__all__ = ["constant_loss", "fit_batch", "masked_designs", "mean_losses"]

# A trace of a penalty on intercepts: without it rows of one class would drive them to infinity.
_INTERCEPT = 1e-6
_NEWTON_STEPS, _HALVINGS = 30, 12


def masked_designs(table: FloatArray, masks: BoolArray) -> FloatArray:
    """(K, l, r) designs that a ridge penalty treats like the table with some columns removed.

    With more columns than rows they are square roots of the Gram matrices, r = l, else the table
    with removed columns set to zero.

    Examples
    --------
    >>> import numpy as np
    >>> masked_designs(np.array([[1.0, 2.0]]), np.array([[True, False]]))
    array([[[1.]]])
    """
    if table.shape[1] <= table.shape[0]:
        return masks[:, None, :] * table
    grams = (masks[:, None, :] * table) @ table.T
    values, vectors = np.linalg.eigh(grams)
    designs: FloatArray = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    return designs


def fit_batch(
    designs: FloatArray, weights: FloatArray, targets: FloatArray, penalty: float, loss: str
) -> FloatArray:
    """Minimise ``sum_i w_i loss(t_i, z_i'a + b) + penalty ||a||^2`` for each of K problems.

    Parameters
    ----------
    designs : (K or 1, l, r) array
        Rows z_i.
    weights : (K or 1, l) array
        Row weights.
    targets : (l, c) array
        Numbers, or 0 and 1; one fit per column.
    penalty : float
        Positive.
    loss : {"squared", "logistic"}
        ``(t - f)^2``, or the negative log-likelihood.

    Returns
    -------
    (K, c, r + 1) array
        Coefficients a, the intercept b last.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[[0.0], [1.0], [2.0]]])
    >>> fit_batch(x, np.full((1, 3), 1 / 3), 1 + 2 * x[0], 1e-9, "squared").round(2)
    array([[[2., 1.]]])
    """
    ones = np.ones((*designs.shape[:2], 1))
    design = np.concatenate([designs, ones], axis=2)[:, None]
    ridge = np.full(design.shape[-1], 2.0 * penalty)
    ridge[-1] = 2.0 * _INTERCEPT * penalty if loss == "squared" else 2.0 * _INTERCEPT
    weighting = weights[:, None, :]
    count = max(designs.shape[0], weights.shape[0])
    coefs = np.zeros((count, targets.shape[1], design.shape[-1]))
    goal = targets.T[None]
    value = _objective(design, weighting, goal, ridge, coefs, loss)
    for _ in range(1 if loss == "squared" else _NEWTON_STEPS):
        gradient, step = _newton_step(design, weighting, goal, ridge, coefs, loss)
        if loss == "squared":
            return coefs - step
        if np.abs(gradient).max() < 1e-8:
            break
        coefs, value = _descend(design, weighting, goal, ridge, coefs, step, value, loss)
    return coefs


def mean_losses(
    designs: FloatArray, coefs: FloatArray, targets: FloatArray, loss: str
) -> FloatArray:
    """(K,) mean losses over rows, summed over the columns of the targets.

    Examples
    --------
    >>> import numpy as np
    >>> x, coefs = np.array([[[0.0], [1.0]]]), np.array([[[1.0, 0.0]]])
    >>> mean_losses(x, coefs, np.array([[0.0], [3.0]]), "squared")
    array([2.])
    """
    fitted = _fitted(designs[:, None], coefs[..., :-1]) + coefs[..., -1:]
    losses: FloatArray = _losses(targets.T[None], fitted, loss).mean(axis=2).sum(axis=1)
    return losses


def constant_loss(targets: FloatArray, loss: str) -> float:
    """Loss of the best constant, to measure others by; one where the constant fits perfectly.

    Examples
    --------
    >>> import numpy as np
    >>> round(constant_loss(np.array([[0.0], [2.0]]), "squared"), 6)
    1.0
    """
    nothing = np.zeros((1, targets.shape[0], 1))
    even = np.full((1, targets.shape[0]), 1.0 / targets.shape[0])
    coefs = fit_batch(nothing, even, targets, 1.0, loss)
    value = float(mean_losses(nothing, coefs, targets, loss)[0])
    return value if value > 1e-12 else 1.0


def _fitted(design: FloatArray, coefs: FloatArray) -> FloatArray:
    values: FloatArray = (design @ coefs[..., None])[..., 0]
    return values


def _losses(goal: FloatArray, fitted: FloatArray, loss: str) -> FloatArray:
    if loss == "squared":
        return (goal - fitted) ** 2
    losses: FloatArray = np.logaddexp(0.0, fitted) - goal * fitted
    return losses


def _objective(
    design: FloatArray,
    weights: FloatArray,
    goal: FloatArray,
    ridge: FloatArray,
    coefs: FloatArray,
    loss: str,
) -> FloatArray:
    data = (weights * _losses(goal, _fitted(design, coefs), loss)).sum(axis=-1)
    value: FloatArray = data + 0.5 * (ridge * coefs**2).sum(axis=-1)
    return value


def _newton_step(
    design: FloatArray,
    weights: FloatArray,
    goal: FloatArray,
    ridge: FloatArray,
    coefs: FloatArray,
    loss: str,
) -> tuple[FloatArray, FloatArray]:
    fitted = _fitted(design, coefs)
    if loss == "squared":
        slope, curvature = 2.0 * (fitted - goal), np.full_like(fitted, 2.0)
    else:
        chance = 0.5 * (1.0 + np.tanh(0.5 * fitted))
        slope, curvature = chance - goal, chance * (1.0 - chance)
    turned = np.swapaxes(design, -1, -2)
    gradient = _fitted(turned, weights * slope) + ridge * coefs
    hessian = (turned * (weights * curvature)[..., None, :]) @ design
    diagonal = np.arange(hessian.shape[-1])
    hessian[..., diagonal, diagonal] += ridge
    step = np.linalg.solve(hessian, gradient[..., None])[..., 0].astype(np.float64, copy=False)
    return gradient, step


def _descend(
    design: FloatArray,
    weights: FloatArray,
    goal: FloatArray,
    ridge: FloatArray,
    coefs: FloatArray,
    step: FloatArray,
    value: FloatArray,
    loss: str,
) -> tuple[FloatArray, FloatArray]:
    """Take each step, halved until its objective does not rise."""
    length: FloatArray = np.ones(value.shape)
    for _ in range(_HALVINGS):
        trial = coefs - length[..., None] * step
        reached = _objective(design, weights, goal, ridge, trial, loss)
        worse = reached > value + 1e-12
        if not worse.any():
            break
        length[worse] *= 0.5
    else:
        trial = np.where(worse[..., None], coefs, trial)
        reached[worse] = value[worse]
    return trial, reached
