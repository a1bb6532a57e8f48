"""Views of tables with very many columns: the features of a column are made, used and dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from s2mam._typing import FloatArray
from s2mam.bases.atoms import Atoms, split_atoms
from s2mam.bases.build import build_design
from s2mam.bases.curves import LazyCurves, column_chunks
from s2mam.bases.design import Design, join_designs

__all__ = ["held_atoms", "is_wide", "wide_atoms"]

# Curved parts of at most so many numbers (64 MB) are simply held.
_HELD: Final = 2**23
# Numbers in half precision that are held for a view whose sums run over all rows: 400 MB.
_ROUNDED: Final = 10**8
# Features of a column while they exist.
_USUAL_RANK: Final = 24


def is_wide(n: int, p: int, rank: int) -> bool:
    """Whether a table has so many columns that their curved parts are not held for all rows.

    Examples
    --------
    >>> is_wide(500, 1000, 5), is_wide(500, 20_000, 5), is_wide(10**6, 20, 5)
    (False, True, False)
    """
    return n * p * rank > _HELD and p * rank > n


def held_atoms(
    table: FloatArray,
    kinds: Sequence[str],
    options: dict[str, Any],
    *,
    rank: int,
    whole: bool,
    longer: Sequence[float] = (),
) -> tuple[Design, Atoms]:
    """Design and atoms with the features of all rows; arguments as for :func:`wide_atoms`."""
    design = build_design(table, kinds, **options)
    others = [build_design(table, kinds, **{**options, "length": length}) for length in longer]
    return design, split_atoms(design, table, rank=rank, whole=whole, longer=others)


def wide_atoms(
    table: FloatArray,
    kinds: Sequence[str],
    options: dict[str, Any],
    *,
    rank: int,
    whole: bool,
    n_first: int,
    all_rows: bool,
    longer: Sequence[float] = (),
) -> tuple[Design, Atoms]:
    """Design without features of the training rows, and atoms with lazy curves.

    Parameters
    ----------
    table : (n, p) array
        Scaled and clipped.
    kinds : sequence of str
        Kind of each column.
    options : dict
        For :func:`s2mam.bases.build_design`.
    rank, whole
        For :func:`s2mam.bases.atoms.split_atoms`.
    n_first : int
        The labelled rows come first; so many of them are held.
    all_rows : bool
        Whether sums over all rows will be asked for.
    longer : sequence of float
        Further kernel lengths of the curves.

    Returns
    -------
    Design
    Atoms
    """
    n, p = table.shape
    straight = np.zeros((n, p))
    first = np.zeros((p, n_first, rank))
    fits = all_rows and n * p * rank <= _ROUNDED
    rounded = np.zeros((p, n, rank), dtype=np.float32) if fits else None
    designs, line_maps, curve_maps, common = [], [], [], []
    for part in column_chunks(p, n * _USUAL_RANK):
        run = slice(int(part[0]), int(part[-1]) + 1)
        values = np.ascontiguousarray(table[:, run])
        seed = int(options.get("seed", 0)) + run.start
        design, atoms = held_atoms(
            values,
            kinds[run],
            {**options, "seed": seed},
            rank=rank,
            whole=whole,
            longer=longer,
        )
        if not whole:
            straight[:, run] = atoms.straight
        first[run] = atoms.curved[:, :n_first]
        if rounded is not None:
            rounded[run] = atoms.curved[:]
        designs.append(design.without_rows())
        line_maps.append(atoms.straight_map)
        curve_maps.append(atoms.curved_map)
        if atoms.common is not None:
            common.append(atoms.common)
    design = join_designs(designs)
    curve_map = np.concatenate(curve_maps)
    curves = LazyCurves(design, table, curve_map, first, rounded)
    together = np.concatenate(common) if common else None
    return design, Atoms(straight, curves, np.concatenate(line_maps), curve_map, together)
