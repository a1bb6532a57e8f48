"""What is minimised: a loss, a quadratic term and a norm per group. Nothing of how."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from s2mam._typing import AnyArray, FloatArray, IntArray
from s2mam.exceptions import InvalidInputError
from s2mam.losses.base import Loss
from s2mam.solvers.layout import GroupLayout

__all__ = ["GroupProblem"]


@dataclass(frozen=True)
class GroupProblem:
    """``min_{b,c} loss(y, features @ b + c) + b'Qb + sum_g penalties[g] ||b_g||``.

    With a loss of ``K`` outputs ``b`` has shape ``(P, K)``, ``b'Qb`` means ``trace(b'Qb)`` and
    the norm of a group is the Frobenius norm of its ``(r_g, K)`` block, so a group enters or
    leaves for all classes at once.

    Parameters
    ----------
    loss : Loss
        One of :mod:`s2mam.losses`.
    features : ndarray of shape (l, P)
        Rows that carry a label.
    target : ndarray of shape (l,)
        Targets in the coding of the loss.
    weights : ndarray of shape (l,)
        Non-negative, sum one.
    offsets : ndarray of shape (G + 1,)
        Group ``g`` is ``features[:, offsets[g]:offsets[g + 1]]``; groups may be empty.
    penalties : ndarray of shape (G,)
        Non-negative; zero leaves the group to the quadratic term alone.
    quadratic : ndarray of shape (P, P) or None
        Symmetric positive semidefinite ``Q``.
    fit_intercept : bool
        Add an unpenalised constant (one per output).

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.losses import SquaredLoss
    >>> from s2mam.solvers import GroupProblem
    >>> problem = GroupProblem(
    ...     loss=SquaredLoss(), features=np.eye(4), target=np.arange(4.0),
    ...     weights=np.full(4, 0.25), offsets=np.array([0, 2, 4]), penalties=np.ones(2),
    ... )
    >>> float(problem.objective(np.zeros(4), 1.5))
    1.25
    """

    loss: Loss
    features: FloatArray
    target: AnyArray
    weights: FloatArray
    offsets: IntArray
    penalties: FloatArray
    quadratic: FloatArray | None = None
    fit_intercept: bool = True

    def __post_init__(self) -> None:
        rows, columns = self.features.shape
        for name, found, expected in (
            ("target", np.shape(self.target), (rows,)),
            ("weights", np.shape(self.weights), (rows,)),
            ("penalties", np.shape(self.penalties), (len(self.offsets) - 1,)),
        ):
            if found != expected:
                raise InvalidInputError(f"{name} has shape {found}; expected {expected}.")
        if rows == 0:
            raise InvalidInputError("features has no rows; at least one labelled row is needed.")
        if self.offsets[0] != 0 or self.offsets[-1] != columns or np.any(np.diff(self.offsets) < 0):
            raise InvalidInputError(
                f"offsets must rise from 0 to the number of feature columns ({columns})."
            )
        if not np.isfinite(self.penalties).all() or self.penalties.min(initial=0.0) < 0:
            raise InvalidInputError("penalties must be finite and non-negative.")
        if self.weights.min() < 0 or abs(self.weights.sum() - 1.0) > 1e-6:
            raise InvalidInputError("weights must be non-negative and sum to one.")
        if self.quadratic is not None and self.quadratic.shape != (columns, columns):
            raise InvalidInputError(
                f"quadratic has shape {self.quadratic.shape}; expected {(columns, columns)}."
            )

    @cached_property
    def layout(self) -> GroupLayout:
        """Index arithmetic of the groups."""
        return GroupLayout(np.asarray(self.offsets, dtype=np.intp))

    @property
    def coef_shape(self) -> tuple[int, ...]:
        """``(P,)`` for scalar losses, ``(P, K)`` otherwise."""
        columns = self.features.shape[1]
        return (columns,) if self.loss.n_outputs == 1 else (columns, self.loss.n_outputs)

    def decision(self, coef: FloatArray, intercept: float | FloatArray) -> FloatArray:
        """Decision values of the labelled rows."""
        values: FloatArray = self.features @ coef + intercept
        return values

    def objective(self, coef: FloatArray, intercept: float | FloatArray) -> float:
        """Value of what is minimised."""
        value = self.loss.value(self.target, self.decision(coef, intercept), self.weights)
        if self.quadratic is not None:
            value += float(np.vdot(coef, self.quadratic @ coef))
        return value + float(self.penalties @ self.layout.norms(coef))

    def with_penalties(self, penalties: FloatArray) -> GroupProblem:
        """Return the same problem with other penalties."""
        return replace(self, penalties=penalties)
