"""Which form of the ridge model to factorise."""

from __future__ import annotations

import numpy as np

from s2mam._typing import FloatArray
from s2mam.solvers.bend import Bend
from s2mam.solvers.prepared import PreparedProblem
from s2mam.solvers.ridge import ColumnSystem, RidgeSystem
from s2mam.solvers.ridge_outputs import CoupledSystem, SeparableSystem
from s2mam.solvers.ridge_rows import RowSystem
from s2mam.solvers.ridge_shared import SharedSystem

__all__ = ["make_system"]

# Columns whose ridge solution moves by less than this share stay out of the factorisation.
_ENERGY = 0.003
# The sum of the eigenvalues (none of the ridge's own is below one) up to which a factor in single
# precision is a good start for refinement.
_SINGLE_TRACE = 1e5
# Unknowns up to which outputs are factorised together.
_COUPLED_UNKNOWNS = 200
# Unknowns from which outputs share what they have in common, and how many times as many columns as
# rows that takes without and with a quadratic term, whose factor is over columns all the same.
_SHARED_UNKNOWNS = 2000
_SHARED_COLUMNS = (1, 5)


def make_system(
    prepared: PreparedProblem, scales: FloatArray, bend: Bend, last: RidgeSystem | None = None
) -> RidgeSystem:
    """Ridge model at ``scales`` (one per group of the problem), over the groups that have any.

    Factorised over rows when they are fewer than the columns that matter, else over columns. The
    factor of ``last`` is used again where the scales have hardly moved.
    """
    block = prepared.working.include(scales.nonzero()[0])
    chosen = scales[block.groups]
    energies = prepared.layout.spread(chosen, block.groups) * prepared.energies(block, bend)
    strong = energies > _ENERGY
    count = int(np.count_nonzero(strong))
    single = float(energies.sum()) < _SINGLE_TRACE
    if prepared.scalar and prepared.quadratic is None and count > len(prepared.weights):
        near = last if isinstance(last, RowSystem) and last.is_near(block, chosen, bend) else None
        return RowSystem(prepared, block, chosen, strong, bend, single=single, near=near)
    kind = ColumnSystem if prepared.scalar else _kind_for_outputs(prepared, count)
    return kind(prepared, block, chosen, strong, bend, single=single)


def _kind_for_outputs(prepared: PreparedProblem, count: int) -> type[ColumnSystem]:
    """Form for several outputs, with so many grouped columns that matter."""
    unknowns = (count + prepared.free.shape[1]) * prepared.outputs
    if unknowns <= _COUPLED_UNKNOWNS:
        return CoupledSystem
    least = _SHARED_COLUMNS[prepared.quadratic is not None] * len(prepared.weights)
    many = unknowns > _SHARED_UNKNOWNS and count > least
    return SharedSystem if many and not prepared.free_columns.size else SeparableSystem
