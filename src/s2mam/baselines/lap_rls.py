"""LapRLS: kernel least squares with a penalty on differences between neighbouring rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import linalg

from s2mam._typing import FloatArray, IntArray
from s2mam.baselines.base import Baseline, BaselineClassifier, BaselineRegressor
from s2mam.baselines.rows import BaselineRows, signs
from s2mam.baselines.shared.affinity import gaussian_kernel, graph_weights, laplacian, read_width
from s2mam.baselines.shared.parameters import nonnegative, positive

__all__ = ["LapRLSClassifier", "LapRLSRegressor"]


def laprls_coefficients(
    kernel: FloatArray,
    graph: FloatArray,
    labeled: IntArray,
    targets: FloatArray,
    *,
    ambient: float,
    intrinsic: float,
) -> FloatArray:
    """Coefficients of the kernel expansion over all rows.

    They minimise ``mean_i (y_i - f_i)^2 + ambient a'Ka + intrinsic / n^2 f'Lf`` with f = K a.

    Parameters
    ----------
    kernel, graph : (n, n) arrays
        Kernel matrix K and Laplacian L.
    labeled : (l,) array of int
        Positions of the labelled rows.
    targets : (l,) or (l, K) array
        Their values.
    ambient, intrinsic : float
        Penalties.

    Returns
    -------
    (n,) or (n, K) array

    Examples
    --------
    >>> import numpy as np
    >>> laprls_coefficients(np.eye(2), np.zeros((2, 2)), np.array([0]), np.array([3.0]),
    ...                     ambient=0.5, intrinsic=1.0)
    array([2., 0.])
    """
    n, n_labeled = kernel.shape[0], labeled.size
    system = (intrinsic * n_labeled / n**2) * (graph @ kernel)
    system[labeled] += kernel[labeled]
    system[np.diag_indices(n)] += ambient * n_labeled
    right = np.zeros((n, *targets.shape[1:]))
    right[labeled] = targets
    # The system is not symmetric, so that it takes an LU factorisation.
    coefficients: FloatArray = linalg.solve(system, right)
    return coefficients


class _LapRLS(Baseline):
    """What the regressor and the classifier share: the columns of targets are solved at once."""

    paper_name: ClassVar[str] = "LapRLS"
    square_tables: ClassVar[int] = 5
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {
        "ambient": (1e-4, 1e-3, 1e-2, 1e-1),
        "intrinsic": (1e-2, 1.0, 1e2, 1e4),
    }

    def __init__(
        self,
        *,
        ambient: float = 1e-3,
        intrinsic: float = 1e1,
        width: float | str = "median",
        graph: str = "knn",
        n_neighbors: int = 10,
        graph_width: float | str = "median",
        normalized: bool = False,
        center: bool = True,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.ambient = ambient
        self.intrinsic = intrinsic
        self.width = width
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.graph_width = graph_width
        self.normalized = normalized
        self.center = center
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _targets(self, rows: BaselineRows) -> FloatArray:
        """(l,) or (l, K) numbers to fit."""
        return np.asarray(rows.target, dtype=np.float64)

    def _learn(self, rows: BaselineRows) -> None:
        ambient = positive("ambient", self.ambient)
        intrinsic = nonnegative("intrinsic", self.intrinsic)
        self.width_ = read_width(self.width, rows.table)
        weights = graph_weights(
            rows.table,
            graph=self.graph,
            width=self.graph_width,
            n_neighbors=self.n_neighbors,
            name="graph_width",
        )
        targets = self._targets(rows)
        self.center_ = targets.mean(axis=0) if self.center else np.zeros(targets.shape[1:])
        self._table = rows.table
        self._kernel = gaussian_kernel(rows.table, rows.table, self.width_)
        self.coef_ = laprls_coefficients(
            self._kernel,
            laplacian(weights, normalized=self.normalized),
            rows.labeled,
            targets - self.center_,
            ambient=ambient,
            intrinsic=intrinsic,
        )

    def _training_scores(self, rows: BaselineRows) -> FloatArray:
        kernel = self._kernel
        del self._kernel  # n x n numbers that only this needs
        return np.asarray(self.center_ + kernel @ self.coef_)

    def _scores(self, table: FloatArray) -> FloatArray:
        return np.asarray(
            self.center_ + gaussian_kernel(table, self._table, self.width_) @ self.coef_
        )


class LapRLSRegressor(_LapRLS, BaselineRegressor):
    """Laplacian regularised least squares (Belkin, Niyogi and Sindhwani, 2006).

    Minimises ``mean_i (y_i - f(x_i))^2 + ambient ||f||_K^2 + intrinsic / n^2 f'Lf`` over functions
    of a Gaussian kernel; closed form, O(n^3).

    Parameters
    ----------
    ambient : float
        Penalty of the norm of the function; positive.
    intrinsic : float
        Penalty of differences over the graph. It is divided by n^2 as in the paper, so that
        values far above those of `ambient` are usual.
    width : float or "median"
        Width of the kernel exp(-distance^2 / width^2); "median" is the median distance.
    graph : {"knn", "rbf"}
        Nearest neighbours, or Gaussian weights between all rows.
    n_neighbors : int
        Neighbours of each row (graph="knn").
    graph_width : float or "median"
        Width of the weights (graph="rbf").
    normalized : bool
        Use the normalised Laplacian.
    center : bool
        Fit the targets minus their mean, and add it back.
    scale, categorical, unlabeled
        As in the estimators of this package.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        Coefficients of the kernel expansion.
    width_ : float
        Width in use.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0.0, 1.0, 21)[:, None]
    >>> y = np.where(np.arange(21) % 5 == 0, X[:, 0], np.nan)
    >>> model = LapRLSRegressor(ambient=1e-4, intrinsic=0.1).fit(X, y)
    >>> bool(abs(model.predict([[0.5]])[0] - 0.5) < 0.05)
    True
    """


class LapRLSClassifier(_LapRLS, BaselineClassifier):
    """Laplacian regularised least squares on targets +1 and -1, one against the rest.

    Parameters and attributes are those of :class:`LapRLSRegressor`; `coef_` has a column per
    class when there are more than two.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.r_[np.linspace(0, 1, 10), np.linspace(3, 4, 10)][:, None]
    >>> y = np.r_[0, [-1] * 9, 1, [-1] * 9]
    >>> LapRLSClassifier(n_neighbors=3).fit(X, y).predict([[1.0], [3.5]])
    array([0, 1])
    """

    def _targets(self, rows: BaselineRows) -> FloatArray:
        if rows.n_classes == 2:
            return signs(rows.target, 1)
        return np.column_stack([signs(rows.target, code) for code in range(rows.n_classes)])
