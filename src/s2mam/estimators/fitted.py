"""What a learner hands to an estimator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from s2mam._typing import BoolArray, FloatArray
from s2mam.estimators.model import FittedModel

__all__ = ["Fitted"]


@dataclass(frozen=True)
class Fitted:
    """Result of a fit.

    Attributes
    ----------
    model : FittedModel
        Predicts.
    probabilities : (p,) array
        Mask probabilities.
    support : (p,) array of bool
        Selected columns.
    history : dict of lists
        Per iteration.
    stop_reason : str
        Why the learner stopped.
    chosen : dict
        Settings that were chosen from the data.
    """

    model: FittedModel
    probabilities: FloatArray
    support: BoolArray
    history: dict[str, list[float]]
    stop_reason: str
    chosen: dict[str, Any] = field(default_factory=dict)
