"""A quadratic loss as half a sum of squares, and a point of it: pulls, residuals, certificate.

With the rows weighed by the root of the curvature and the constant projected out, a quadratic loss
is ``least + ||target - B b||^2 / 2``. The point is kept by its *dual* residual ``theta``: groups of
scale ``s_g`` have the pulls ``p = B' theta`` and the coefficients ``b_g = s_g p_g``, so that the
ridge model at these scales is solved as soon as ``theta`` is the residual of those coefficients.
Half the square of what is missing is the duality gap of the ridge model.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from s2mam._typing import AnyArray, FloatArray
from s2mam.solvers.moving_point import MovingPoint
from s2mam.solvers.problem import GroupProblem

__all__ = ["QuadraticPoint"]


class QuadraticPoint(MovingPoint):
    """Point of a plain problem with a quadratic loss; moves replace its arrays.

    Parameters
    ----------
    problem : GroupProblem
        A quadratic scalar loss, groups of one width, no quadratic term, no weight zero.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.losses import SquaredLoss
    >>> from s2mam.solvers import GroupProblem
    >>> from s2mam.solvers.quadratic_point import QuadraticPoint
    >>> point = QuadraticPoint(GroupProblem(
    ...     SquaredLoss(), np.eye(2), np.array([1.0, -1.0]), np.full(2, 0.5),
    ...     np.array([0, 2]), np.array([5.0]),
    ... ))
    >>> point.objective, point.lower_bound()  # the penalty is so large that zero is optimal
    (1.0, 1.0)
    """

    def __init__(self, problem: GroupProblem) -> None:
        loss, labels = problem.loss, np.asarray(problem.target)
        weights = np.asarray(problem.weights, dtype=np.float64)
        self.rows: FloatArray = np.asarray(problem.features, dtype=np.float64).T
        self.penalties: FloatArray = np.asarray(problem.penalties, dtype=np.float64)
        self.shape = (len(self.penalties), problem.layout.width)
        nothing = np.zeros(len(weights))
        bend = loss.curvature(labels, nothing, weights)
        lowest = loss.gradient(labels, nothing, weights) / -bend
        self._least = loss.value(labels, lowest, weights)
        self.total = float(bend.sum())
        self.root: FloatArray = np.sqrt(bend)
        # what the intercept can do, as a unit vector over the weighed rows
        self.constant: FloatArray | None = None
        if problem.fit_intercept:
            self.constant = self.root / self.total**0.5
        self._lowest: FloatArray = self.root * lowest
        self.target: FloatArray = self.centre(self._lowest)
        self.theta: FloatArray = self.target
        self.place(np.zeros(self.shape[0]), np.zeros(self.shape), nothing, self.target)
        self.settle(self.pulls_of(self.rows, self.theta))

    def centre(self, values: FloatArray) -> FloatArray:
        """``values`` over the weighed rows without what the intercept can do."""
        if self.constant is None:
            return values
        return values - float(values @ self.constant) * self.constant

    def weigh(self, columns: AnyArray) -> None:
        """Turn columns (as rows, C-ordered) into those of ``B``, in place, in their precision."""
        columns *= self.root.astype(columns.dtype, copy=False)
        if self.constant is not None and len(columns):
            constant = self.constant.astype(columns.dtype, copy=False)
            # a rank-one update without a temporary of the size of the columns
            update = blas.sger if columns.dtype == np.float32 else blas.dger
            update(-1.0, constant, columns @ constant, a=columns.T, overwrite_a=1)

    def moved_by(self, rows: FloatArray, coef: FloatArray) -> FloatArray:
        """Weighed decision values, not centred, of coefficients of the columns ``rows``."""
        moved: FloatArray = coef.reshape(-1) @ rows
        moved *= self.root
        return moved

    def pulls_of(self, rows: FloatArray, theta: FloatArray) -> FloatArray:
        """``B' theta`` for the groups whose columns are ``rows``; ``theta`` is centred."""
        pulls: FloatArray = rows @ (self.root * theta)
        return pulls.reshape(-1, self.shape[1])

    def place(
        self, norms: FloatArray, coef: FloatArray, moved: FloatArray, residual: FloatArray
    ) -> None:
        """Take coefficients (by group), their norms, their weighed decision values and residual."""
        self.coef, self.intercept = coef, 0.0
        if self.constant is not None:
            self.intercept = float((self._lowest - moved) @ self.constant) / self.total**0.5
        self.smooth = self._least + 0.5 * float(residual @ residual)
        self.penalty = float(self.penalties @ norms)

    def settle(self, pulls: FloatArray) -> None:
        """Take the pulls of all groups at ``theta``."""
        self.pulls = pulls
        self.norms: FloatArray = np.sqrt(np.einsum("gd,gd->g", pulls, pulls))
        self.excess: FloatArray = self.norms / self.penalties
        self.worst = float(self.excess.max())

    def lower_bound(self) -> float:
        """Lower bound of the minimum that ``theta`` proves.

        The certificate of :mod:`s2mam.solvers.gap`: ``theta`` at the length that is best among
        those at which it respects every penalty.
        """
        linear, square = float(self.theta @ self.target), float(self.theta @ self.theta)
        if square == 0.0:
            return self._least
        length = min(1.0 / self.worst if self.worst else np.inf, linear / square)
        return self._least + length * (linear - 0.5 * length * square)
