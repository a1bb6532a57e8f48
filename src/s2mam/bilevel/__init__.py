"""Bilevel: the outer loop that joins the lower and the upper level, and its state."""

from s2mam.bilevel.literal import LiteralLevel, LiteralSolution
from s2mam.bilevel.loop import final_mask, run_loop
from s2mam.bilevel.lower import GraphSettings, LowerLevel
from s2mam.bilevel.options import LoopOptions, paper_options
from s2mam.bilevel.paper import PAPER
from s2mam.bilevel.solution import LowerSolution, StartPoint
from s2mam.bilevel.state import HISTORY, LoopState

__all__ = [
    "HISTORY",
    "PAPER",
    "GraphSettings",
    "LiteralLevel",
    "LiteralSolution",
    "LoopOptions",
    "LoopState",
    "LowerLevel",
    "LowerSolution",
    "StartPoint",
    "final_mask",
    "paper_options",
    "run_loop",
]
