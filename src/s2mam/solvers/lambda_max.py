"""The penalty at which the model is empty."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from s2mam._typing import FloatArray
from s2mam.solvers.prepared import PreparedProblem
from s2mam.solvers.problem import GroupProblem
from s2mam.solvers.scale_newton import solve_scale_newton

__all__ = ["lambda_max"]


def lambda_max(problem: GroupProblem) -> float:
    """Smallest factor on ``penalties`` at which every penalised group is zero.

    With all penalties one this is the usual ``lambda_max``. Intercept and unpenalised groups are
    fitted first. Zero when no group is penalised.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.losses import SquaredLoss
    >>> from s2mam.solvers import GroupProblem, lambda_max
    >>> problem = GroupProblem(
    ...     SquaredLoss(), np.eye(2), np.array([1.0, -1.0]), np.full(2, 0.5),
    ...     np.array([0, 1, 2]), np.ones(2),
    ... )
    >>> lambda_max(problem)
    1.0
    """
    prepared = PreparedProblem(problem)
    used = prepared.penalised
    coef, intercept = _null_model(problem, prepared)
    decision = prepared.features @ coef + intercept
    slope = prepared.features.T @ prepared.loss.gradient(
        prepared.target, decision, prepared.weights
    )
    quadratic_coef = prepared.quadratic_times(coef)
    if quadratic_coef is not None:
        slope += 2.0 * quadratic_coef
    norms = prepared.layout.norms(slope)
    return float(np.max(norms[used] / prepared.penalties[used], initial=0.0))


def _null_model(
    problem: GroupProblem, prepared: PreparedProblem
) -> tuple[FloatArray, float | FloatArray]:
    coef = np.zeros(prepared.coef_shape)
    columns = prepared.free_columns
    if not columns.size:
        return coef, prepared.null_intercept()
    quadratic = problem.quadratic
    free = replace(
        problem,
        features=problem.features[:, columns],
        offsets=np.array([0, columns.size]),
        penalties=np.zeros(1),
        quadratic=None if quadratic is None else quadratic[np.ix_(columns, columns)],
    )
    result = solve_scale_newton(free, tol=1e-12)
    coef[columns] = result.coef
    return coef, result.intercept
