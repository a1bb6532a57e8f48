"""The arithmetic of a solve alone: its main BLAS and LAPACK calls, recorded and repeated bare.

What remains of a solve after these is bookkeeping: copies, losses, checks, the interpreter. The
same operands are used every time, so the calls find them in the cache, and a few small products are
not recorded: the time says about what the same iterations cost on numpy without anything else.
Recorded is the iteration for plain problems, which all problems of the benchmark are.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.linalg import blas, lapack

Call = Callable[[], Any]


class Recorder:
    """Collects calls while a solve runs."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        # operands of a size are shared, as a solve uses the same columns again and again
        self._ones: dict[Any, np.ndarray] = {}

    def ones(self, *shape: int, kind: Any = np.float64) -> np.ndarray:
        return self._ones.setdefault((shape, kind), np.ones(shape, dtype=kind))

    def around(self, function: Callable[..., Any], note: Callable[..., None]) -> Callable[..., Any]:
        """``function``, noting what it has computed."""

        def wrapped(*arguments: Any, **options: Any) -> Any:
            result = function(*arguments, **options)
            note(result, *arguments)
            return result

        return wrapped

    def add(self, call: Call) -> None:
        self.calls.append(call)

    def factor(self, factor: Any, *_: Any) -> None:
        """Products of the columns or of the rows, and their Cholesky factor."""
        kept = factor._kept
        if not len(kept):
            return
        matrix = kept.T @ kept if factor.by_rows else kept @ kept.T
        matrix[np.diag_indices(len(matrix))] *= 1.01
        potrf = lapack.spotrf if factor.single else lapack.dpotrf
        if factor.by_rows:
            self.add(lambda: kept.T @ kept)
        else:
            self.add(lambda: kept @ kept.T)
        self.add(lambda: potrf(matrix.T, lower=1, clean=0))

    def correction(self, lifted: np.ndarray, factor: Any, _: Any) -> None:
        """Solve with the factor, and the decision values of the step."""
        kept, triangle = factor._kept, factor._factor
        if factor.by_rows:
            step, values = kept[:, 0].copy(), kept[0].copy()
            self.add(lambda: step @ kept)
            self.add(lambda: factor._solve(triangle, values, lower=1))
            self.add(lambda: kept @ values)
        else:
            right = np.ones(len(triangle))
            self.add(lambda: factor._solve(triangle, right, lower=1))
        rows, coef = self.ones(lifted.size, kept.shape[1]), self.ones(lifted.size)
        self.add(lambda: coef @ rows)

    def solution(self, _: Any, factor: Any, values: np.ndarray) -> None:
        """Solve with the factor of a quadratic loss."""
        values = values.copy()
        self.add(lambda: factor.solve(values))

    def moved(self, _: Any, __: Any, rows: np.ndarray, coef: np.ndarray) -> None:
        weights = np.ones(coef.size)
        self.add(lambda: weights @ rows)

    def pulls(self, _: Any, __: Any, rows: np.ndarray, *___: Any) -> None:
        values = np.ones(rows.shape[1])
        self.add(lambda: rows @ values)

    def moves(self, _: Any, __: Any, block: Any, ___: Any) -> None:
        count, width = len(block.groups), block.width
        parts = self.ones(count, width, block.rows.shape[1], kind=np.float32)
        weights = self.ones(count, 1, width, kind=np.float32)
        self.add(lambda: np.matmul(weights, parts))

    def answers(self, _: Any, factor: Any, moved: np.ndarray) -> None:
        """Products of the step of the scales of a quadratic loss."""
        moved = moved.copy()
        self.add(lambda: factor.answers(moved))

    def response(self, _: Any, factor: Any, moved: np.ndarray) -> None:
        moved, kept, triangle = moved.copy(), factor._kept, factor._factor
        trsm = blas.strsm if factor.single else blas.dtrsm
        if factor.by_rows:
            columns = np.asfortranarray(moved)
            self.add(lambda: trsm(1.0, triangle, columns, 1, 1, 1))
            self.add(lambda: columns @ columns.T)
        else:
            coupling = moved @ kept.T
            self.add(lambda: moved @ moved.T)
            self.add(lambda: moved @ kept.T)
            self.add(lambda: factor._triangular(triangle, coupling.T, lower=1))
            self.add(lambda: coupling @ coupling.T)

    def positive(self, _: Any, matrix: np.ndarray, right: np.ndarray) -> None:
        if len(right):
            self.add(lambda: lapack.dposv(matrix.T, right, lower=1))


def record(solve: Callable[[], Any]) -> tuple[Any, list[Call]]:
    """Result of ``solve`` and the linear algebra it took."""
    from s2mam.solvers import plain_iteration, quadratic_iteration, scales
    from s2mam.solvers.plain_factor import PlainFactor
    from s2mam.solvers.plain_point import PlainPoint
    from s2mam.solvers.quadratic_factor import QuadraticFactor
    from s2mam.solvers.quadratic_point import QuadraticPoint

    recorder = Recorder()
    targets: list[tuple[Any, str, Callable[..., None]]] = [
        (plain_iteration, "make_factor", recorder.factor),
        (plain_iteration, "moves", recorder.moves),
        (PlainFactor, "correct", recorder.correction),
        (PlainFactor, "response", recorder.response),
        (PlainPoint, "pulls_of", recorder.pulls),
        (quadratic_iteration, "make_factor", recorder.factor),
        (quadratic_iteration, "unit_moves", recorder.moves),
        (QuadraticFactor, "solve", recorder.solution),
        (QuadraticFactor, "answers", recorder.answers),
        (QuadraticPoint, "pulls_of", recorder.pulls),
        (QuadraticPoint, "moved_by", recorder.moved),
        (scales, "solve_definite", recorder.positive),
    ]
    with ExitStack() as stack:
        for owner, name, note in targets:
            replacement = recorder.around(getattr(owner, name), note)
            stack.enter_context(patch.object(owner, name, replacement))
        result = solve()
    return result, recorder.calls
