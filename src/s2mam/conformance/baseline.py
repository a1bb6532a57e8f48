"""Laws that every baseline obeys, so that studies can treat all of them alike."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from s2mam._typing import AnyArray, FloatArray
from s2mam.conformance.laws import ConformanceError, obey, require
from s2mam.exceptions import InvalidInputError, NoLabelsError

__all__ = ["check_baseline"]

_ROWS, _COLUMNS = 48, 4
_MOST_SETTINGS = 16


def check_baseline(estimator: Any, *, skip: Collection[str] = ()) -> list[str]:
    """Check that a learner can take part in the studies beside the baselines of the package.

    Parameters
    ----------
    estimator : estimator
        Not fitted, with settings that make it quick; a `random_state` should be a number. Fitted
        about ten times, to 48 rows and 4 columns. Deriving from the classes in
        ``s2mam.baselines.base`` gives most of what is asked for.
    skip : collection of str
        Names of laws to leave out.

    Returns
    -------
    list of str
        Names of the laws that hold: "facts", "constructor", "answers", "same again",
        "hidden labels", "inductive", "columns", "names", "mixed tables", "all rows labelled",
        "several classes", "clear errors", "copies", "input is left alone".

    Raises
    ------
    ConformanceError
        At the first law that is broken.

    Examples
    --------
    >>> from s2mam.baselines import all_baselines
    >>> from s2mam.conformance import check_baseline
    >>> "hidden labels" in check_baseline(all_baselines("regression")["Lasso"]())
    True
    """
    return obey(_BaselineLaws(estimator).all(), skip)


class _BaselineLaws:
    def __init__(self, estimator: Any) -> None:
        rng = np.random.default_rng(0)
        self.estimator = estimator
        self.classes = bool(is_classifier(estimator))
        self.X = rng.normal(size=(_ROWS, _COLUMNS))
        self.signal = self.X[:, 0] + 0.5 * self.X[:, 1]
        self.hidden = np.arange(_ROWS) % 2 == 1
        self.model: Any = None

    def all(self) -> dict[str, Callable[[], None]]:
        return {
            "facts": self.facts,
            "constructor": self.constructor,
            "answers": self.answers,
            "same again": self.again,
            "hidden labels": self.marks,
            "inductive": self.inductive,
            "columns": self.columns,
            "names": self.names,
            "mixed tables": self.mixed,
            "all rows labelled": self.all_labeled,
            "several classes": self.several,
            "clear errors": self.errors,
            "copies": self.copies,
            "input is left alone": self.untouched,
        }

    # ---- what the laws share ----
    def truth(self, n_classes: int = 2) -> AnyArray:
        if not self.classes:
            return self.signal
        cuts = np.quantile(self.signal, np.arange(1, n_classes) / n_classes)
        return np.array(["low", "mid", "high"], dtype=object)[np.digitize(self.signal, cuts)]

    def marked(self, truth: AnyArray | None = None) -> AnyArray:
        y = (self.truth() if truth is None else truth).astype(object)
        y[self.hidden] = None
        return y if self.classes else y.astype(np.float64)

    def fit(self, X: Any = None, y: Any = None) -> Any:
        fresh = clone(self.estimator)
        return fresh.fit(self.X.copy() if X is None else X, self.marked() if y is None else y)

    def fitted(self) -> Any:
        if self.model is None:
            self.model = self.fit()
        return self.model

    def frame(self, X: FloatArray, names: str = "abcd") -> Any:
        try:
            import pandas as pd
        except ImportError:  # names can be checked only where a library has them
            return None
        return pd.DataFrame(X, columns=list(names))

    # ---- the laws ----
    def facts(self) -> None:
        kind = type(self.estimator)
        require(getattr(kind, "paper_name", ""), "paper_name is empty")
        for name in ("inductive", "selects_columns"):
            require(isinstance(getattr(kind, name, None), bool), f"{name} is not a bool")
        grid = dict(getattr(kind, "grid", {}))
        unknown = set(grid) - set(self.estimator.get_params())
        require(not unknown, f"grid names {sorted(unknown)}, which are no parameters")
        size = int(np.prod([len(values) for values in grid.values()]))
        require(1 <= size <= _MOST_SETTINGS, f"grid has {size} settings; 1 to 16 are tried")

    def constructor(self) -> None:
        absent = {"scale", "categorical", "unlabeled"} - set(self.estimator.get_params())
        require(not absent, f"the constructor lacks {sorted(absent)}")
        copy = clone(self.estimator)
        same = repr(copy.get_params()) == repr(self.estimator.get_params())
        require(same, "a clone has other parameters: store arguments as they are")
        learned = [name for name in vars(copy) if name.endswith("_") and not name.startswith("_")]
        require(not learned, f"the constructor sets {learned}, which fit should learn")

    def answers(self) -> None:
        model = self.fitted()
        require(model.n_labeled_ == _ROWS // 2, f"n_labeled_ is {model.n_labeled_}, not 24")
        require(model.n_features_in_ == _COLUMNS, f"n_features_in_ is {model.n_features_in_}")
        for what, values in (
            ("transduction_", model.transduction_),
            ("predict(X)", model.predict(self.X)),
        ):
            require(np.shape(values) == (_ROWS,), f"{what} has shape {np.shape(values)}")
            if self.classes:
                require(set(values) <= set(model.classes_), f"{what} holds unknown classes")
            else:
                require(np.isfinite(values).all(), f"{what} is not finite")

    def marks(self) -> None:
        """None, NaN and, among whole numbers, -1 mark the same rows, and are no labels."""
        expected = self.fitted().transduction_
        for mark in (None, float("nan")):
            y = self.truth().astype(object)
            y[self.hidden] = mark
            same = _alike(self.fit(y=y).transduction_, expected)
            require(same, f"rows marked by {mark} are not learned from as unlabelled rows are")
        if self.classes:
            codes = np.where(self.truth() == "low", 0, 1)
            numbered = self.fit(y=np.where(self.hidden, -1, codes))
            found = sorted(numbered.classes_.tolist())
            require(found == [0, 1], f"classes_ is {found} where -1 marks the unlabelled rows")

    def again(self) -> None:
        one, two = self.fitted().predict(self.X), self.fit().predict(self.X)
        require(np.array_equal(one, two), "two fits to the same rows predict differently")

    def inductive(self) -> None:
        if not type(self.estimator).inductive:
            return
        model = self.fitted()
        few = model.predict(self.X[:5])
        require(_alike(few, model.predict(self.X)[:5]), "a prediction depends on the other rows")

    def columns(self) -> None:
        model = self.fitted()
        if not type(self.estimator).selects_columns:
            return
        support, weights = np.asarray(model.get_support()), np.asarray(model.feature_weights_)
        require(support.shape == (_COLUMNS,), f"get_support() has shape {support.shape}")
        require(support.dtype == bool, "get_support() is not of type bool")
        require(weights.shape == (_COLUMNS,), f"feature_weights_ has shape {weights.shape}")
        require((weights >= 0.0).all(), "feature_weights_ has negative numbers")
        unused = weights == 0.0
        changed = np.where(unused, self.X[::-1] + 1.0, self.X)
        if type(self.estimator).inductive and unused.any():
            same = _alike(model.predict(changed), model.predict(self.X))
            require(same, "columns of weight zero change predictions")

    def names(self) -> None:
        frame = self.frame(self.X)
        if frame is None:
            return
        model = self.fit(X=frame)
        seen = list(getattr(model, "feature_names_in_", []))
        require(seen == list("abcd"), f"feature_names_in_ is {seen} for columns a, b, c, d")
        _refuses(lambda: model.predict(self.frame(self.X, "abcx")), "columns of other names")

    def mixed(self) -> None:
        frame = self.frame(self.X)
        if frame is None:
            return
        frame.loc[3, "a"] = np.nan
        frame["d"] = np.where(self.X[:, 3] > 0.0, "up", "down")
        values = self.fit(X=frame).predict(frame)
        require(np.shape(values) == (_ROWS,), "a table with categories and gaps is not predicted")
        require(self.classes or np.isfinite(values).all(), "gaps give numbers that are not finite")

    def all_labeled(self) -> None:
        model = self.fit(y=self.truth())
        require(model.n_labeled_ == _ROWS, f"n_labeled_ is {model.n_labeled_} for {_ROWS} labels")

    def several(self) -> None:
        if not self.classes:
            return
        model = self.fit(y=self.marked(self.truth(3)))
        found = sorted(model.classes_)
        require(found == ["high", "low", "mid"], f"classes_ is {found}")
        shape = np.shape(model.decision_function(self.X))
        require(shape == (_ROWS, 3), f"decision_function has shape {shape} for three classes")

    def errors(self) -> None:
        nothing = np.full(_ROWS, None) if self.classes else np.full(_ROWS, np.nan)
        _refuses(lambda: self.fit(y=nothing), "a target without labels", NoLabelsError)
        fresh = clone(self.estimator)
        _refuses(lambda: fresh.fit(self.X, None), "no target at all", InvalidInputError)
        _refuses(lambda: self.fit(X=self.X[:10]), "more labels than rows")

    def copies(self) -> None:
        model = self.fitted()
        try:
            loaded = pickle.loads(pickle.dumps(model))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise ConformanceError(f"a fitted model cannot be pickled: {error}") from error
        same = np.array_equal(loaded.predict(self.X), model.predict(self.X))
        require(same, "a pickled copy predicts differently")

    def untouched(self) -> None:
        X, y = self.X.copy(), self.marked()
        self.fit(X=X, y=y)
        same = np.array_equal(X, self.X) and repr(y.tolist()) == repr(self.marked().tolist())
        require(same, "fit wrote to X or y")


def _alike(one: Any, two: Any) -> bool:
    a, b = np.asarray(one), np.asarray(two)
    if a.dtype.kind == "f":
        return bool(np.allclose(a, b, rtol=1e-6, atol=1e-8))
    return bool(np.array_equal(a, b))


def _refuses(action: Callable[[], Any], what: str, kind: type[Exception] = ValueError) -> None:
    try:
        action()
    except kind:
        return
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        require(False, f"{what} raises {type(error).__name__}, not {kind.__name__}")
    require(False, f"{what} is not refused")
