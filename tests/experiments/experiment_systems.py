"""Tiny systems and protocols for the tests of the runner."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from s2mam.experiments import Corruption, Labels, Protocol, Rows, Setting, Source, System

MODULE = "experiment_systems"


class _Nearest(BaseEstimator):
    """Mean label of the nearest labelled rows."""

    grid: ClassVar = {"k": (1, 3)}

    def __init__(self, k=1, pause=0.0, random_state=None):
        self.k = k
        self.pause = pause
        self.random_state = random_state

    def _keep(self, X, y, labeled):
        time.sleep(self.pause)
        self.X_, self.y_ = X[labeled], y[labeled]
        self.support_ = np.arange(X.shape[1]) < 1
        return self

    def _near(self, X):
        distances = ((X[:, None] - self.X_[None]) ** 2).sum(axis=2)
        return self.y_[np.argsort(distances, axis=1, kind="stable")[:, : self.k]]


class NearestClassifier(ClassifierMixin, _Nearest):
    def fit(self, X, y):
        return self._keep(X, y, y >= 0)

    def predict(self, X):
        return np.array([np.bincount(labels).argmax() for labels in self._near(X)])


class NearestRegressor(RegressorMixin, _Nearest):
    def fit(self, X, y):
        return self._keep(X, y, ~np.isnan(y))

    def predict(self, X):
        return self._near(X).mean(axis=1)


class _Raises(BaseEstimator):
    def __init__(self, kind="ValueError"):
        self.kind = kind

    def fit(self, X, y):
        raise {"ValueError": ValueError, "KeyError": KeyError}[self.kind]("no such luck")


class RaisingClassifier(ClassifierMixin, _Raises):
    pass


class SpinningClassifier(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        end = time.process_time() + 20.0
        while time.process_time() < end:
            pass
        return self


class InfiniteRegressor(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), np.inf)


def system(name, classifier, regressor=None, **settings):
    classes = {"classification": f"{MODULE}:{classifier}"}
    if regressor is not None:
        classes["regression"] = f"{MODULE}:{regressor}"
    return System(name, classes, settings=settings)


NEAREST = system("nearest", "NearestClassifier", "NearestRegressor")
SLOW = replace(system("slow nearest", "NearestClassifier", pause=0.05), grid={})
FAILING = system("failing", "RaisingClassifier")
BROKEN = system("broken", "RaisingClassifier", kind="KeyError")
SPINNING = system("spinning", "SpinningClassifier")
INFINITE = System("infinite", {"regression": f"{MODULE}:InfiniteRegressor"})


def moons(name="moons", n_noisy=0, **changes):
    source = Source("generator", "make_moons", {"n_uninformative": 0, "n_noisy": 0})
    return Setting(
        name,
        "classification",
        source,
        Rows(40, 30),
        Labels(per_class=4),
        Corruption(0, n_noisy),
        **changes,
    )


def friedman(name="friedman", **changes):
    source = Source("generator", "make_friedman", {"n_uninformative": 2, "n_noisy": 0})
    changes = {"metric": "mse", **changes}
    return Setting(name, "regression", source, Rows(40, 30), Labels(n_labeled=12), **changes)


def protocol(*systems, settings=None, **changes):
    from s2mam.experiments import register_system

    for entry in systems:
        if isinstance(entry, System):
            register_system(entry)
    names = tuple(entry.name if isinstance(entry, System) else entry for entry in systems)
    settings = settings or (moons(), moons("noisy", n_noisy=2))
    changes = {"repeats": 3, **changes}
    return Protocol("try", "A try", tuple(settings), names, **changes)


def killed_run(path):
    """Run slowly in a process that will be killed."""
    from s2mam.experiments import CellStore, run_protocol

    run_protocol(protocol("null", SLOW, repeats=20), CellStore(path))
    os._exit(0)
