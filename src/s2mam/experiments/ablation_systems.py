"""The variants of the ablation study, by what they leave out or exchange."""

from __future__ import annotations

from typing import Any, Final

from s2mam.experiments.systems import System, register_system

__all__ = ["VARIANTS"]

_CLASSES: Final = {
    "classification": "s2mam.experiments.ablation_model:AblationClassifier",
    "regression": "s2mam.experiments.ablation_model:AblationRegressor",
}
_SETTINGS: Final[dict[str, dict[str, Any]]] = {
    "exact gradient, evidence, polish": {},
    "no polish": {"polish": False},
    "criterion: leave-one-out": {"criterion": "loo"},
    "draws: 1, no baseline": {"search": "reinforce", "polish": False},
    **{f"draws: {n}": {"search": "rloo", "n_masks": n, "polish": False} for n in (2, 5, 10, 20)},
    "draws: 5, polish": {"search": "rloo"},
    "draws: 5, labelled loss": {"search": "rloo", "criterion": "labeled"},
    "draws: 5, held-out loss": {"search": "rloo", "criterion": "fit_loo"},
    "draws: 5, held-out loss, masked graph": {
        "search": "rloo",
        "criterion": "fit_loo",
        "graph": "masked",
    },
    "draws: 5, held-out loss, fixed graph": {
        "search": "rloo",
        "criterion": "fit_loo",
        "graph": "fixed",
    },
    "masked graph": {"graph": "masked"},
    "fixed graph": {"graph": "fixed"},
}
#: Names of the variants, in the order of the table.
VARIANTS: Final = tuple(_SETTINGS)

for _name, _settings in _SETTINGS.items():
    register_system(System(_name, _CLASSES, settings=_settings))
