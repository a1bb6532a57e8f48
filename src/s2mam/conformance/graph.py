"""Laws that every graph over rows obeys."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from s2mam._typing import FloatArray
from s2mam.conformance.laws import close, obey, require

__all__ = ["check_graph"]

_ROWS, _COLUMNS = 24, 4


def check_graph(
    build: Callable[[FloatArray, FloatArray], Any], *, skip: Collection[str] = ()
) -> list[str]:
    """Check that a function builds graphs as the lower level needs them.

    Parameters
    ----------
    build : callable
        ``build(Z, mask)`` takes a table of shape (n, p), NaN where a value is missing, and weights
        of its columns in [0, 1]; it returns an object with ``n``, ``apply(F)`` (L F) and
        ``quadratic(F)`` (F' L F), as :class:`s2mam.graphs.Laplacian` has them. Where it has a true
        attribute ``normalized``, constants need not be in the null space.
    skip : collection of str
        Names of laws to leave out; a graph of random anchors, for one, depends on the order of the
        rows.

    Returns
    -------
    list of str
        Names of the laws that hold: "size", "symmetric", "not negative", "vectors and matrices",
        "constants", "quadratic form", "masked columns are silent", "order of the rows",
        "same again", "missing values", "empty mask", "input is left alone".

    Raises
    ------
    ConformanceError
        At the first law that is broken.

    Examples
    --------
    >>> from functools import partial
    >>> from s2mam.conformance import check_graph
    >>> from s2mam.graphs import build_graph
    >>> len(check_graph(partial(build_graph, warn=False)))
    12
    """
    return obey(_GraphLaws(build).all(), skip)


class _GraphLaws:
    def __init__(self, build: Callable[[FloatArray, FloatArray], Any]) -> None:
        rng = np.random.default_rng(0)
        self.build = build
        self.Z = rng.normal(size=(_ROWS, _COLUMNS))
        self.mask = np.array([1.0, 0.5, 1.0, 0.0])
        self.graph = build(self.Z.copy(), self.mask.copy())
        self.F = rng.normal(size=(_ROWS, 3))
        self.order = rng.permutation(_ROWS)

    def all(self) -> dict[str, Callable[[], None]]:
        return {
            "size": self.size,
            "symmetric": self.symmetric,
            "not negative": self.not_negative,
            "vectors and matrices": self.vectors,
            "constants": self.constants,
            "quadratic form": self.quadratic,
            "masked columns are silent": self.masked,
            "order of the rows": self.permuted,
            "same again": self.again,
            "missing values": self.missing,
            "empty mask": self.empty,
            "input is left alone": self.untouched,
        }

    def matrix(self, graph: Any = None, n: int = _ROWS) -> FloatArray:
        found: FloatArray = np.asarray((self.graph if graph is None else graph).apply(np.eye(n)))
        return found

    def size(self) -> None:
        require(self.graph.n == _ROWS, f"n is {self.graph.n} for a table of {_ROWS} rows")
        require(self.matrix().shape == (_ROWS, _ROWS), "apply(F) must have the shape of F")

    def symmetric(self) -> None:
        close(self.matrix(), self.matrix().T, "L is not symmetric")

    def not_negative(self) -> None:
        L = self.matrix()
        least = float(np.linalg.eigvalsh((L + L.T) / 2.0).min())
        allowed = 1e-8 * float(np.abs(L).max())
        require(least >= -allowed, f"L has the negative eigenvalue {least:.3g}")

    def constants(self) -> None:
        if getattr(self.graph, "normalized", False):
            return
        size = float(np.abs(self.matrix()).max()) or 1.0
        sums = np.asarray(self.graph.apply(np.ones(_ROWS))) / size
        close(sums + 1.0, np.ones(_ROWS), "L times a constant is not zero")

    def vectors(self) -> None:
        column = np.asarray(self.graph.apply(self.F[:, 0]))
        require(column.shape == (_ROWS,), f"apply of a vector has shape {column.shape}")
        close(self.graph.apply(self.F)[:, 0], column, "apply of a vector and of a matrix differ")

    def quadratic(self) -> None:
        form = np.asarray(self.graph.quadratic(self.F))
        close(form, self.F.T @ self.matrix() @ self.F, "quadratic(F) is not F' L F")
        require(np.array_equal(form, form.T), "quadratic(F) is not exactly symmetric")

    def masked(self) -> None:
        Z = self.Z.copy()
        Z[:, self.mask == 0.0] = 1e3 * self.F[:, :1]
        changed = self.matrix(self.build(Z, self.mask.copy()))
        close(changed, self.matrix(), "a column of weight zero changes the graph")

    def permuted(self) -> None:
        other = self.matrix(self.build(self.Z[self.order].copy(), self.mask.copy()))
        expected = self.matrix()[np.ix_(self.order, self.order)]
        close(other, expected, "the graph depends on the order of the rows")

    def again(self) -> None:
        other = self.matrix(self.build(self.Z.copy(), self.mask.copy()))
        require(np.array_equal(other, self.matrix()), "the same rows give another graph")

    def missing(self) -> None:
        Z = self.Z.copy()
        Z[0, 0] = Z[1] = np.nan
        L = self.matrix(self.build(Z, self.mask.copy()))
        require(np.isfinite(L).all(), "missing values give numbers that are not finite")

    def empty(self) -> None:
        L = self.matrix(self.build(self.Z.copy(), np.zeros(_COLUMNS)))
        require(np.isfinite(L).all(), "an empty mask gives numbers that are not finite")

    def untouched(self) -> None:
        Z, mask = self.Z.copy(), self.mask.copy()
        self.build(Z, mask).quadratic(self.F)
        same = np.array_equal(Z, self.Z) and np.array_equal(mask, self.mask)
        require(same, "the table or the mask was written to")
