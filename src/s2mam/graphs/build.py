"""From masked rows to a Laplacian: choose the kind, check memory, build, warn."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from s2mam._typing import FloatArray
from s2mam.exceptions import DegenerateGraphWarning, InvalidInputError
from s2mam.graphs.anchors import anchor_weights
from s2mam.graphs.bandwidth import degree_bandwidth
from s2mam.graphs.dense import dense_weights
from s2mam.graphs.diagnostics import degeneracy_message
from s2mam.graphs.distances import MaskedRows, mask_rows
from s2mam.graphs.fourier import literal_weights, positive_weights
from s2mam.graphs.laplacian import Laplacian, Weights
from s2mam.graphs.memory import estimate_bytes, memory_allowance, require_memory
from s2mam.graphs.neighbors import neighbor_weights
from s2mam.graphs.nystrom import nystrom_weights
from s2mam.intake.notices import warn_user

__all__ = ["GRAPH_KINDS", "automatic_kind", "build_graph"]

#: Kinds of graphs that can be asked for.
GRAPH_KINDS: Final = ("auto", "dense", "neighbors", "anchors", "nystrom", "fourier")
# Up to here the dense graph takes at most 128 MB and a fraction of a second.
_DENSE_ROWS: Final = 4000
# Up to here the search for neighbours, which grows with the square of the rows, takes seconds.
_NEIGHBOR_ROWS: Final = 20_000


def automatic_kind(n: int, *, dense: bool = True) -> str:
    """Kind of graph that "auto" stands for: dense, then neighbours, then anchors.

    Examples
    --------
    >>> automatic_kind(500), automatic_kind(500, dense=False), automatic_kind(50_000)
    ('dense', 'neighbors', 'anchors')
    """
    if dense and n <= _DENSE_ROWS:
        return "dense"
    return "neighbors" if n <= _NEIGHBOR_ROWS else "anchors"


def build_graph(
    Z: ArrayLike,
    mask: ArrayLike | None = None,
    *,
    kinds: Sequence[str] | None = None,
    kind: str = "auto",
    bandwidth: float | str = "auto",
    n_neighbors: int = 10,
    normalized: bool = False,
    memory_limit: int | None = None,
    warn: bool = True,
    literal: bool = False,
    seed: int = 0,
) -> Laplacian:
    """Return the Laplacian of the graph between masked rows.

    Parameters
    ----------
    Z : (n, p) array
        Scaled numeric columns, integer codes for categorical ones, NaN where a value is missing
        (it then counts as an independent draw from its column).
    mask : (p,) array of bool or of weights in [0, 1], optional
        Multiplies the columns. By default all columns count.
    kinds : sequence of {"numeric", "categorical", "constant"}, optional
        By default all columns are numeric.
    kind : {"auto", "dense", "neighbors", "anchors", "nystrom", "fourier"}
        Dense weights between all rows (the paper's graph), or only to the nearest ones; through a
        few anchors that every row leans on; or approximations of the dense weights by landmarks or
        by random features. "auto" is dense up to 4000 rows when memory allows it, then neighbours,
        and anchors above 20,000 rows.
    bandwidth : "auto" or float
        mu of the weights ``exp(-d^2 / mu^2)``. "auto" adapts to the masked distances: in a dense
        graph a typical row gets total weight ``n_neighbors / 2``, in a neighbour graph the typical
        farthest neighbour gets the weight e^-1. Both give about the same magnitude of L.
    n_neighbors : int
        Neighbours per row; for the dense graph it only sets the automatic bandwidth.
    normalized : bool
        Use I - D^-1/2 W D^-1/2 instead of D - W.
    memory_limit : int, optional
        Bytes the graph may take; by default 60 % of the available memory.
    warn : bool
        Issue a DegenerateGraphWarning when the graph carries no information.
    literal : bool
        With ``kind="fourier"``: the paper's random waves, whose weights may be negative, with the
        least addition to the diagonal that keeps L positive semidefinite (and a warning) instead of
        positive random features.
    seed : int
        Of the random features.

    Returns
    -------
    Laplacian

    Raises
    ------
    MemoryLimitError
        Before anything large is allocated, when the graph would need more than the limit.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[0.0, 50.0], [1.0, -70.0], [2.0, 10.0]])
    >>> lap = build_graph(Z, [True, False], bandwidth=1.0)
    >>> lap.quadratic(np.array([[0.0], [0.0], [1.0]])).round(4)
    array([[0.3862]])
    >>> lap.diagnostics.n_components
    1
    """
    table, kinds = _read_rows(Z, kinds)
    n, p = table.shape
    weight = _read_mask(mask, p)
    _require_options(kind, bandwidth, n_neighbors)
    on = weight > 0.0
    width = _width(table, on, kinds)
    kind = _choose_kind(kind, n, width, n_neighbors, memory_limit)
    _require_finite(table, on)

    rows = mask_rows(table, weight, kinds)
    given = None if isinstance(bandwidth, str) else float(bandwidth)
    weights: Weights
    if kind == "neighbors":
        weights, mu = neighbor_weights(rows, n_neighbors, given)
        degrees = np.asarray(weights.sum(axis=1), dtype=np.float64).ravel()
    else:
        mu = degree_bandwidth(rows, n_neighbors / 2.0) if given is None else given
        weights, degrees = _weights_at(kind, rows, mu, n_neighbors / 2.0, literal, seed)
    graph = Laplacian(
        weights=weights,
        degrees=degrees,
        normalized=normalized,
        kind=kind,
        bandwidth=mu,
        n_columns=int(np.count_nonzero(on)),
    )
    if warn and graph.degenerate is not None:
        message = degeneracy_message(graph.degenerate, mu)
        warnings.warn(message, DegenerateGraphWarning, stacklevel=2)
    return graph


def _weights_at(
    kind: str, rows: MaskedRows, mu: float, degree: float, literal: bool, seed: int
) -> tuple[Weights, FloatArray]:
    """Weights of a graph that has one bandwidth for all rows, and the degrees."""
    if kind == "dense":
        dense = dense_weights(rows, mu)
        return dense, np.asarray(dense.sum(axis=1), dtype=np.float64).ravel()
    if kind == "anchors":
        return anchor_weights(rows, mu, degree=degree), np.full(rows.n, degree)
    if kind == "nystrom":
        return nystrom_weights(rows, mu)
    if not literal:
        return positive_weights(rows, mu, seed=seed)
    weights, degrees, added = literal_weights(rows, mu, seed=seed)
    if added > 0.0:
        warn_user(
            f"The random Fourier features give negative similarities and their Laplacian an "
            f"eigenvalue of about {-added:.3g}; as much was added to its diagonal, without which "
            'the fit has no minimum. graph="dense" or graph="anchors" need no such repair.',
            DegenerateGraphWarning,
        )
    return weights, degrees


def _read_rows(Z: ArrayLike, kinds: Sequence[str] | None) -> tuple[FloatArray, tuple[str, ...]]:
    table = np.asarray(Z, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] == 0:
        raise InvalidInputError(
            f"Z has shape {table.shape}; a graph needs a table with at least one row."
        )
    names = ("numeric",) * table.shape[1] if kinds is None else tuple(kinds)
    if len(names) != table.shape[1]:
        raise InvalidInputError(
            f"kinds has {len(names)} entries for {table.shape[1]} columns; pass one per column."
        )
    unknown = set(names) - {"numeric", "categorical", "constant"}
    if unknown:
        raise InvalidInputError(
            f"kinds holds {sorted(unknown)}; use 'numeric', 'categorical' or 'constant'."
        )
    return table, names


def _require_finite(table: FloatArray, on: np.ndarray) -> None:
    infinite = np.isinf(table[:, on]).any(axis=0)
    if infinite.any():
        column = int(np.flatnonzero(on)[infinite][0])
        raise InvalidInputError(
            f"Column {column} of Z holds infinite values; mark them as missing with NaN."
        )


def _read_mask(mask: ArrayLike | None, p: int) -> FloatArray:
    if mask is None:
        return np.ones(p)
    weight = np.asarray(mask, dtype=np.float64)
    if weight.shape != (p,):
        raise InvalidInputError(f"mask has shape {weight.shape}; pass one entry per column ({p}).")
    if not ((weight >= 0.0) & (weight <= 1.0)).all():
        raise InvalidInputError("mask has entries outside [0, 1]; clip them or pass booleans.")
    return weight


def _require_options(kind: str, bandwidth: float | str, n_neighbors: int) -> None:
    if kind not in GRAPH_KINDS:
        listed = ", ".join(f'"{name}"' for name in GRAPH_KINDS)
        raise InvalidInputError(f"kind={kind!r} is unknown; use one of {listed}.")
    if isinstance(bandwidth, str):
        if bandwidth != "auto":
            raise InvalidInputError(f'bandwidth={bandwidth!r} is unknown; use a number or "auto".')
    elif not (np.isfinite(bandwidth) and bandwidth > 0.0):
        raise InvalidInputError(f'bandwidth={bandwidth} must be positive and finite, or "auto".')
    if n_neighbors < 1:
        raise InvalidInputError(f"n_neighbors={n_neighbors} must be at least 1.")


def _width(table: FloatArray, on: np.ndarray, kinds: tuple[str, ...]) -> int:
    """Return how many columns the embedded rows will have: categorical ones take one per level."""
    width = 0
    for j in np.flatnonzero(on):
        if kinds[j] == "categorical":
            width += np.unique(table[:, j]).size
        elif kinds[j] == "numeric":
            width += 1
    return width


def _choose_kind(kind: str, n: int, width: int, n_neighbors: int, memory_limit: int | None) -> str:
    """Resolve "auto" and refuse what does not fit in memory."""
    allowance = memory_allowance(memory_limit)
    if kind == "auto":
        needed = estimate_bytes(n, "dense", n_columns=width, n_neighbors=n_neighbors)
        fits = allowance is None or needed <= allowance
        kind = automatic_kind(n, dense=fits)
    needed = estimate_bytes(n, kind, n_columns=width, n_neighbors=n_neighbors)
    require_memory(needed, allowance, n=n, kind=kind)
    return kind
