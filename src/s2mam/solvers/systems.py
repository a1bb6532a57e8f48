"""Which form of the ridge model to factorise."""

from __future__ import annotations

import numpy as np

from s2mam._typing import FloatArray, IntArray
from s2mam.solvers.prepared import PreparedProblem
from s2mam.solvers.ridge import ColumnSystem, RidgeSystem
from s2mam.solvers.ridge_outputs import SeparableSystem
from s2mam.solvers.ridge_rows import RowSystem

__all__ = ["make_system"]

# Columns whose ridge solution moves by less than this share stay out of the factorisation.
_ENERGY = 0.003
# Unknowns up to which outputs are factorised together.
_COUPLED_UNKNOWNS = 200


def make_system(
    prepared: PreparedProblem, groups: IntArray, scales: FloatArray, curvature: FloatArray
) -> RidgeSystem:
    """Factorise over rows when they are fewer than the columns that matter, else over columns."""
    ridge = np.repeat(scales, prepared.layout.sizes[groups])
    strong = ridge * prepared.energies(groups, curvature) > _ENERGY
    count = int(np.count_nonzero(strong))
    kind: type[RowSystem] | type[ColumnSystem] = ColumnSystem
    if prepared.scalar and prepared.quadratic is None and count > len(prepared.weights):
        kind = RowSystem
    elif (count + prepared.free.shape[1]) * prepared.outputs > _COUPLED_UNKNOWNS:
        kind = ColumnSystem if prepared.scalar else SeparableSystem
    return kind(prepared, groups, ridge, strong, curvature)
