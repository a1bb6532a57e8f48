"""l1-SVM: the linear support vector machine that selects columns, as a linear program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csc_array, dia_array, hstack

from s2mam._typing import FloatArray
from s2mam.baselines.base import ScalarClassifier
from s2mam.baselines.rows import BaselineRows
from s2mam.baselines.shared.parameters import positive
from s2mam.exceptions import S2MAMError

__all__ = ["L1SVMClassifier"]

# Moves of the margin that are rounding of a degenerate vertex, not a use of the column.
_NO_MARGIN = 1e-9


@dataclass(frozen=True)
class _Plane:
    coef: FloatArray
    intercept: float
    objective: float


class L1SVMClassifier(ScalarClassifier):
    """Linear support vector machine with the l1 norm as penalty.

    Minimises ``mean(max(0, 1 - y (b0 + x'b))) + lam * ||b||_1`` exactly, with `b0` free. The
    original form sums the losses: its penalty is ``l * lam`` for `l` labelled rows. At most `l`
    columns are used. More than two classes are learned one against the rest.

    Parameters
    ----------
    lam : float
        Penalty, above zero.
    scale, categorical, unlabeled
        As in all estimators of the package.

    Attributes
    ----------
    coef_ : ndarray of shape (1, q) or (n_classes, q)
        Coefficients of the encoded columns.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Constants.
    objective_ : ndarray of shape (1,) or (n_classes,)
        Optimal values.
    feature_weights_ : ndarray of shape (p,)
        Largest absolute coefficient of each column.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(80, 5))
    >>> model = L1SVMClassifier(lam=0.3).fit(X, X[:, 1] > 0)
    >>> model.get_support(indices=True)
    array([1])
    """

    paper_name: ClassVar[str] = "l1-SVM"
    selects_columns: ClassVar[bool] = True
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {"lam": (1e-4, 1e-3, 1e-2, 1e-1)}

    def __init__(
        self,
        *,
        lam: float = 0.1,
        scale: Any = "standard",
        categorical: Any = "auto",
        unlabeled: Any = "auto",
    ) -> None:
        self.lam = lam
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _learn(self, rows: BaselineRows) -> None:
        super()._learn(rows)
        self.coef_ = np.array([plane.coef for plane in self._functions])
        self.intercept_ = np.array([plane.intercept for plane in self._functions])
        self.objective_ = np.array([plane.objective for plane in self._functions])

    def _learn_function(self, rows: BaselineRows, targets: FloatArray) -> _Plane:
        return _solve_program(rows.table[rows.labeled], targets, positive("lam", self.lam))

    def _evaluate(self, function: _Plane, table: FloatArray) -> FloatArray:
        values: FloatArray = table @ function.coef + function.intercept
        return values

    def _weights_of(self, function: _Plane) -> FloatArray:
        return function.coef


def _solve_program(table: FloatArray, signs: FloatArray, lam: float) -> _Plane:
    """Minimise over positive parts, negative parts, constant and slacks."""
    rows, columns = table.shape
    signed = csc_array(signs[:, None] * table)
    constant = csc_array(signs[:, None])
    slacks = dia_array((np.ones((1, rows)), [0]), shape=(rows, rows))
    cost = np.concatenate([np.full(2 * columns, lam), [0.0], np.full(rows, 1.0 / rows)])
    below = np.zeros(cost.size)
    below[2 * columns] = -np.inf
    answer = linprog(
        cost,
        A_ub=-hstack([signed, -signed, constant, slacks], format="csc"),
        b_ub=np.full(rows, -1.0),
        bounds=np.column_stack([below, np.full(cost.size, np.inf)]),
        method="highs",
    )
    if answer.x is None or answer.status != 0:
        raise S2MAMError(
            f"the linear program of {rows} rows and {columns} columns was not solved "
            f"({answer.message}); check the table for values of extreme size."
        )
    coef = answer.x[:columns] - answer.x[columns : 2 * columns]
    coef[np.abs(coef) * np.abs(table).max(axis=0) <= _NO_MARGIN] = 0.0
    return _Plane(coef, float(answer.x[2 * columns]), float(answer.fun))
