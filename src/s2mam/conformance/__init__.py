"""Checks for parts that others write: does my graph, criterion or baseline keep the contract?"""

from s2mam.conformance.baseline import check_baseline
from s2mam.conformance.criterion import check_criterion
from s2mam.conformance.graph import check_graph
from s2mam.conformance.laws import ConformanceError

__all__ = ["ConformanceError", "check_baseline", "check_criterion", "check_graph"]
