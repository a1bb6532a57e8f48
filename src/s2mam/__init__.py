"""Semi-supervised meta additive models: few labels, many rows, many junk columns."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from s2mam._version import __version__

if TYPE_CHECKING:
    from s2mam import baselines, datasets, exceptions, inspection, model_selection
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
    "baselines",
    "datasets",
    "exceptions",
    "inspection",
    "load",
    "model_selection",
]

# Names are imported when they are first asked for, so that the command line answers --help and
# the Tab key at once; scikit-learn alone takes a second.
_HOMES = {
    "PAPER": "s2mam.bilevel.paper",
    "ManifoldAdditiveClassifier": "s2mam.estimators",
    "ManifoldAdditiveRegressor": "s2mam.estimators",
    "S2MAMClassifier": "s2mam.estimators",
    "S2MAMRegressor": "s2mam.estimators",
    "load": "s2mam.persistence",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in __all__:
        value = import_module(f"s2mam.{name}")
    else:
        raise AttributeError(f"module 's2mam' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
