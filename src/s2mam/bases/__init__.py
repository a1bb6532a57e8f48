"""Bases: one column of the table becomes one block of features."""

from s2mam.bases.build import BASES, build_design, resolve_basis
from s2mam.bases.design import Design
from s2mam.bases.kernels import KERNELS, auto_lengths, kernel_matrix

__all__ = [
    "BASES",
    "KERNELS",
    "Design",
    "auto_lengths",
    "build_design",
    "kernel_matrix",
    "resolve_basis",
]
