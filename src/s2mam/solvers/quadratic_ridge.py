"""Conjugate gradients on the dual residual of a ridge model with a quadratic loss."""

from __future__ import annotations

from s2mam._typing import FloatArray
from s2mam.solvers.quadratic_factor import QuadraticFactor
from s2mam.solvers.quadratic_point import QuadraticPoint

__all__ = ["RidgeModel"]


class RidgeModel:
    """Solves ``theta + B S B' theta = target`` from where a point is.

    The pulls ``B' theta`` are carried along, and with them the coefficients, scales times pulls.

    Parameters
    ----------
    point : QuadraticPoint
        Where to begin; it is not changed.
    rows : ndarray of shape (s, l)
        Columns of the groups held, as rows.
    scales : ndarray of shape (m,)
        Scales of these groups.
    pulls : ndarray of shape (m, width)
        Pulls of these groups at the point.

    Attributes
    ----------
    theta, pulls, moved : ndarray
        Dual residual, its pulls, and the weighed decision values of the coefficients.
    rest : ndarray of shape (l,)
        What is missing: the residual of the coefficients less ``theta``.
    square : float
        Sum of the squares of ``rest``.
    """

    def __init__(
        self, point: QuadraticPoint, rows: FloatArray, scales: FloatArray, pulls: FloatArray
    ) -> None:
        self._point, self._rows, self._column = point, rows, scales[:, None]
        self.theta, self.pulls = point.theta, pulls
        self.moved = point.moved_by(rows, self._column * pulls)
        self.rest: FloatArray = point.target - self.theta
        self.rest -= point.centre(self.moved)
        self.square = float(self.rest @ self.rest)
        self._direction = self.rest
        self._energy = 0.0

    @property
    def coef(self) -> FloatArray:
        """Coefficients, one row per group held."""
        return self._column * self.pulls

    def restart(self) -> None:
        """Forget former directions, for another factor."""
        self._energy = 0.0

    def advance(self, factor: QuadraticFactor) -> bool:
        """One step with ``factor`` as the preconditioner; False where rounding forbids it."""
        point, rows, rest = self._point, self._rows, self.rest
        # rounding must not give the intercept anything to do: it is no part of the pulls
        direction = point.centre(factor.solve(rest))
        before, energy = self._energy, float(rest @ direction)
        if energy <= 0.0:
            return False
        if before > 0.0:
            direction = direction + (energy / before) * self._direction
        change = point.pulls_of(rows, direction)
        along = point.moved_by(rows, self._column * change)
        bent = direction + point.centre(along)
        length = energy / float(direction @ bent)
        self.theta = self.theta + length * direction
        self.pulls = self.pulls + length * change
        self.moved += length * along
        rest -= length * bent
        self.square = float(rest @ rest)
        self._direction, self._energy = direction, energy
        return True
