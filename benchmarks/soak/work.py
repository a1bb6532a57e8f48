"""One random piece of work: a table, an estimator, a fit, a file, sometimes a fault."""

from __future__ import annotations

import tempfile
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import s2mam
from s2mam import (
    PAPER,
    ManifoldAdditiveClassifier,
    ManifoldAdditiveRegressor,
    S2MAMClassifier,
    S2MAMRegressor,
)
from s2mam.baselines import all_baselines
from s2mam.exceptions import S2MAMError, S2MAMWarning

__all__ = ["Worker"]

_LEARNERS: dict[str, dict[str, Any]] = {
    "posterior": {"max_iter": 20},
    "relaxed": {"mask_learner": "relaxed"},
    "rloo": {"mask_learner": "rloo", "max_iter": 20},
    "paper": {**PAPER, "max_iter": 3, "sparsity": 0.02},
    "base": {},
}

#: Pieces of work; fits with masks are drawn twice as often as the others.
KINDS = ("masked", "base", "baseline", "fault")


class Worker:
    """Draws and does pieces of work; counts them by kind.

    Parameters
    ----------
    seed : int
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._baselines = {
            name: cls
            for name, cls in all_baselines().items()
            if all(find_spec(package) for package in cls.requires)
        }
        self._folder = tempfile.TemporaryDirectory()
        # Not Python's own numbers: those above 256 are blocks, and would look like growth.
        self._counts = np.zeros(len(KINDS), dtype=np.int64)

    def step(self) -> str:
        """Do one piece of work and return its kind."""
        kind = str(self._rng.choice([*KINDS, "masked"]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", S2MAMWarning)
            getattr(self, f"_{kind}")()
        self._counts[KINDS.index(kind)] += 1
        return kind

    @property
    def counts(self) -> dict[str, int]:
        """Pieces of work that were done, by kind."""
        return dict(zip(KINDS, self._counts.tolist(), strict=True))

    def _table(self, classification: bool) -> tuple[Any, Any]:
        rng = self._rng
        n, p = int(rng.integers(20, 200)), int(rng.integers(1, 25))
        X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-6, 7, size=p)
        X[rng.random(X.shape) < 0.05 * rng.random()] = np.nan
        signal = np.nan_to_num(X[:, 0]) / np.nanstd(X[:, 0]) + 0.3 * rng.normal(size=n)
        hidden = rng.random(n) < rng.uniform(0.0, 0.8)
        hidden[:8] = False
        if not classification:
            return X, np.where(hidden, np.nan, signal)
        cuts = np.quantile(signal, [0.5] if rng.random() < 0.5 else [0.33, 0.67])
        classes = np.digitize(signal, cuts)
        classes[:3] = [0, 1, min(2, len(cuts))]
        return X, np.where(hidden, -1, classes)

    def warm_up(self) -> None:
        """Every learner and baseline once, so that what they import is no growth."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", S2MAMWarning)
            for name in self._baselines:
                self._fit_baseline(name)
            for classification in (False, True):
                for learner in ("posterior", "relaxed", "rloo", "paper"):
                    self._fit_masked(learner, classification)
                self._fit_base(classification)
            self._fault()

    def fit_base(self) -> None:
        """One fit of the base model, with its file."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", S2MAMWarning)
            self._base()

    def _masked(self) -> None:
        learner = str(self._rng.choice(["posterior", "posterior", "relaxed", "rloo", "paper"]))
        self._fit_masked(learner, bool(self._rng.random() < 0.5))

    def _fit_masked(self, learner: str, classification: bool) -> None:
        kind = S2MAMClassifier if classification else S2MAMRegressor
        settings = dict(_LEARNERS[learner], random_state=int(self._rng.integers(1000)))
        if self._rng.random() < 0.3:
            settings["checkpoint"] = Path(self._folder.name) / "fit.ckpt"
        self._use(kind(**settings), *self._table(classification))
        if "checkpoint" in settings:
            Path(settings["checkpoint"]).unlink(missing_ok=True)

    def _base(self) -> None:
        self._fit_base(bool(self._rng.random() < 0.5))

    def _fit_base(self, classification: bool) -> None:
        kind = ManifoldAdditiveClassifier if classification else ManifoldAdditiveRegressor
        self._use(kind(), *self._table(classification))

    def _use(self, model: Any, X: Any, y: Any) -> None:
        model.fit(X, y)
        path = Path(self._folder.name) / "model.s2mam"
        model.save(path)
        loaded = s2mam.load(path)
        if not np.array_equal(loaded.predict(X), model.predict(X)):
            raise AssertionError("a loaded model predicts something else")
        if not np.isfinite(model.contributions(X)).all():
            raise AssertionError("a contribution is not finite")

    def _baseline(self) -> None:
        self._fit_baseline(str(self._rng.choice(sorted(self._baselines))))

    def _fit_baseline(self, name: str) -> None:
        model = self._baselines[name]()
        X, y = self._table(hasattr(model, "decision_function"))
        model.fit(X[:, :8], y)
        model.predict(X[:, :8])

    def _fault(self) -> None:
        """Fits and loads that fail must not keep anything either."""
        path = Path(self._folder.name) / "broken.s2mam"
        X, y = self._table(False)
        try:
            if self._rng.random() < 0.5:
                X[0, 0] = np.inf
                S2MAMRegressor().fit(X, y)
            else:
                path.write_bytes(self._rng.bytes(2000))
                s2mam.load(path)
        except S2MAMError:
            return
        raise AssertionError("a fault went through")
