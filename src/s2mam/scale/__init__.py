"""Rows wherever they are: sources of blocks, sums over blocks, and who computes them."""

from s2mam.scale.arrays import ArraySource, IteratorSource
from s2mam.scale.blocks import Block, RowSource
from s2mam.scale.opening import is_streamed, open_rows
from s2mam.scale.options import ScaleOptions, current_options, scale_options

__all__ = [
    "ArraySource",
    "Block",
    "IteratorSource",
    "RowSource",
    "ScaleOptions",
    "current_options",
    "is_streamed",
    "open_rows",
    "scale_options",
]
