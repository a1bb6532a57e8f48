"""The graph of a stream: every row is tied to anchors, and rows to each other through them.

Row i has weights Z_i over m anchors that add up to one; rows are linked by W = Z Lambda^-1 Z' with
Lambda = diag(Z'1). All degrees are then exactly one, so that ``F'LF = F'F - (F'Z) Lambda^-1 (Z'F)``
is made of sums over rows, and it is positive semidefinite whatever the weights are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from s2mam._typing import FloatArray, IntArray
from s2mam.scale.encoding import ColumnEncoder
from s2mam.scale.namespace import Place, place_of
from s2mam.scale.scratch import Scratch

__all__ = ["AnchorGraph", "build_anchors"]

# The typical row sees this many anchors before weights fall below e^-1 of their scale.
_NEAR = 3


@dataclass(frozen=True)
class AnchorGraph:
    """Weights of rows to anchors in the space of the masked columns.

    Attributes
    ----------
    encoder : ColumnEncoder
        Scales the columns with a positive mask.
    mask : (c,) array
        Multiplies the scaled columns.
    n_levels : (c,) array of int
        Number of codes of categorical columns, zero for numeric ones.
    fill : (c,) array
        What a missing number counts as.
    anchors : (m, d) array
    bandwidth : float
        mu of the weights, proportional to ``exp(-d^2 / mu^2)``.
    """

    encoder: ColumnEncoder
    mask: FloatArray
    n_levels: IntArray
    fill: FloatArray
    anchors: FloatArray
    bandwidth: float
    _placed: dict[Any, dict[str, Any]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def n_anchors(self) -> int:
        """Number m of anchors."""
        return int(self.anchors.shape[0])

    def points(self, values: Any) -> Any:
        """Masked rows (d, b) as points, from scaled values (c, b); distances are the mask's."""
        place = place_of(values)
        xp, on = place.xp, self._on(place)
        filled = xp.where(xp.isnan(values), xp.zeros_like(values) + on["fill"], values)
        if not self.n_levels.any():
            return filled * on["mask"]
        parts = []
        for column, levels in enumerate(self.n_levels.tolist()):
            if levels == 0:
                parts.append(filled[column : column + 1] * on["mask"][column])
            else:
                # Two different codes are `mask` apart; a missing code is none of them.
                codes = on["codes"][:levels, None] == values[column]
                parts.append(place.floats(codes) * (on["mask"][column] * 0.5**0.5))
        return place.concatenate(parts)

    def weights(self, values: Any, scratch: Scratch | None = None) -> Any:
        """Weights (m, b) of rows to anchors; each row's add up to one.

        With working memory from outside the result lies in it, and holds until it is used again.
        """
        place, scratch = place_of(values), scratch or Scratch()
        xp, on = place.xp, self._on(place)
        points = self.points(values)
        room = scratch.room(place, "closeness", self.n_anchors, points.shape[1])
        # The row's own squared norm is the same for all anchors and drops out.
        closeness = xp.matmul(on["anchors"], points, out=room)
        closeness -= on["half_norms"]
        closeness *= 2.0 / self.bandwidth**2
        closeness -= closeness.max(0) if place.device is None else closeness.amax(0)
        weights = xp.exp(closeness, out=closeness)
        weights /= weights.sum(0)
        return weights

    def _on(self, place: Place) -> dict[str, Any]:
        key = (str(place.device), str(place.dtype))
        if key not in self._placed:
            self._placed[key] = {
                "mask": place.put(self.mask[:, None]),
                "fill": place.put(self.fill[:, None]),
                "codes": place.put(
                    np.arange(max(int(self.n_levels.max(initial=0)), 1), dtype=float)
                ),
                "anchors": place.put(self.anchors),
                "half_norms": place.put(0.5 * np.square(self.anchors).sum(axis=1)[:, None]),
            }
        return self._placed[key]


def build_anchors(
    encoder: ColumnEncoder,
    mask: FloatArray,
    values: FloatArray,
    *,
    n_anchors: int,
    bandwidth: float | None,
    seed: int,
) -> AnchorGraph:
    """Place anchors among sampled rows.

    Parameters
    ----------
    encoder : ColumnEncoder
        Of the columns with a positive mask.
    mask : (c,) array
        Their mask, in (0, 1].
    values : (c, s) array
        Scaled values of the sampled rows.
    n_anchors : int
        Most anchors; half the sampled rows at most.
    bandwidth : float or None
        mu; None takes the typical distance to the third anchor.
    seed : int
        Of the clustering that places the anchors.

    Returns
    -------
    AnchorGraph

    Examples
    --------
    >>> from s2mam.intake import TableReader
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> encoder = ColumnEncoder(TableReader().fit(X), np.array([0, 1]), clip=True)
    >>> values = encoder.encode(X)
    >>> graph = build_anchors(encoder, np.ones(2), values, n_anchors=10, bandwidth=None, seed=0)
    >>> bool(np.allclose(graph.weights(values).sum(axis=0), 1.0))
    True
    """
    from sklearn.cluster import KMeans  # takes a while, and few fits need it

    levels = np.array(
        [len(info.categories) if info.categories else 0 for info in encoder.infos], dtype=np.intp
    )
    with np.errstate(invalid="ignore"):
        counts = np.count_nonzero(~np.isnan(values), axis=1)
        fill = np.nansum(values, axis=1) / np.maximum(counts, 1)
    blank = AnchorGraph(encoder, mask, levels, fill, np.zeros((1, 1)), 1.0)
    points = blank.points(values).T
    count = max(1, min(n_anchors, points.shape[0] // 2, np.unique(points, axis=0).shape[0]))
    # Threads of OpenMP would change the last bits from machine to machine.
    with threadpool_limits(limits=1):
        clusters = KMeans(count, n_init=1, max_iter=20, random_state=seed).fit(points)
    anchors = np.asarray(clusters.cluster_centers_, dtype=np.float64)
    if bandwidth is None:
        squared = np.square(points).sum(axis=1)[:, None] - 2.0 * points @ anchors.T
        squared += np.square(anchors).sum(axis=1)
        near = min(_NEAR, count) - 1
        typical = float(np.median(np.partition(squared, near, axis=1)[:, near]))
        bandwidth = float(np.sqrt(typical)) if typical > 0.0 else 1.0
    return AnchorGraph(encoder, mask, levels, fill, anchors, float(bandwidth))
