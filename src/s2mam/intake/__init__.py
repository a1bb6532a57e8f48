"""Rows in: unlabelled markers, column names and kinds, scaling, missing values, weights."""

from s2mam.intake.columns import ColumnInfo
from s2mam.intake.labels import (
    LabeledTarget,
    read_classification_target,
    read_regression_target,
)
from s2mam.intake.markers import find_unlabeled
from s2mam.intake.table import TableReader
from s2mam.intake.weights import read_weights

__all__ = [
    "ColumnInfo",
    "LabeledTarget",
    "TableReader",
    "find_unlabeled",
    "read_classification_target",
    "read_regression_target",
    "read_weights",
]
