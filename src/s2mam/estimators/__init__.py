"""What users touch: estimators with and without learned masks."""

from s2mam.estimators.additive import ManifoldAdditiveClassifier, ManifoldAdditiveRegressor
from s2mam.estimators.s2mam import S2MAMClassifier, S2MAMRegressor

__all__ = [
    "ManifoldAdditiveClassifier",
    "ManifoldAdditiveRegressor",
    "S2MAMClassifier",
    "S2MAMRegressor",
]
