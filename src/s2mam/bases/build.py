"""From a prepared table to its design."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from s2mam._typing import FloatArray, IntArray
from s2mam.bases.block import Block, empty_block
from s2mam.bases.categorical import categorical_block
from s2mam.bases.curves import column_chunks
from s2mam.bases.design import Design, join_designs
from s2mam.bases.fourier import require_gaussian
from s2mam.bases.kernels import auto_lengths
from s2mam.bases.numeric import numeric_blocks
from s2mam.bases.validation import read_kinds, read_lengths, read_table, require_design_options
from s2mam.exceptions import InvalidInputError

__all__ = ["BASES", "build_design", "build_recipes", "resolve_basis"]

#: Bases that can be asked for.
BASES: Final = ("kernel", "nystrom", "fourier", "auto")
# Up to here the exact factor takes milliseconds a column.
_EXACT_ROWS: Final = 20_000


def build_design(
    Z: ArrayLike,
    kinds: Sequence[str],
    *,
    kernel: str = "gaussian",
    length: float | str | ArrayLike = 1.0,
    linear: float = 0.0,
    center: bool = True,
    tolerance: float = 1e-6,
    max_rank: int | None = 64,
    basis: str = "kernel",
    seed: int = 0,
) -> Design:
    """Turn every column into a block of features whose products are its kernel matrix.

    Parameters
    ----------
    Z : (n, p) array
        Numeric columns scaled to about unit spread, categorical columns as integer codes, NaN where
        a value is missing.
    kinds : sequence of {"numeric", "categorical", "constant"}
        One per column. Constant columns get no features.
    kernel : {"gaussian", "matern32", "matern52", "laplacian"}
        Kernel of the numeric columns, with k(x, x) = 1. Categorical columns always use the kernel
        that is one for equal codes and zero for different ones.
    length : float, "auto" or (p,) array
        Kernel length; "auto" takes each column's median distance between unequal values.
    linear : float
        Weight of the kernel x x' that is added to each numeric kernel.
    center : bool
        Centre each kernel on the training rows, so that no block can act as an intercept. Without
        it a numeric column that does not vary has one constant feature, as in the literal model.
    tolerance : float
        Share of a kernel's trace (without its linear part) that a block may leave out.
    max_rank : int or None
        Most features per column. It matters for rough kernels and for columns with many isolated
        values, whose rank grows with n; ``Design.residuals`` shows what was cut.
    basis : {"kernel", "nystrom", "fourier", "auto"}
        How a numeric column's kernel becomes features: a factor that is exact to the tolerance, a
        fixed number of landmarks, or the paper's random Fourier features. "auto" is "kernel" up to
        20,000 rows and "nystrom" above.
    seed : int
        Of the random Fourier features.

    Returns
    -------
    Design

    Notes
    -----
    Rows where a value is missing are zero in that column's block, and the centre and the spectrum
    are those of the rows where it is present.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.column_stack([np.linspace(-2, 2, 40), np.arange(40) % 3, np.zeros(40)])
    >>> design = build_design(Z, ("numeric", "categorical", "constant"))
    >>> design.ranks
    array([8, 2, 0])
    >>> bool(np.allclose(design.evaluate(Z), design.features, atol=1e-8))
    True
    """
    require_design_options(kernel=kernel, linear=linear, tolerance=tolerance, max_rank=max_rank)
    kinds = read_kinds(kinds)
    table = read_table(Z, n_columns=len(kinds))
    if not table.shape[0]:
        raise InvalidInputError("Z has no rows; a design needs at least one.")
    lengths = auto_lengths(table, kinds) if isinstance(length, str) else np.empty(0)
    lengths = read_lengths(length, lengths, len(kinds))
    basis = resolve_basis(basis, table.shape[0])
    if basis == "fourier":
        require_gaussian(kernel)
    blocks = _build_blocks(
        table,
        kinds,
        lengths,
        kernel=kernel,
        linear=linear,
        center=center,
        tolerance=tolerance,
        max_rank=max_rank,
        basis=basis,
        seed=seed,
    )
    present = np.count_nonzero(~np.isnan(table), axis=0)
    return Design(
        features=np.concatenate([block.rows for block in blocks]).T,
        offsets=_offsets([block.spectrum.size for block in blocks]),
        spectra=np.concatenate([block.spectrum for block in blocks]),
        kinds=kinds,
        kernel=kernel,
        lengths=lengths,
        linear=float(linear),
        center=bool(center),
        residuals=np.array([block.residual for block in blocks]) / np.maximum(present, 1),
        pivots=np.concatenate([block.pivots for block in blocks]),
        pivot_offsets=_offsets([block.pivots.size for block in blocks]),
        transforms=np.concatenate([block.transform.ravel() for block in blocks]),
        transform_offsets=_offsets([block.transform.size for block in blocks]),
        slopes=np.concatenate([block.slope for block in blocks]),
        shifts=np.concatenate([block.shift for block in blocks]),
        basis=basis,
    )


def build_recipes(Z: FloatArray, kinds: Sequence[str], **options: Any) -> Design:
    """The design of a table with very many columns, without features of its rows.

    Columns are worked on in runs; what remains of each is the recipe that evaluates it.

    Parameters
    ----------
    Z, kinds, **options
        As for :func:`build_design`.

    Examples
    --------
    >>> Z = np.random.default_rng(0).normal(size=(30, 4))
    >>> recipes = build_recipes(Z, ("numeric",) * 4)
    >>> whole = build_design(Z, ("numeric",) * 4)
    >>> recipes.features.shape[0], bool(np.allclose(recipes.evaluate(Z), whole.features))
    (0, True)
    """
    seed, designs = int(options.pop("seed", 0)), []
    for part in column_chunks(Z.shape[1], Z.shape[0] * 32):
        run = slice(int(part[0]), int(part[-1]) + 1)
        values = np.ascontiguousarray(Z[:, run])
        design = build_design(values, kinds[run], seed=seed + run.start, **options)
        designs.append(design.without_rows())
    return join_designs(designs)


def resolve_basis(basis: str, n: int) -> str:
    """Basis that a name stands for with n rows.

    Examples
    --------
    >>> resolve_basis("auto", 500), resolve_basis("auto", 50_000), resolve_basis("fourier", 9)
    ('kernel', 'nystrom', 'fourier')
    """
    if basis not in BASES:
        listed = ", ".join(f'"{name}"' for name in BASES)
        raise InvalidInputError(f"basis={basis!r} is unknown; use one of {listed}.")
    if basis == "auto":
        return "kernel" if n <= _EXACT_ROWS else "nystrom"
    return basis


def _build_blocks(
    table: FloatArray,
    kinds: tuple[str, ...],
    lengths: FloatArray,
    *,
    kernel: str,
    linear: float,
    center: bool,
    tolerance: float,
    max_rank: int | None,
    basis: str,
    seed: int,
) -> list[Block]:
    numeric = np.array([j for j, kind in enumerate(kinds) if kind == "numeric"], dtype=np.intp)
    made = numeric_blocks(
        table,
        numeric,
        lengths,
        kernel=kernel,
        linear=linear,
        center=center,
        tolerance=tolerance,
        max_rank=max_rank,
        basis=basis,
        seed=seed,
    )
    by_column = dict(zip(numeric.tolist(), made, strict=True))
    for j, kind in enumerate(kinds):
        if kind == "categorical":
            by_column[j] = categorical_block(
                table[:, j], center=center, tolerance=tolerance, max_rank=max_rank
            )
        elif kind == "constant":
            by_column[j] = empty_block(table.shape[0])
    return [by_column[j] for j in range(len(kinds))]


def _offsets(sizes: list[int]) -> IntArray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
