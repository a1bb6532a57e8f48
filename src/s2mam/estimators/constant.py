"""The model of labels that are all alike."""

from __future__ import annotations

import numpy as np

from s2mam.bases import build_design
from s2mam.estimators.fitted import Fitted
from s2mam.estimators.model import AdditiveModel, AdditivePart
from s2mam.estimators.rows import TrainingRows

__all__ = ["fit_constant", "is_constant"]


def is_constant(rows: TrainingRows) -> bool:
    """Whether all labelled rows have the same label."""
    return bool(np.all(rows.target == rows.target[0]))


def fit_constant(rows: TrainingRows) -> Fitted:
    """A model that always answers the only value there is; no column matters."""
    design = build_design(rows.tables[0], rows.kinds, max_rank=1)
    part = AdditivePart(rows.readers[0], design, np.zeros((int(design.offsets[-1]), 1)))
    p = len(rows.kinds)
    value = 0.0 if rows.classes is not None else float(rows.target[0])
    model = AdditiveModel((part,), np.full(1, value), clip=False)
    support = np.zeros(p, dtype=bool)
    return Fitted(model, np.zeros(p), support, {"criterion": []}, "one value")
