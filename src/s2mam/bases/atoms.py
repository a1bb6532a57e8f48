"""Each column split in a straight part and a curved part.

A straight line costs one degree of freedom and a curve several, so a search that may take them
separately needs fewer labels than one that must take the whole block. The curved part may be that
of several kernel lengths: mostly a bend, as long kernels have it, with room for the wiggles of
short ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from s2mam._typing import FloatArray
from s2mam.bases.common import common_maps
from s2mam.bases.curves import LazyCurves
from s2mam.bases.design import Design

__all__ = ["Atoms", "split_atoms"]

# Directions of a curved part below this share of its largest eigenvalue are left out.
_TOLERANCE = 1e-2


@dataclass(frozen=True)
class Atoms:
    """Straight and curved parts of all columns, as rotations of the design's blocks.

    Attributes
    ----------
    straight : (n, p) array
        Standardised columns; zero for categorical and constant columns.
    curved : (p, n, r) array or LazyCurves
        What a column's block holds beside the straight line, zero-padded to r features; the mean
        squared norm of its rows is one.
    straight_map : (P,) array
        ``straight[:, j] = features_j @ straight_map[block j]``.
    curved_map : (P, r) array
        ``curved[j] = features_j @ curved_map[block j]``.
    common : (p, 1 + r, s) array or None
        Shapes that all columns have in common, in their parts; see
        :func:`s2mam.bases.common.common_maps`. None where columns are kept whole.
    """

    straight: FloatArray
    curved: FloatArray | LazyCurves
    straight_map: FloatArray
    curved_map: FloatArray
    common: FloatArray | None = None

    def coefficients(self, design: Design, straight: FloatArray, curved: FloatArray) -> FloatArray:
        """Coefficients on the design's features, from those on the parts.

        Parameters
        ----------
        design : Design
            The design the parts were split from.
        straight : (p, k) array
            Coefficients of the straight parts.
        curved : (p, r, k) array
            Coefficients of the curved parts.

        Returns
        -------
        (P, k) array
        """
        column = np.repeat(np.arange(design.n_columns), design.ranks)
        coef: FloatArray = self.straight_map[:, None] * straight[column]
        coef += np.einsum("fr,frk->fk", self.curved_map, curved[column])
        return coef


def split_atoms(
    design: Design,
    Z: FloatArray,
    *,
    rank: int = 5,
    whole: bool = False,
    longer: Sequence[Design] = (),
) -> Atoms:
    """Split the blocks of a centred design.

    Parameters
    ----------
    design : Design
        Built from `Z` with ``linear > 0``, so that each numeric block contains the straight line.
    Z : (n, p) array
        The prepared table.
    rank : int
        Most curved features per column.
    whole : bool
        Keep each block in one piece: all of it is the curved part, there is no straight one.
    longer : sequence of Design
        Designs of the same rows with longer kernels. The curved part of a numeric column is that of
        all designs in equal parts, as far as `design` can express it.

    Returns
    -------
    Atoms

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.bases import build_design
    >>> Z = np.linspace(-1, 1, 9)[:, None]
    >>> atoms = split_atoms(build_design(Z, ["numeric"], linear=1.0), Z)
    >>> bool(np.allclose(atoms.straight[:, 0], Z[:, 0] / Z[:, 0].std(), atol=1e-3))
    True
    >>> bool(np.allclose(atoms.straight[:, 0] @ atoms.curved[0], 0.0))
    True
    """
    n, p = Z.shape
    straight_map = np.zeros(int(design.offsets[-1]))
    curved_map = np.zeros((int(design.offsets[-1]), rank))
    for j in range(p):
        block = design.block(j)
        if block.stop > block.start:
            numeric = design.kinds[j] == "numeric"
            line = Z[:, j] if numeric and not whole else None
            straight_map[block], curved_map[block] = _split_column(design, j, line, rank)
            if longer and numeric:
                others = [_expressed(design, other, j, line, rank) for other in longer]
                curved_map[block] = _joined(
                    design.spectra[block], straight_map[block], [curved_map[block], *others], n
                )
    features = design.features
    starts = np.minimum(design.offsets[:-1], max(features.shape[1] - 1, 0))
    filled = design.ranks > 0
    straight = np.zeros((n, p))
    if filled.any():
        sums = np.add.reduceat(features * straight_map, starts[filled], axis=1)
        straight[:, filled] = sums
    curved = np.zeros((p, n, rank))
    for column in np.flatnonzero(filled):
        j = int(column)
        block = design.block(j)
        np.matmul(features[:, block], curved_map[block], out=curved[j])
    common = None if whole else common_maps(straight, curved, Z, design.kinds)
    return Atoms(straight, curved, straight_map, curved_map, common)


def _expressed(
    design: Design, other: Design, j: int, line: FloatArray | None, rank: int
) -> FloatArray:
    """Map from a column's features to the curved part that another design has for it."""
    own, block = design.block(j), other.block(j)
    curves = other.features[:, block] @ _split_column(other, j, line, rank)[1]
    result: FloatArray = design.features[:, own].T @ curves / design.spectra[own][:, None]
    return result


def _joined(
    spectrum: FloatArray, straight: FloatArray, curved: Sequence[FloatArray], n: int
) -> FloatArray:
    """Map to the largest directions of several curved parts together, none of them a line."""
    together = np.hstack(curved)
    length = float(spectrum @ straight**2)
    if length > 0.0:  # a block that is not as fine as another leaves a little of the line in it
        together -= np.outer(straight, (spectrum * straight) @ together) / length
    values, vectors = np.linalg.eigh(together.T @ (spectrum[:, None] * together))
    order = np.argsort(-values)[: curved[0].shape[1]]
    order = order[values[order] > _TOLERANCE * values[order[0]]]
    joined = np.zeros_like(curved[0])
    if order.size:
        joined[:, : order.size] = together @ vectors[:, order] / np.sqrt(values[order].sum() / n)
    return joined


def _split_column(
    design: Design, j: int, line: FloatArray | None, rank: int
) -> tuple[FloatArray, FloatArray]:
    """Maps from one column's features to its straight and curved parts."""
    block = design.block(j)
    return _split_block(design.features[:, block], design.spectra[block], line, rank)


def _split_block(
    features: FloatArray, spectrum: FloatArray, line: FloatArray | None, rank: int
) -> tuple[FloatArray, FloatArray]:
    """Maps from one block's features to its straight and curved parts."""
    n = features.shape[0]
    straight = np.zeros(spectrum.size)
    gram = np.diag(spectrum)
    removed = np.zeros(spectrum.size)
    if line is not None:
        present = ~np.isnan(line)
        centred = np.where(present, line - line[present].mean(), 0.0)
        overlap = features.T @ centred
        straight = overlap / spectrum
        norm = float(overlap @ straight)
        straight *= np.sqrt(n / norm)
        removed = straight * spectrum / np.sqrt(n)
        gram = gram - np.outer(removed, removed)
    values, vectors = np.linalg.eigh(gram)
    order = np.argsort(-values)[:rank]
    order = order[values[order] > _TOLERANCE * max(spectrum.max() * _TOLERANCE, values[order[0]])]
    curved = np.zeros((spectrum.size, rank))
    if order.size:
        kept = vectors[:, order]
        kept = kept - np.outer(straight, removed @ kept) / np.sqrt(n)
        curved[:, : order.size] = kept / np.sqrt(values[order].sum() / n)
    return straight, curved
