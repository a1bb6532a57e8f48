"""The model of labels that are all of one class."""

from __future__ import annotations

import numpy as np

from s2mam.bases import build_design
from s2mam.estimators.fitted import Fitted
from s2mam.estimators.model import AdditiveModel, AdditivePart
from s2mam.estimators.rows import TrainingRows

__all__ = ["fit_constant"]


def fit_constant(rows: TrainingRows) -> Fitted:
    """A model that always answers the only class there is; no column matters."""
    design = build_design(rows.tables[0], rows.kinds, max_rank=1)
    part = AdditivePart(rows.readers[0], design, np.zeros((int(design.offsets[-1]), 1)))
    p = len(rows.kinds)
    model = AdditiveModel((part,), np.zeros(1), clip=False)
    support = np.zeros(p, dtype=bool)
    return Fitted(model, np.zeros(p), support, {"criterion": []}, "one class")
