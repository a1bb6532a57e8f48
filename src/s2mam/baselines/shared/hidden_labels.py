"""Weighted ridge regression whose unknown labels are smooth on a graph."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, qr

from s2mam._typing import FloatArray, IntArray

__all__ = ["regress_hidden_labels"]


def regress_hidden_labels(
    table: FloatArray,
    labeled: IntArray,
    targets: FloatArray,
    laplacian: FloatArray,
    row_weights: FloatArray,
    penalties: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Minimise ``sum_i s_i ||x_i W + b - f_i||^2 + tr(F' L F) + sum_j d_j ||w_j||^2``.

    Over W, b and the rows of F that are not labelled, all at once: the unknown rows of F are
    eliminated, which leaves a ridge regression with a full weight matrix. It is solved by the
    smaller of the two orders, rows or columns.

    Parameters
    ----------
    table : (n, q) array
        Rows x_i.
    labeled : (l,) array of int
        Rows with a target.
    targets : (l, c) array
        Rows of F that are known.
    laplacian : (n, n) array
        L.
    row_weights : (n,) array
        Positive s_i.
    penalties : (q,) array
        Positive d_j.

    Returns
    -------
    coef : (q, c) array
    intercept : (c,) array
    values : (n, c) array
        F.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[0.0], [1.0], [2.0]])
    >>> known, none = np.array([0, 2]), np.zeros((3, 3))
    >>> coef, intercept, values = regress_hidden_labels(
    ...     x, known, np.array([[1.0], [5.0]]), none, np.ones(3), np.array([1e-9])
    ... )
    >>> values[:, 0].round(3)
    array([1., 3., 5.])
    """
    n, q = table.shape
    hidden = np.setdiff1d(np.arange(n), labeled)
    # A change of scale makes all penalties one; then only directions of the rows matter.
    scales = 1.0 / np.sqrt(penalties)
    design, basis = table * scales, None
    if q > n:
        basis, triangle = qr(design.T, mode="economic", check_finite=False)
        design = triangle.T
    extended = np.column_stack([design, np.ones(n)])
    system = np.eye(extended.shape[1])
    system[-1, -1] = 0.0
    known = extended[labeled].T * row_weights[labeled]
    system += known @ extended[labeled]
    right = known @ targets
    if hidden.size:
        inner = np.array(laplacian[np.ix_(hidden, hidden)])
        pull = laplacian[np.ix_(hidden, labeled)] @ targets
        weights = row_weights[hidden]
        factor = _factor(inner, weights)
        # S - S (S + L)^-1 S = S (S + L)^-1 L, without the cancellation.
        weighted = weights[:, None] * cho_solve(factor, inner @ extended[hidden])
        product = extended[hidden].T @ weighted
        system += (product + product.T) / 2.0
        right -= extended[hidden].T @ (weights[:, None] * cho_solve(factor, pull))
    solution = cho_solve(cho_factor(system, check_finite=False), right, check_finite=False)
    coef = scales[:, None] * (solution[:-1] if basis is None else basis @ solution[:-1])
    values = np.empty((n, targets.shape[1]))
    values[labeled] = targets
    if hidden.size:
        fitted = extended[hidden] @ solution
        values[hidden] = cho_solve(factor, weights[:, None] * fitted - pull)
    return coef, solution[-1], values


def _factor(inner: FloatArray, weights: FloatArray) -> tuple[FloatArray, bool]:
    system = inner.copy()
    system[np.diag_indices_from(system)] += weights
    factor: tuple[FloatArray, bool] = cho_factor(system, overwrite_a=True, check_finite=False)
    return factor
