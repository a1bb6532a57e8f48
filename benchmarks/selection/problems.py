"""The problems of the selection study: generators with known informative columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from benchmarks.common.splits import Problem
from sklearn.utils import Bunch

from s2mam import datasets
from s2mam._typing import AnyArray
from s2mam.datasets import hide_labels

N_TRAIN = 200
N_TEST = 1000


@dataclass(frozen=True)
class Setting:
    """A generator and the number of labels.

    Attributes
    ----------
    title : str
        Heading of its table.
    make : callable
    options : dict
        Of the generator.
    labels : dict
        Of :func:`s2mam.datasets.hide_labels`.
    task : {"classification", "regression"}
    scored_on : {"y", "y_clean"}
        Targets of the scored rows: with or without noise.
    raw_differs : bool
        Whether the two readings of N(100, 100) make a difference to unscaled methods.
    """

    title: str
    make: Callable[..., Bunch]
    options: dict[str, Any]
    labels: dict[str, Any]
    task: str
    scored_on: str = "y"
    raw_differs: bool = False


@dataclass(frozen=True)
class Drawn:
    """One draw of a setting: the few-label problem and the truth about its columns.

    ``source`` is the informative original that each column carries, -1 for junk.
    """

    problem: Problem
    source: AnyArray
    informative: AnyArray = field(repr=False)

    @property
    def n_select(self) -> int:
        """Number of informative columns."""
        return int(self.informative.sum())


def _regression(title: str, make: Callable[..., Bunch], n: int, **options: Any) -> Setting:
    shown = {"n_labeled": n}
    return Setting(f"{title}, {n} labels", make, options, shown, "regression", "y_clean")


def _classes(title: str, make: Callable[..., Bunch], k: float, **options: Any) -> Setting:
    how = f"{k:g} a class" if k >= 1 else f"{k:.0%} of each class"
    return Setting(f"{title}, {how}", make, options, {"per_class": k}, "classification")


def _settings() -> dict[str, Setting]:
    found: dict[str, Setting] = {}
    for n in (25, 40, 50, 100):
        title = "Additive regression, 8 of 110"
        found[f"additive_{n}"] = _regression(title, datasets.make_additive_regression, n)
    for n in (25, 50, 100):
        setting = _regression("Friedman, 5 of 110", datasets.make_friedman, n)
        # Noisy test targets, as in the authors' study: the floor is 1.
        found[f"friedman_{n}"] = Setting(**{**vars(setting), "scored_on": "y"})
    for variant in ("code", "paper"):
        for k in (5, 10, 25):
            found[f"circle_{variant}_{k}"] = _classes(
                f"Additive classification ({variant}), 2 of 110",
                datasets.make_additive_classification,
                k,
                variant=variant,
            )
    found.update(_table_two())
    for k in (1, 5, 10):
        setting = _classes("Two moons, 2 of 20", datasets.make_moons, k)
        found[f"moons_{k}"] = Setting(**{**vars(setting), "raw_differs": True})
    found.update(_dependent_junk())
    found.update(_harder())
    return found


def _table_two() -> dict[str, Setting]:
    """2 informative, pu uninformative, pn noisy columns; the variants differ when pu > 0."""
    found = {}
    for pu, pn in ((0, 0), (10, 0), (0, 10), (10, 10)):
        for variant in ("code", "paper") if pu else ("code",):
            setting = _classes(
                f"Table 2 ({variant}), pu={pu}, pn={pn}",
                datasets.make_additive_classification,
                5,
                variant=variant,
                n_uninformative=pu,
                n_noisy=pn,
            )
            found[f"table2_{variant}_{pu}_{pn}"] = Setting(
                **{**vars(setting), "raw_differs": pn > 0}
            )
    return found


def _dependent_junk() -> dict[str, Setting]:
    """Junk columns that depend on one another: the rows alone do not tell them."""
    found = {}
    circle = partial(with_shadows, datasets.make_additive_classification, 54)
    moons = partial(with_shadows, datasets.make_moons, 9)
    for k in (5, 10, 25):
        title = "Additive classification, junk in pairs like the informative one, 2 of 110"
        found[f"circle_shadow_{k}"] = _classes(title, circle, k)
    for k in (1, 5, 10):
        title = "Two moons, nine others that say nothing, 2 of 20"
        found[f"moons_shadow_{k}"] = _classes(title, moons, k)
    title = "Additive regression, informative columns independent, junk in pairs, 8 of 110"
    found["additive_pairs_50"] = _regression(title, _additive_with_pairs, 50)
    return found


def with_shadows(
    make: Callable[..., Bunch], n_blocks: int, n_samples: int, *, random_state: int
) -> Bunch:
    """A problem whose junk columns are the informative columns of other draws of it."""
    drawn = [
        make(n_samples, 0, 0, random_state=random_state + 100_003 * block)
        for block in range(n_blocks + 1)
    ]
    data = drawn[0]
    n_informative = data.X.shape[1]
    data.X = np.hstack([block.X for block in drawn])
    data.informative = np.arange(data.X.shape[1]) < n_informative
    return data


def _additive_with_pairs(n_samples: int, *, random_state: int) -> Bunch:
    data = datasets.make_additive_regression(n_samples, 0, 0, random_state=random_state)
    rng = np.random.RandomState(random_state + 100_003)
    shared = np.repeat(rng.uniform(-1, 1, (n_samples, 51)), 2, axis=1)
    data.X = np.hstack([data.X, (shared + rng.uniform(-1, 1, shared.shape)) / 2])
    data.informative = np.arange(data.X.shape[1]) < 8
    return data


def _harder() -> dict[str, Setting]:
    make = datasets
    return {
        "correlated_ar1": _regression(
            "Correlated (AR 0.7), 4 of 50", make.make_correlated_regression, 50
        ),
        "correlated_block": _regression(
            "Correlated (blocks 0.7), 4 of 50",
            make.make_correlated_regression,
            50,
            structure="block",
        ),
        "duplicated": _regression(
            "Every informative column twice, 4 of 48", make.make_duplicated_regression, 50
        ),
        "interactions": _regression(
            "Interaction of 2 of the 5, of 45", make.make_interaction_regression, 50
        ),
        "heavy_tailed": _regression(
            "Noise t with 2 degrees, 4 of 50", make.make_heavy_tailed_regression, 50
        ),
        "wide_50": _regression("Wide, 4 of 2000", make.make_wide_regression, 50),
        "wide_100": _regression("Wide, 4 of 2000", make.make_wide_regression, 100),
        "label_noise": _classes(
            "Labels 10 % wrong, 4 of 50", make.make_noisy_label_classification, 25
        ),
        "imbalanced": _classes(
            "One class 10 %, 4 of 50", make.make_imbalanced_classification, 0.25
        ),
        "multiclass": _classes("Three classes, 6 of 50", make.make_multiclass_additive, 20),
    }


SETTINGS = _settings()


def draw(name: str, seed: int, *, reading: str = "sd") -> Drawn:
    """Training and fresh test rows of a setting, from one draw of the generator."""
    setting = SETTINGS[name]
    options = dict(setting.options)
    if reading != "sd":
        options["noisy_reading"] = reading
    data = setting.make(N_TRAIN + N_TEST, random_state=5000 + seed, **options)
    X, y = np.asarray(data.X), np.asarray(data.y)
    shown = hide_labels(y[:N_TRAIN], random_state=seed, **setting.labels)
    labeled = shown >= 0 if setting.task == "classification" else ~np.isnan(shown)
    scored = np.asarray(data[setting.scored_on])
    # Rows that are scored may have clean targets; rows that are shown have the drawn ones.
    known = np.where(labeled, y[:N_TRAIN], scored[:N_TRAIN])
    problem = Problem(X[:N_TRAIN], known, labeled, X[N_TRAIN:], scored[N_TRAIN:], setting.task)
    informative = np.asarray(data.informative)
    source = np.where(informative, np.arange(len(informative)), -1)
    return Drawn(problem, np.asarray(data.get("source", source)), informative)
