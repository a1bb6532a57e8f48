"""Bases: one column of the table becomes one block of features."""

from s2mam.bases.build import build_design
from s2mam.bases.design import Design
from s2mam.bases.kernels import KERNELS, auto_lengths, kernel_matrix

__all__ = ["KERNELS", "Design", "auto_lengths", "build_design", "kernel_matrix"]
