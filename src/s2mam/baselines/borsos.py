"""Borsos: the greedy bilevel coreset method with columns in the place of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from s2mam._typing import FloatArray, IntArray
from s2mam.baselines.base import Baseline, BaselineClassifier, BaselineRegressor
from s2mam.baselines.rows import BaselineRows
from s2mam.baselines.shared.coding import code_targets
from s2mam.baselines.shared.column_budget import read_budget
from s2mam.baselines.shared.parameters import choice, nonnegative, positive, whole

__all__ = ["BorsosClassifier", "BorsosRegressor"]

_MOMENTUM, _SQUARES = 0.9, 0.999


def column_kernels(left: FloatArray, right: FloatArray, kernel: str, width: float) -> FloatArray:
    """(q, m, l) kernel matrices of the single columns of two tables.

    Examples
    --------
    >>> import numpy as np
    >>> column_kernels(np.array([[2.0]]), np.array([[3.0], [2.0]]), "linear", 1.0)
    array([[[6., 4.]]])
    """
    if kernel == "linear":
        return left.T[:, :, None] * right.T[:, None, :]
    kernels: FloatArray = np.exp(-(((left.T[:, :, None] - right.T[:, None, :]) / width) ** 2))
    return kernels


@dataclass(frozen=True)
class KernelSelection:
    """Bilevel problem: weights of kernels, judged by the kernel ridge regression they give.

    Attributes
    ----------
    kernels : (q, l, l) array
        One kernel per column.
    targets : (l, c) array
        Centred targets.
    penalty : float
        Ridge lambda of the inner regression, not divided by the rows.
    """

    kernels: FloatArray
    targets: FloatArray
    penalty: float

    def outer_loss(self, weights: FloatArray) -> float:
        """Mean squared error of the regression with kernel sum_j w_j K_j."""
        dual, _ = self._dual(weights)
        # y - K a = lambda a
        return float(self.penalty**2 * (dual**2).sum() / self.targets.shape[0])

    def hypergradient(self, weights: FloatArray) -> FloatArray:
        """(q,) derivatives of `outer_loss`, those of unused kernels included.

        By implicit differentiation, with A = K + lambda I and a = A^-1 y they are
        -(2 lambda^2 / l) a' A^-1 K_j a.
        """
        dual, factor = self._dual(weights)
        turned = cho_solve(factor, dual, check_finite=False)
        slopes: FloatArray = ((self.kernels @ dual) * turned).sum(axis=(1, 2))
        slopes *= -2.0 * self.penalty**2 / self.targets.shape[0]
        return slopes

    def tune(self, weights: FloatArray, steps: int, step: float) -> FloatArray:
        """Projected Adam steps on the weights of all kernels."""
        current = weights
        mean, squares = np.zeros_like(weights), np.zeros_like(weights)
        for t in range(1, steps + 1):
            gradient = np.clip(self.hypergradient(current), -1.0, 1.0)
            mean = _MOMENTUM * mean + (1.0 - _MOMENTUM) * gradient
            squares = _SQUARES * squares + (1.0 - _SQUARES) * gradient**2
            scale = np.sqrt(squares / (1.0 - _SQUARES**t)) + 1e-8
            current = np.maximum(current - step * mean / (1.0 - _MOMENTUM**t) / scale, 0.0)
        return current

    def greedy(
        self, size: int, steps: int, step: float
    ) -> tuple[FloatArray, IntArray, list[float]]:
        """Add the kernel with the steepest fall and tune all weights, until `size` are chosen.

        Returns the weights, the kernels in the order chosen and the outer loss after each one.
        """
        weights, order = np.zeros(self.kernels.shape[0]), list[int]()
        losses: list[float] = []
        for _ in range(size):
            slopes = self.hypergradient(weights)
            slopes[order] = np.inf
            order.append(int(np.argmin(slopes)))
            weights[order[-1]] = 1.0
            chosen = KernelSelection(self.kernels[order], self.targets, self.penalty)
            weights[order] = chosen.tune(weights[order], steps, step)
            losses.append(self.outer_loss(weights))
        return weights, np.array(order, dtype=np.intp), losses

    def dual_coefficients(self, weights: FloatArray) -> FloatArray:
        """(l, c) solution a of the inner regression."""
        return self._dual(weights)[0]

    def _dual(self, weights: FloatArray) -> tuple[FloatArray, tuple[FloatArray, bool]]:
        system = np.tensordot(weights, self.kernels, axes=1)
        system[np.diag_indices_from(system)] += self.penalty
        factor: tuple[FloatArray, bool] = cho_factor(system, check_finite=False)
        return cho_solve(factor, self.targets, check_finite=False), factor


class _Borsos(Baseline):
    """What the classifier and the regressor share."""

    paper_name: ClassVar[str] = "Borsos"
    selects_columns: ClassVar[bool] = True
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {
        "penalty": (1e-4, 1e-3, 1e-2, 1e-1),
        "n_features_to_select": (2, "auto", 8),
    }

    def __init__(
        self,
        *,
        penalty: float = 1e-2,
        n_features_to_select: Any = "auto",
        kernel: str = "gaussian",
        width: float = 1.0,
        outer_steps: int = 40,
        step: float = 0.01,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.penalty = penalty
        self.n_features_to_select = n_features_to_select
        self.kernel = kernel
        self.width = width
        self.outer_steps = outer_steps
        self.step = step
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _learn(self, rows: BaselineRows) -> None:
        self._shown = rows.table[rows.labeled]
        self._coding = code_targets(rows)
        self._center = self._coding.matrix.mean(axis=0)
        problem = KernelSelection(
            kernels=self._kernels(self._shown, slice(None)),
            targets=self._coding.matrix - self._center,
            penalty=positive("penalty", self.penalty) * rows.labeled.size,
        )
        size = read_budget(self.n_features_to_select, *self._shown.shape)
        weights, self._columns, self.objective_ = problem.greedy(
            size, whole("outer_steps", self.outer_steps, least=0), nonnegative("step", self.step)
        )
        self._weights = weights[self._columns]
        self._dual = problem.dual_coefficients(weights)
        self._encoded_weights = np.zeros_like(weights)
        # A weight tuned down to zero was still chosen.
        kept = np.maximum(self._weights, np.finfo(np.float64).tiny)
        self._encoded_weights[self._columns] = kept

    def _kernels(self, table: FloatArray, columns: Any) -> FloatArray:
        """Kernels with the labelled rows, centred over those: the intercept is apart."""
        kernel = choice("kernel", self.kernel, ("gaussian", "linear"))
        width = positive("width", self.width)
        shown = self._shown[:, columns]
        own = column_kernels(shown, shown, kernel, width)
        cross = column_kernels(table[:, columns], shown, kernel, width)
        means = own.mean(axis=1, keepdims=True)
        cross -= cross.mean(axis=2, keepdims=True) + means - means.mean(axis=2, keepdims=True)
        return cross

    def _scores(self, table: FloatArray) -> FloatArray:
        kernels = self._kernels(table, self._columns)
        values = np.tensordot(self._weights, kernels, axes=1) @ self._dual
        return self._coding.scores(self._center + values)


class BorsosRegressor(_Borsos, BaselineRegressor):
    """Greedy bilevel selection with implicit gradients, of columns.

    The method chooses rows: the one whose weight, raised from zero, lowers the loss over all rows
    the most joins the set, then all weights are tuned by the implicit gradient. Here the same is
    done with one kernel per column in the place of rows, an analogue of ours: the inner problem is
    kernel ridge regression with the weighted sum of kernels on the labelled rows, whose implicit
    gradient is known in closed form. Unlabelled rows are not used but for scaling.

    Parameters
    ----------
    penalty : float
        Ridge of the inner regression, next to the mean loss.
    n_features_to_select : int or "auto"
        Columns to choose; "auto" is l / log(l) for l labelled rows.
    kernel : {"gaussian", "linear"}
        Kernel of a column: exp(-(difference / width)^2), or the product.
    width : float
        Width of the Gaussian kernel.
    outer_steps : int
        Steps on the weights after each choice; with 0 they stay one.
    step : float
        Size of these steps.
    scale, categorical, unlabeled
        As in :class:`s2mam.S2MAMRegressor`.

    Attributes
    ----------
    feature_weights_ : (p,) array
        Weights of the kernels.
    objective_ : list of float
        Loss over the labelled rows after each choice.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(40, 6))
    >>> y = np.sin(2 * X[:, 1]) - X[:, 4] ** 2
    >>> BorsosRegressor(n_features_to_select=2).fit(X, y).get_support(indices=True)
    array([1, 4])
    """


class BorsosClassifier(_Borsos, BaselineClassifier):
    """Greedy bilevel selection of columns for classes, by regression on one indicator per class.

    Parameters as in :class:`BorsosRegressor`; the squared loss keeps the gradient in closed form.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(40, 6))
    >>> y = (X[:, 1] > 0).astype(int)
    >>> BorsosClassifier(n_features_to_select=1).fit(X, y).get_support(indices=True)
    array([1])
    """
