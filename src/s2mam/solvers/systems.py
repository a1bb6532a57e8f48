"""Which form of the ridge model to factorise."""

from __future__ import annotations

import numpy as np

from s2mam._typing import FloatArray
from s2mam.solvers.bend import Bend
from s2mam.solvers.prepared import PreparedProblem
from s2mam.solvers.ridge import ColumnSystem, RidgeSystem
from s2mam.solvers.ridge_outputs import CoupledSystem, SeparableSystem
from s2mam.solvers.ridge_rows import RowSystem

__all__ = ["make_system"]

# Columns whose ridge solution moves by less than this share stay out of the factorisation.
_ENERGY = 0.003
# The sum of the eigenvalues (none of the ridge's own is below one) up to which a factor in single
# precision is a good start for refinement.
_SINGLE_TRACE = 1e5
# Unknowns up to which outputs are factorised together.
_COUPLED_UNKNOWNS = 200


def make_system(
    prepared: PreparedProblem, scales: FloatArray, bend: Bend, last: RidgeSystem | None = None
) -> RidgeSystem:
    """Ridge model at ``scales`` (one per group of the problem), over the groups that have any.

    Factorised over rows when they are fewer than the columns that matter, else over columns. The
    factor of ``last`` is used again where the scales have hardly moved.
    """
    block = prepared.working.include(scales.nonzero()[0])
    chosen, free = scales[block.groups], prepared.free.shape[1]
    energies = prepared.layout.spread(chosen, block.groups) * prepared.energies(block, bend)
    strong = energies > _ENERGY
    count = int(np.count_nonzero(strong))
    single = float(energies.sum()) < _SINGLE_TRACE
    if prepared.scalar and prepared.quadratic is None and count > len(prepared.weights):
        near = last if isinstance(last, RowSystem) and last.is_near(block, chosen, bend) else None
        return RowSystem(prepared, block, chosen, strong, bend, single=single, near=near)
    kind = ColumnSystem
    if not prepared.scalar:
        coupled = (count + free) * prepared.outputs <= _COUPLED_UNKNOWNS
        kind = CoupledSystem if coupled else SeparableSystem
    return kind(prepared, block, chosen, strong, bend, single=single)
