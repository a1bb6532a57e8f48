"""Does the graph say anything? Degenerate weights and connected components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from s2mam._typing import FloatArray, IntArray

__all__ = [
    "GraphDiagnostics",
    "component_labels",
    "degeneracy_message",
    "find_degeneracy",
    "sparse_components",
]

# A row whose weights sum to less than this is not tied to the others by any usable multiple of L.
_NO_EDGE: Final = 1e-12
# A mean weight closer to one than this makes all rows neighbours of all.
_UNIFORM: Final = 1e-3


@dataclass(frozen=True)
class GraphDiagnostics:
    """What a caller should know about a graph.

    Attributes
    ----------
    bandwidth : float
        mu of the weights ``exp(-d^2 / mu^2)``.
    degenerate : {None, "empty mask", "one row", "no edges", "equal weights"}
        None when the graph carries information.
    n_components : int
        Number of connected components.
    component_labels : (n,) array of int
        Component of each row. Labels cannot reach rows whose component holds no labelled row.
    """

    bandwidth: float
    degenerate: str | None
    n_components: int
    component_labels: IntArray


def find_degeneracy(weights: object, degrees: FloatArray, n_columns: int) -> str | None:
    """Return why a graph carries no information, or None.

    Examples
    --------
    >>> import numpy as np
    >>> find_degeneracy(np.zeros((2, 2)), np.zeros(2), n_columns=1)
    'no edges'
    """
    if degrees.size == 1:
        return "one row"
    if n_columns == 0:
        return "empty mask"
    if float(np.median(degrees)) < _NO_EDGE:
        return "no edges"
    # A sparse graph of equal weights still says who is near; a dense one says nothing.
    pairs = degrees.size * (degrees.size - 1)
    if not sparse.issparse(weights) and float(degrees.sum()) > (1.0 - _UNIFORM) * pairs:
        return "equal weights"
    return None


def degeneracy_message(reason: str, bandwidth: float) -> str:
    """Return one sentence that names the bandwidth and the way out.

    Examples
    --------
    >>> degeneracy_message("one row", 1.0)
    'The graph (bandwidth=1) has a single row and no effect; pass more rows or drop the graph term.'
    """
    start = f"The graph (bandwidth={bandwidth:.3g})"
    sentences = {
        "one row": "has a single row and no effect; pass more rows or drop the graph term.",
        "empty mask": "sees no column, so all rows are alike; keep a column in the mask.",
        "no edges": "has no edges, since rows are far apart on its scale, and has no effect; use "
        'bandwidth="auto", a larger bandwidth, or scaled columns.',
        "equal weights": "ties all rows to all others alike, since they are close on its scale or "
        'equal; use bandwidth="auto", a smaller bandwidth, or columns that vary.',
    }
    return f"{start} {sentences[reason]}"


def component_labels(weights: FloatArray | sparse.csr_array) -> tuple[int, IntArray]:
    """Return the number of connected components and each row's component.

    Edges lighter than 1e-12 do not connect. Components are numbered by their first row.

    Examples
    --------
    >>> import numpy as np
    >>> component_labels(np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
    (2, array([0, 1, 0]))
    """
    if sparse.issparse(weights):
        return sparse_components(weights > _NO_EDGE)
    return _dense_components(weights)


def sparse_components(links: sparse.csr_array) -> tuple[int, IntArray]:
    """Return the number of connected components of a sparse graph and each row's component."""
    # scipy 1.11 takes the indices for 32-bit ones and answers nonsense, in silence, for others.
    plain = sparse.csr_array(
        (
            np.ones(links.nnz),
            links.indices.astype(np.int32, copy=False),
            links.indptr.astype(np.int32, copy=False),
        ),
        shape=links.shape,
    )
    count, labels = connected_components(plain, directed=False)
    return int(count), labels.astype(np.intp)


def _dense_components(weights: FloatArray) -> tuple[int, IntArray]:
    """Flood from row to row; a well-connected graph is done after reading a few rows."""
    labels = np.full(weights.shape[0], -1, dtype=np.intp)
    count = 0
    for seed in range(labels.size):
        if labels[seed] >= 0:
            continue
        labels[seed] = count
        frontier = np.array([seed])
        while frontier.size:
            # Some rows at a time: the first few usually reach all that is left.
            part, frontier = frontier[:64], frontier[64:]
            left = np.flatnonzero(labels < 0)
            if not left.size:
                break
            reached = left[(weights[part][:, left] > _NO_EDGE).any(axis=0)]
            labels[reached] = count
            frontier = np.concatenate([frontier, reached])
        count += 1
    return count, labels
