"""How the graph of the masked rows is built."""

from __future__ import annotations

from dataclasses import dataclass

from s2mam._typing import FloatArray
from s2mam.graphs import Laplacian, build_graph

__all__ = ["GraphSettings"]


@dataclass(frozen=True)
class GraphSettings:
    """How the graph of the masked rows is built; see :func:`s2mam.graphs.build_graph`."""

    kind: str = "auto"
    bandwidth: float | str = "auto"
    n_neighbors: int = 10
    normalized: bool = False
    memory_limit: int | None = None
    warn: bool = False
    literal: bool = False
    seed: int = 0

    def build(self, table: FloatArray, mask: FloatArray, kinds: tuple[str, ...]) -> Laplacian:
        """Return the Laplacian of the masked rows."""
        return build_graph(
            table,
            mask,
            kinds=kinds,
            kind=self.kind,
            bandwidth=self.bandwidth,
            n_neighbors=self.n_neighbors,
            normalized=self.normalized,
            memory_limit=self.memory_limit,
            warn=self.warn,
            literal=self.literal,
            seed=self.seed,
        )
