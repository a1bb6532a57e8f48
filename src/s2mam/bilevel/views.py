"""Views of one table: the same columns on different scales, each with its design and atoms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from s2mam._typing import FloatArray
from s2mam.bases.atoms import Atoms
from s2mam.bases.design import Design
from s2mam.bilevel.wide_views import held_atoms, is_wide, wide_atoms

__all__ = ["CLIP", "View", "build_far_view", "build_rough_view", "build_view"]

#: What a view is for: masks and all else, curves with kinks, or lines through far-out values.
Role: TypeAlias = Literal["masks", "rough", "far"]

# Values further out than this many spreads are as far as matters; it keeps lines robust.
CLIP = 4.0
# Most features of a curved part, of a block that is not split, and of a rough one.
_CURVED_RANK, _WHOLE_RANK, _ROUGH_RANK = 5, 6, 10
# Kernel length of the rough view, in spreads of a column.
_ROUGH_LENGTH = 2.0
# Kernel length at which nothing but the line is left of a column that lies within the clip.
_LINE_LENGTH = 64.0


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
    role : {"masks", "rough", "far"}
        Masks are searched in the first kind only. In a rough one curves may have kinks and steps
        and all columns count; a far one has lines alone, through values that the others clip.
    """

    table: FloatArray
    design: Design
    atoms: Atoms
    role: Role = "masks"


def build_view(
    Z: FloatArray,
    kinds: Sequence[str],
    *,
    kernel: str = "gaussian",
    length: float = 1.0,
    longer: Sequence[float] = (),
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
    longer : sequence of float
        Further lengths: curves are those of all lengths in equal parts.
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
    parts = _parts(
        Z,
        kinds,
        options,
        rank=rank,
        whole=whole,
        longer=longer,
        n_first=n_labeled,
        all_rows=all_rows,
    )
    return View(*parts)


def build_rough_view(
    Z: FloatArray, kinds: Sequence[str], *, basis: str = "kernel", n_labeled: int = 0
) -> View:
    """Columns in one piece whose curves may have kinks: sums of many small steps.

    A forest of stumps is an additive model of this kind. It takes thresholds, spikes at zero and
    other shapes that smooth curves need many labels for; in return it is no help in a search for
    masks.

    Parameters
    ----------
    Z, kinds, n_labeled
        As for :func:`build_view`; ranks are what steps are best counted in.
    basis : str
        As for :func:`build_view`; the paper's random features are those of smooth curves, so that
        "fourier" stands for "auto" here.

    Returns
    -------
    View
    """
    options: dict[str, Any] = {
        "kernel": "laplacian",
        "length": _ROUGH_LENGTH,
        "tolerance": 1e-3,
        "max_rank": _ROUGH_RANK,
        "basis": "auto" if basis == "fourier" else basis,
    }
    parts = _parts(
        Z, kinds, options, rank=_ROUGH_RANK, whole=True, n_first=n_labeled, all_rows=False
    )
    return View(*parts, role="rough")


def build_far_view(Z: FloatArray, kinds: Sequence[str], *, n_labeled: int = 0) -> View:
    """Straight lines of a table whose columns were scaled to lie within the clip.

    Parameters
    ----------
    Z, kinds, n_labeled
        As for :func:`build_view`.

    Returns
    -------
    View
    """
    options: dict[str, Any] = {
        "kernel": "gaussian",
        "length": _LINE_LENGTH,
        "linear": 1.0,
        "tolerance": 1e-4,
        "max_rank": 2,
        "basis": "kernel",
    }
    parts = _parts(Z, kinds, options, rank=1, whole=False, n_first=n_labeled, all_rows=False)
    return View(*parts, role="far")


def _parts(
    Z: FloatArray,
    kinds: Sequence[str],
    options: dict[str, Any],
    *,
    rank: int,
    whole: bool,
    n_first: int,
    all_rows: bool,
    longer: Sequence[float] = (),
) -> tuple[FloatArray, Design, Atoms]:
    """The clipped table, its design and its atoms."""
    table = clip_numeric(Z, kinds)
    how: dict[str, Any] = {"rank": rank, "whole": whole, "longer": longer}
    if is_wide(table.shape[0], table.shape[1], rank):
        design, atoms = wide_atoms(table, kinds, options, n_first=n_first, all_rows=all_rows, **how)
    else:
        design, atoms = held_atoms(table, kinds, options, **how)
    return table, design, atoms


def clip_numeric(Z: FloatArray, kinds: Sequence[str]) -> FloatArray:
    """Clip the numeric columns; codes stay as they are."""
    numeric = np.array([kind == "numeric" for kind in kinds])
    if numeric.all():
        return np.clip(Z, -CLIP, CLIP)
    return np.where(numeric, np.clip(Z, -CLIP, CLIP), Z)
