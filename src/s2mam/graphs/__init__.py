"""Graphs: masked rows become Laplacian quadratic forms."""

from s2mam.graphs.build import GRAPH_KINDS, automatic_kind, build_graph
from s2mam.graphs.diagnostics import GraphDiagnostics
from s2mam.graphs.distances import mask_rows, squared_distances
from s2mam.graphs.laplacian import Laplacian
from s2mam.graphs.memory import estimate_bytes

__all__ = [
    "GRAPH_KINDS",
    "GraphDiagnostics",
    "Laplacian",
    "automatic_kind",
    "build_graph",
    "estimate_bytes",
    "mask_rows",
    "squared_distances",
]
