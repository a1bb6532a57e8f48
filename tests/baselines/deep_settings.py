"""Settings with which the networks of the baselines learn small problems in a second."""

from __future__ import annotations

_NET = {"hidden": (20, 10), "max_iter": 100, "learning_rate": 0.01}
_CURRICULUM = {**_NET, "burn_in": 50, "ratio": 2}
_COLUMNS = {"max_iter": 100, "learning_rate": 0.1, "penalty": 0.02, "adaptive_penalty": 0.01}
_QUICK = {
    "DANClassifier": _COLUMNS,
    "DANRegressor": _COLUMNS,
    "FlexMatchClassifier": _CURRICULUM,
    "NPMatchClassifier": {**_CURRICULUM, "n_draws": 3},
    "SemiRewardClassifier": {**_CURRICULUM, "width": 16},
    "SemiRewardRegressor": {**_NET, "ratio": 2, "width": 16},
}


def quick(cls):
    """Arguments of a baseline; none for those without a network."""
    return _QUICK.get(cls.__name__, _NET) if "torch" in cls.requires else {}
