"""One pass over all rows: the sums from which the roughness of any function follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from s2mam._typing import FloatArray
from s2mam.scale.anchors import AnchorGraph
from s2mam.scale.blocks import Block
from s2mam.scale.chunks import chunk_rows
from s2mam.scale.encoding import ColumnEncoder
from s2mam.scale.features import FeatureMap
from s2mam.scale.namespace import Place, place_of
from s2mam.scale.scratch import Scratch
from s2mam.scale.tables import count_rows, take, to_host

__all__ = ["GraphPass", "GraphSums"]


@dataclass(frozen=True)
class GraphSums:
    """Sums over rows of features F and weights to anchors Z.

    Attributes
    ----------
    n_rows : int
    gram : (R, R) array
        F'F, in double precision and where the rows are; R counts padding too.
    cross : (R, m) array
        F'Z.
    mass : (m,) array
        Z'1.
    """

    n_rows: int
    gram: Any
    cross: Any
    mass: Any

    def merge(self, later: GraphSums) -> GraphSums:
        """Sums over both parts."""
        return GraphSums(
            self.n_rows + later.n_rows,
            self.gram + later.gram,
            self.cross + later.cross,
            self.mass + later.mass,
        )

    def quadratic(self, features: FeatureMap) -> FloatArray:
        """F'LF (P, P) of the features in the order of the design.

        Anchors that no row is near have no part in it.
        """
        keep = features.keep
        gram = np.asarray(to_host(self.gram)[np.ix_(keep, keep)], dtype=np.float64)
        cross, mass = to_host(self.cross)[keep], to_host(self.mass)
        used = mass > 0.0
        scaled = cross[:, used] / np.sqrt(mass[used])
        form: FloatArray = gram - scaled @ scaled.T
        return 0.5 * (form + form.T)


@dataclass(frozen=True)
class GraphPass:
    """Sums of a block; a pure function that travels.

    Attributes
    ----------
    encoder, features : ColumnEncoder and FeatureMap
        Features of the rows.
    graph : AnchorGraph
        Its columns may be others.
    """

    encoder: ColumnEncoder
    features: FeatureMap
    graph: AnchorGraph

    def __call__(self, block: Block) -> GraphSums:
        """Sums over the rows of a block."""
        place, scratch = place_of(block.table), Scratch()
        size, m = self.features.n_rows, self.graph.n_anchors
        shapes = ((size, size), (size, m), (m,))
        gram, cross, mass = (place.double(place.zeros(*shape)) for shape in shapes)
        n_rows = count_rows(block.table)
        for rows in chunk_rows(n_rows, self._doubles_per_row(), place):
            features, weights = self._evaluate(take(block.table, rows), scratch)
            gram += _product(features, features, place, scratch)
            cross += _product(features, weights, place, scratch)
            mass += place.double(weights.sum(1))
        return GraphSums(n_rows, gram, cross, mass)

    def _evaluate(self, table: Any, scratch: Scratch) -> tuple[Any, Any]:
        """Features (R, b) and weights (m, b) of some rows."""
        values = self.encoder.encode(table)
        features = self.features.evaluate(values, scratch)
        if self.graph.encoder is not self.encoder:
            values = self.graph.encoder.encode(table)
        return features, self.graph.weights(values, scratch)

    def _doubles_per_row(self) -> int:
        c, m = self.graph.mask.size, self.graph.n_anchors
        return self.features.doubles_per_row + 3 * c + 2 * m


def _product(left: Any, right: Any, place: Place, scratch: Scratch) -> Any:
    """``left @ right.T`` in double precision."""
    room = scratch.room(place, "product", left.shape[0], right.shape[0])
    return place.double(place.xp.matmul(left, right.T, out=room))
