"""The arithmetic of a solve alone: its main BLAS and LAPACK calls, recorded and repeated bare.

What remains of a solve after these is bookkeeping: copies, losses, checks, the interpreter. The
same operands are used every time, so the calls find them in the cache, and a few small products are
not recorded: the time says about what the same iterations cost on numpy without anything else.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.linalg import lapack

Call = Callable[[], Any]


class Recorder:
    """Collects calls while a solve runs."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def around(self, function: Callable[..., Any], note: Callable[..., None]) -> Callable[..., Any]:
        """``function``, noting what it is about to compute."""

        def wrapped(*arguments: Any, **options: Any) -> Any:
            note(*arguments)
            return function(*arguments, **options)

        return wrapped

    def add(self, call: Call) -> None:
        self.calls.append(call)

    def gram(self, matrix: np.ndarray) -> None:
        self.add(lambda: matrix.T @ matrix)

    def factor(self, _: Any, matrix: np.ndarray) -> None:
        if len(matrix):
            kept = matrix.copy().T
            potrf = lapack.spotrf if matrix.dtype == np.float32 else lapack.dpotrf
            self.add(lambda: potrf(kept, lower=1, clean=0))

    def triangular(self, factor: Any, right: np.ndarray) -> None:
        if factor._root is None and right.size:
            self.add(lambda: factor._triangular(factor._factor, right, lower=1))

    def positive(self, matrix: np.ndarray, right: np.ndarray) -> None:
        if len(right):
            self.add(lambda: lapack.dposv(matrix.T, right, lower=1))

    def products(self, system: Any, _: np.ndarray) -> None:
        """Decision values of some coefficients, and their products with the columns."""
        rows = system.block.rows
        coef, values = np.ones(len(rows)), np.ones(rows.shape[1])
        self.add(lambda: coef @ rows)
        self.add(lambda: rows @ values)

    def gradient(self, prepared: Any, *_: Any) -> None:
        features, values = prepared.features, np.ones(len(prepared.weights))
        self.add(lambda: features.T @ values)

    def response(self, system: Any, groups: np.ndarray, _: np.ndarray) -> None:
        """Moves of the groups, and the two products with them."""
        prepared = system.prepared
        block = prepared.working.include(groups)
        width = prepared.layout.width
        parts = block.rows[prepared.free.shape[1] :].reshape(len(block.groups), width, -1)
        pulls = np.ones((len(parts), 1, width))
        moved = np.ones((len(groups), parts.shape[2]))
        kept = getattr(system, "_kept", None)
        self.add(lambda: np.matmul(pulls, parts))
        self.add(lambda: moved @ moved.T)
        if kept is not None:
            half = np.ones((len(kept), len(groups)), dtype=kept.dtype)
            single = moved.astype(kept.dtype)
            self.add(lambda: single @ kept.T)
            self.add(lambda: half.T @ half)


def record(solve: Callable[[], Any]) -> tuple[Any, list[Call]]:
    """Result of ``solve`` and the linear algebra it took."""
    from s2mam.solvers import ridge, ridge_rows, scale_iteration, scales
    from s2mam.solvers.linear import Definite

    recorder = Recorder()
    targets: list[tuple[Any, str, Callable[..., None]]] = [
        (ridge, "gram", recorder.gram),
        (ridge_rows, "gram", recorder.gram),
        (Definite, "__init__", recorder.factor),
        (Definite, "half", recorder.triangular),
        (Definite, "back", recorder.triangular),
        (scales, "solve_definite", recorder.positive),
        (ridge.ColumnSystem, "_apply", recorder.products),
        (ridge_rows.RowSystem, "_apply", recorder.products),
        (ridge.ColumnSystem, "response", recorder.response),
        (ridge_rows.RowSystem, "response", recorder.response),
        (scale_iteration, "certify", recorder.gradient),
    ]
    with ExitStack() as stack:
        for owner, name, note in targets:
            replacement = recorder.around(getattr(owner, name), note)
            stack.enter_context(patch.object(owner, name, replacement))
        result = solve()
    return result, recorder.calls
