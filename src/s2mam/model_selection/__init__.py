"""Splitters and scorers that respect unlabelled rows."""

from s2mam.model_selection.scoring import LabeledScorer, labeled_scorer
from s2mam.model_selection.splitters import (
    SemiSupervisedKFold,
    SemiSupervisedShuffleSplit,
    SemiSupervisedStratifiedKFold,
)

__all__ = [
    "LabeledScorer",
    "SemiSupervisedKFold",
    "SemiSupervisedShuffleSplit",
    "SemiSupervisedStratifiedKFold",
    "labeled_scorer",
]
