"""LapSVM: support vector machine with a penalty on differences between neighbouring rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import linalg

from s2mam._typing import FloatArray, IntArray
from s2mam.baselines.base import BaselineClassifier
from s2mam.baselines.rows import BaselineRows, signs
from s2mam.baselines.shared.affinity import gaussian_kernel, graph_weights, laplacian, read_width
from s2mam.baselines.shared.box_qp import solve_box_qp
from s2mam.baselines.shared.parameters import nonnegative, positive

__all__ = ["LapSVMClassifier"]


def spread_matrix(
    kernel: FloatArray, graph: FloatArray, labeled: IntArray, *, ambient: float, intrinsic: float
) -> FloatArray:
    """(n, l) coefficients of all rows per unit of a labelled row's dual variable times its sign.

    Examples
    --------
    >>> import numpy as np
    >>> spread_matrix(np.eye(2), np.zeros((2, 2)), np.array([1]), ambient=0.25, intrinsic=1.0)
    array([[0.],
           [2.]])
    """
    n = kernel.shape[0]
    system = (2.0 * intrinsic / n**2) * (graph @ kernel)
    system[np.diag_indices(n)] += 2.0 * ambient
    spread: FloatArray = linalg.solve(system, np.eye(n)[:, labeled])
    return spread


class LapSVMClassifier(BaselineClassifier):
    """Laplacian support vector machine (Belkin, Niyogi and Sindhwani, 2006).

    Minimises ``mean_i max(0, 1 - y_i f(x_i)) + ambient ||f||_K^2 + intrinsic / n^2 f'Lf`` over
    functions of a Gaussian kernel plus an intercept, through the dual program of the labelled
    rows; more than two classes one against the rest. O(n^3).

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
    scale, categorical, unlabeled
        As in the estimators of this package.

    Attributes
    ----------
    coef_ : ndarray of shape (n_functions, n)
        Coefficients of the kernel expansion, one function for two classes.
    intercept_ : ndarray of shape (n_functions,)
        Intercepts.
    dual_coef_ : ndarray of shape (n_functions, n_labeled_)
        Dual variables, between 0 and 1 / n_labeled_.
    history_ : list of list of float
        Complementarity gap per step of each dual program.
    width_ : float
        Width in use.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.r_[np.linspace(0, 1, 10), np.linspace(3, 4, 10)][:, None]
    >>> y = np.r_[0, [-1] * 9, 1, [-1] * 9]
    >>> LapSVMClassifier(n_neighbors=3).fit(X, y).predict([[1.0], [3.5]])
    array([0, 1])
    """

    paper_name: ClassVar[str] = "LapSVM"
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
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

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
        self._table = rows.table
        kernel = gaussian_kernel(rows.table, rows.table, self.width_)
        # All classes share this; only the signs differ between their programs.
        spread = spread_matrix(
            kernel,
            laplacian(weights, normalized=self.normalized),
            rows.labeled,
            ambient=ambient,
            intrinsic=intrinsic,
        )
        products = kernel[rows.labeled] @ spread
        self._solve_programs(rows, spread, (products + products.T) / 2.0)

    def _solve_programs(self, rows: BaselineRows, spread: FloatArray, products: FloatArray) -> None:
        wanted = [1] if rows.n_classes == 2 else range(rows.n_classes)
        targets = np.array([signs(rows.target, code) for code in wanted])
        duals = [
            solve_box_qp(products * np.outer(one, one), one, bound=1.0 / one.size)
            for one in targets
        ]
        self.dual_coef_ = np.array([dual.point for dual in duals])
        self.coef_ = (self.dual_coef_ * targets) @ spread.T
        # The multiplier of the equation is the intercept: y_i (f_i + b) = 1 at free rows.
        self.intercept_ = np.array([dual.multiplier for dual in duals])
        self.history_ = [dual.gaps for dual in duals]

    def _scores(self, table: FloatArray) -> FloatArray:
        values = gaussian_kernel(table, self._table, self.width_) @ self.coef_.T + self.intercept_
        scores: FloatArray = values[:, 0] if values.shape[1] == 1 else values
        return scores
