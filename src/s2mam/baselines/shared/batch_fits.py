"""Many small penalised fits at once: ridge and logistic regression over a batch of masks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from s2mam._typing import BoolArray, FloatArray, IntArray

__all__ = ["constant_loss", "fit_batch", "masked_designs", "mean_losses"]

# A trace of a penalty on intercepts: without it rows of one class would drive them to infinity.
_INTERCEPT = 1e-6
_NEWTON_STEPS, _HALVINGS = 30, 12
# Largest entry of the gradient of a fit that is done.
_FLAT = 1e-8


def masked_designs(tables: FloatArray, masks: BoolArray) -> FloatArray:
    """(K, l, r) designs that a ridge penalty treats like the table with some columns removed.

    With more columns than rows they are square roots of the Gram matrices, r = l, else the table
    with removed columns set to zero.

    Parameters
    ----------
    tables : (l, q) or (K, l, q) array
        One table, or one for each mask.
    masks : (K, q) array of bool
        Columns that are left.

    Examples
    --------
    >>> import numpy as np
    >>> masked_designs(np.array([[1.0, 2.0]]), np.array([[True, False]]))
    array([[[1.]]])
    """
    masked = masks[:, None, :] * tables
    if tables.shape[-1] <= tables.shape[-2]:
        return masked
    values, vectors = np.linalg.eigh(masked @ np.swapaxes(tables, -1, -2))
    designs: FloatArray = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    return designs


def fit_batch(
    designs: FloatArray,
    weights: FloatArray,
    targets: FloatArray,
    penalty: float | FloatArray,
    loss: str,
) -> FloatArray:
    """Minimise ``sum_i w_i loss(t_i, z_i'a + b) + penalty ||a||^2`` for each of K problems.

    Parameters
    ----------
    designs : (K or 1, l, r) array
        Rows z_i.
    weights : (K or 1, l) array
        Row weights.
    targets : (l, c) or (K, l, c) array
        Numbers, or 0 and 1; one fit per column.
    penalty : float or (K,) array
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
    design = np.concatenate([designs, np.ones((*designs.shape[:2], 1))], axis=2)[:, None]
    goal = np.swapaxes(targets.reshape(-1, *targets.shape[-2:]), 1, 2)
    each = np.reshape(np.asarray(penalty, dtype=np.float64), (-1, 1, 1))
    ridge = np.repeat(2.0 * each, design.shape[-1], axis=2)
    ridge[..., -1:] = 2.0 * _INTERCEPT * each if loss == "squared" else 2.0 * _INTERCEPT
    count = max(designs.shape[0], weights.shape[0], goal.shape[0], ridge.shape[0])
    coefs = np.zeros((count, goal.shape[1], design.shape[-1]))
    batch = _Batch(design, weights[:, None, :], goal, ridge, loss)
    if loss == "squared":
        return coefs - batch.steps(*batch.slopes(coefs))
    return _minimise(batch, coefs)


def mean_losses(
    designs: FloatArray,
    coefs: FloatArray,
    targets: FloatArray,
    loss: str,
    weights: FloatArray | None = None,
) -> FloatArray:
    """(K,) mean losses over rows, summed over the columns of the targets.

    Parameters
    ----------
    designs, coefs, targets, loss
        As in :func:`fit_batch` and from it.
    weights : (K or 1, l) array, optional
        Rows' shares in the mean.

    Examples
    --------
    >>> import numpy as np
    >>> x, coefs = np.array([[[0.0], [1.0]]]), np.array([[[1.0, 0.0]]])
    >>> mean_losses(x, coefs, np.array([[0.0], [3.0]]), "squared")
    array([2.])
    """
    fitted = _fitted(designs[:, None], coefs[..., :-1]) + coefs[..., -1:]
    losses: FloatArray = _losses(np.swapaxes(targets, -1, -2), fitted, loss).sum(axis=1)
    if weights is None:
        return np.asarray(losses.mean(axis=1))
    return np.asarray((weights * losses).sum(axis=1))


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


@dataclass(frozen=True)
class _Batch:
    """K problems; a leading one stands for what all share."""

    design: FloatArray  # (K, 1, l, r + 1)
    weights: FloatArray  # (K, 1, l)
    goal: FloatArray  # (K, c, l)
    ridge: FloatArray  # (K, 1, r + 1)
    loss: str

    def part(self, chosen: IntArray) -> _Batch:
        own = {name: value for name, value in vars(self).items() if name != "loss"}
        return replace(
            self, **{name: v if v.shape[0] == 1 else v[chosen] for name, v in own.items()}
        )

    def objective(self, coefs: FloatArray) -> FloatArray:
        """(K, c) values."""
        data = self.weights * _losses(self.goal, _fitted(self.design, coefs), self.loss)
        value: FloatArray = data.sum(axis=-1) + 0.5 * (self.ridge * coefs**2).sum(axis=-1)
        return value

    def slopes(self, coefs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(K, c, r + 1) gradients and (K, c, l) curvatures of the losses."""
        fitted = _fitted(self.design, coefs)
        if self.loss == "squared":
            slope, curvature = 2.0 * (fitted - self.goal), np.full_like(fitted, 2.0)
        else:
            chance = 0.5 * (1.0 + np.tanh(0.5 * fitted))
            slope, curvature = chance - self.goal, chance * (1.0 - chance)
        gradient = _fitted(np.swapaxes(self.design, -1, -2), self.weights * slope)
        return gradient + self.ridge * coefs, curvature

    def steps(self, gradient: FloatArray, curvature: FloatArray) -> FloatArray:
        """(K, c, r + 1) Newton steps."""
        turned = np.swapaxes(self.design, -1, -2)
        hessian = (turned * (self.weights * curvature)[..., None, :]) @ self.design
        diagonal = np.arange(hessian.shape[-1])
        hessian[..., diagonal, diagonal] += self.ridge
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        return step.astype(np.float64, copy=False)


def _minimise(batch: _Batch, coefs: FloatArray) -> FloatArray:
    """Newton steps, for those problems only that are not done."""
    rest, value = np.arange(coefs.shape[0]), batch.objective(coefs)
    for _ in range(_NEWTON_STEPS):
        gradient, curvature = batch.slopes(coefs[rest])
        going = np.flatnonzero(np.abs(gradient).max(axis=(1, 2)) >= _FLAT)
        if going.size < rest.size:
            rest, value, batch = rest[going], value[going], batch.part(going)
            gradient, curvature = gradient[going], curvature[going]
        if going.size == 0:
            break
        step = batch.steps(gradient, curvature)
        coefs[rest], value = _descend(batch, coefs[rest], step, value)
    return coefs


def _descend(
    batch: _Batch, coefs: FloatArray, step: FloatArray, value: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Take each step, halved until its objective does not rise."""
    length: FloatArray = np.ones(value.shape)
    for _ in range(_HALVINGS):
        trial = coefs - length[..., None] * step
        reached = batch.objective(trial)
        worse = reached > value + 1e-12
        if not worse.any():
            break
        length[worse] *= 0.5
    else:
        trial = np.where(worse[..., None], coefs, trial)
        reached[worse] = value[worse]
    return trial, reached
