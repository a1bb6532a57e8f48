"""Semi-supervised meta additive models: few labels, many rows, many junk columns."""

from s2mam import datasets, exceptions, model_selection
from s2mam._version import __version__
from s2mam.bilevel.paper import PAPER
from s2mam.estimators import (
    ManifoldAdditiveClassifier,
    ManifoldAdditiveRegressor,
    S2MAMClassifier,
    S2MAMRegressor,
)
from s2mam.persistence import load

__all__ = [
    "PAPER",
    "ManifoldAdditiveClassifier",
    "ManifoldAdditiveRegressor",
    "S2MAMClassifier",
    "S2MAMRegressor",
    "__version__",
    "datasets",
    "exceptions",
    "load",
    "model_selection",
]
