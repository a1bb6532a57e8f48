"""The lower level: group-penalised problems, solved to a certified duality gap."""

from __future__ import annotations

from s2mam.solvers.admm import solve_admm
from s2mam.solvers.dispatch import METHODS, solve
from s2mam.solvers.gap import duality_gap
from s2mam.solvers.lambda_max import lambda_max
from s2mam.solvers.problem import GroupProblem
from s2mam.solvers.result import SolveResult
from s2mam.solvers.scale_newton import solve_scale_newton

__all__ = [
    "METHODS",
    "GroupProblem",
    "SolveResult",
    "duality_gap",
    "lambda_max",
    "solve",
    "solve_admm",
    "solve_scale_newton",
]
