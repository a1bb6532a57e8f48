"""Views of one table: the same columns on different scales, each with its design and atoms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2mam._typing import FloatArray
from s2mam.bases.atoms import Atoms, split_atoms
from s2mam.bases.build import build_design
from s2mam.bases.design import Design
from s2mam.bilevel.wide_views import is_wide, wide_atoms

__all__ = ["View", "build_view"]

# Values further out than this many spreads are as far as matters; it keeps lines robust.
CLIP = 4.0
# Most features of a curved part, and of a block that is not split.
_CURVED_RANK, _WHOLE_RANK = 5, 6


@dataclass(frozen=True)
class View:
    """One scaling of the table.

    Attributes
    ----------
    table : (n, p) array
        The scaled table, clipped.
    design : Design
        Its feature blocks.
    atoms : Atoms
        The blocks split in straight and curved parts.
    """

    table: FloatArray
    design: Design
    atoms: Atoms


def build_view(
    Z: FloatArray,
    kinds: Sequence[str],
    *,
    kernel: str = "gaussian",
    length: float = 1.0,
    whole: bool = False,
    basis: str = "kernel",
    seed: int = 0,
    n_labeled: int = 0,
    all_rows: bool = True,
) -> View:
    """Build the design and the atoms of a scaled table.

    Parameters
    ----------
    Z : (n, p) array
        Scaled table, codes for categorical columns, NaN where missing.
    kinds : sequence of str
        Kind of each column.
    kernel, length
        Of the numeric columns.
    whole : bool
        Columns enter a mask in one piece, not by their straight and curved parts.
    basis, seed
        See :func:`s2mam.bases.build_design`.
    n_labeled, all_rows
        With very many columns: how many rows, which come first, are needed at any time, and
        whether sums over all rows are.

    Returns
    -------
    View
    """
    table = clip_numeric(Z, kinds)
    options: dict[str, Any] = {
        "kernel": kernel,
        "length": length,
        "linear": 0.3,
        "tolerance": 1e-4,
        "max_rank": 24,
        "basis": basis,
        "seed": seed,
    }
    rank = _WHOLE_RANK if whole else _CURVED_RANK
    n, p = table.shape
    if is_wide(n, p, rank):
        design, atoms = wide_atoms(
            table, kinds, options, rank=rank, whole=whole, n_first=n_labeled, all_rows=all_rows
        )
        return View(table, design, atoms)
    design = build_design(table, kinds, **options)
    return View(table, design, split_atoms(design, table, rank=rank, whole=whole))


def clip_numeric(Z: FloatArray, kinds: Sequence[str]) -> FloatArray:
    """Clip the numeric columns; codes stay as they are."""
    numeric = np.array([kind == "numeric" for kind in kinds])
    if numeric.all():
        return np.clip(Z, -CLIP, CLIP)
    return np.where(numeric, np.clip(Z, -CLIP, CLIP), Z)
