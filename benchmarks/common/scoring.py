"""One method on one few-label problem."""

from __future__ import annotations

from benchmarks.common.methods import Method, Task, common_scores
from benchmarks.common.scores import accuracy, r_squared
from benchmarks.common.splits import Problem
from benchmarks.common.store import Row


def score_problem(problem: Problem, method: Method, seed: int) -> Row:
    """Fit on what may be seen and score on the test rows and on the rows without a label."""
    task = Task(problem.X, problem.shown, problem.X_test, problem.task, seed)
    score = accuracy if task.is_classification else r_squared
    return common_scores(method(task), problem.y_test, problem.y[~problem.labeled], score)
