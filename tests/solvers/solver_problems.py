"""Small random problems and the exact oracle."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from s2mam.losses import LogisticLoss, Loss, MultinomialLoss, SquaredLoss
from s2mam.solvers import GroupProblem, lambda_max

LOSSES: dict[str, Loss] = {
    "squared": SquaredLoss(),
    "logistic": LogisticLoss(),
    "multinomial": MultinomialLoss(3),
}


def make_problem(
    name: str = "squared",
    *,
    rows: int = 40,
    sizes: tuple[int, ...] = (3, 1, 0, 4, 2, 3),
    fraction: float = 0.2,
    quadratic: bool = False,
    unpenalised: tuple[int, ...] = (),
    intercept: bool = True,
    seed: int = 0,
) -> GroupProblem:
    """Correlated columns, uneven weights and penalties, an empty group."""
    rng = np.random.default_rng(seed)
    loss = LOSSES[name]
    columns = sum(sizes)
    features = rng.normal(size=(rows, columns)) + 0.5 * rng.normal(size=(rows, 1)) + 0.3
    features *= 0.5 ** rng.uniform(0, 4, columns)
    signal = features @ rng.normal(size=(columns, max(loss.n_outputs, 1)))
    signal = 2.0 * signal / signal.std() + rng.normal(size=signal.shape) + 0.4
    target = {
        "squared": lambda: signal[:, 0],
        "logistic": lambda: (signal[:, 0] > 0.4).astype(float),
        "multinomial": lambda: signal.argmax(axis=1),
    }[name]()
    root = rng.normal(size=(columns // 2 + 1, columns))
    weights = rng.uniform(0.5, 1.5, rows)
    penalties = rng.uniform(0.7, 1.3, len(sizes))
    penalties[list(unpenalised)] = 0.0
    problem = GroupProblem(
        loss=loss,
        features=features,
        target=target,
        weights=weights / weights.sum(),
        offsets=np.concatenate([[0], np.cumsum(sizes)]),
        penalties=penalties,
        quadratic=0.02 * root.T @ root if quadratic else None,
        fit_intercept=intercept,
    )
    return problem.with_penalties(fraction * (lambda_max(problem) or 1.0) * penalties)


def oracle(problem: GroupProblem) -> float:
    """Minimum by an interior-point method for cones."""
    outputs = problem.loss.n_outputs
    coef = cp.Variable((problem.features.shape[1], outputs))
    intercept = cp.Variable((1, outputs)) if problem.fit_intercept else np.zeros((1, outputs))
    rows = len(problem.weights)
    decision = problem.features @ coef + np.ones((rows, 1)) @ intercept
    if problem.loss.name == "squared":
        loss = cp.sum(cp.multiply(problem.weights, cp.square(problem.target - decision[:, 0])))
    elif problem.loss.name == "logistic":
        margin = cp.multiply(2.0 * problem.target - 1.0, decision[:, 0])
        loss = cp.sum(cp.multiply(problem.weights, cp.logistic(-margin)))
    else:
        own = cp.sum(cp.multiply(np.eye(outputs)[problem.target], decision), axis=1)
        loss = cp.sum(cp.multiply(problem.weights, cp.log_sum_exp(decision, axis=1) - own))
    total = loss
    if problem.quadratic is not None:
        values, vectors = np.linalg.eigh(problem.quadratic)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
        total = total + cp.sum_squares(root @ coef)
    for penalty, start, stop in zip(
        problem.penalties, problem.offsets[:-1], problem.offsets[1:], strict=True
    ):
        if stop > start:
            total = total + penalty * cp.norm(coef[start:stop], "fro")
    model = cp.Problem(cp.Minimize(total))
    model.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    return float(model.value)
