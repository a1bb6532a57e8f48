"""What every baseline promises, whatever its method."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from deep_settings import quick
from sklearn.base import clone

from s2mam.baselines import all_baselines
from s2mam.baselines.base import BaselineClassifier
from s2mam.exceptions import InvalidInputError, NoLabelsError

SYSTEMS = all_baselines()
CLASSIFIERS = {name: cls for name, cls in SYSTEMS.items() if issubclass(cls, BaselineClassifier)}


def _names(systems):
    """Names as test parameters; those of networks need torch."""
    return [
        pytest.param(name, marks=[getattr(pytest.mark, package) for package in cls.requires])
        for name, cls in systems.items()
    ]


def _is_classifier(cls):
    return issubclass(cls, BaselineClassifier)


def _make(cls, **more):
    known = cls().get_params()
    more = {**quick(cls), **more}
    if "random_state" in known:
        more["random_state"] = 0
    return cls(**more)


def _data(cls, n=40, classes=2):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    signal = X[:, 0] + 0.5 * X[:, 1]
    if _is_classifier(cls):
        y = np.digitize(signal, np.quantile(signal, np.arange(1, classes) / classes))
        hidden = np.arange(n) % 2 == 1
        return X, np.where(hidden, -1, y), y, hidden
    hidden = np.arange(n) % 2 == 1
    return X, np.where(hidden, np.nan, signal), signal, hidden


def test_the_paper_systems_are_all_there():
    classification = set(all_baselines("classification"))
    regression = set(all_baselines("regression"))
    assert classification >= {
        *("l1-SVM", "SpAM", "CSAM", "TSpAM", "LapSVM", "LapRLS", "f-FME", "r-FME", "RLSR"),
        *("AWSSL", "RGL", "SALE", "RER", "Culp", "PBCS", "Borsos"),
        *("DAN", "SSNP", "FlexMatch", "SemiReward"),
    }
    assert regression >= {
        *("Lasso", "SpAM", "TSpAM", "LapRLS", "f-FME", "r-FME", "AWSSL", "RER", "Culp"),
        *("COREG", "PBCS", "Borsos", "DAN", "SemiReward", "VAE", "SSDKL", "PLF"),
    }
    with pytest.raises(InvalidInputError, match="task"):
        all_baselines("ranking")


@pytest.mark.parametrize("name", SYSTEMS)
def test_facts_are_stated(name):
    cls = SYSTEMS[name]
    assert cls.paper_name
    assert cls.task == ("classification" if _is_classifier(cls) else "regression")
    assert isinstance(cls.inductive, bool)
    assert isinstance(cls.selects_columns, bool)
    parameters = cls().get_params()
    assert {"scale", "categorical", "unlabeled"} <= parameters.keys()
    assert set(cls.grid) <= parameters.keys()
    assert 1 <= np.prod([len(values) for values in cls.grid.values()]) <= 16
    assert cls.__doc__ is not None
    assert "Examples" in cls.__doc__


@pytest.mark.parametrize("name", _names(SYSTEMS))
def test_hidden_labels_are_never_read(name):
    """The marker stands where the label was: any garbage behind it cannot be seen."""
    cls = SYSTEMS[name]
    X, marked, truth, hidden = _data(cls)
    names = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    one = _make(cls).fit(names, marked)
    garbage = np.where(hidden, truth[::-1], truth).astype(object)
    garbage[hidden] = None
    two = _make(cls).fit(names, garbage)
    np.testing.assert_array_equal(one.predict(names), two.predict(names))
    np.testing.assert_array_equal(one.transduction_, two.transduction_)
    assert one.transduction_.shape == (40,)
    assert list(one.feature_names_in_) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("name", _names(SYSTEMS))
def test_better_than_guessing_and_same_bits_again(name):
    cls = SYSTEMS[name]
    X, marked, truth, hidden = _data(cls, n=80)
    model = _make(cls).fit(X, marked)
    again = clone(model).fit(X, marked)
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    assert model.score(X[hidden], truth[hidden]) > (0.6 if _is_classifier(cls) else 0.1)
    if cls.selects_columns:
        assert model.get_support().shape == (4,)
        assert model.feature_weights_.shape == (4,)
    else:
        with pytest.raises(InvalidInputError, match="does not select"):
            model.get_support()


@pytest.mark.parametrize("name", _names(CLASSIFIERS))
def test_three_classes(name):
    cls = SYSTEMS[name]
    X, marked, truth, hidden = _data(cls, n=90, classes=3)
    labels = np.array(["low", "middle", "high"], dtype=object)
    named = np.where(hidden, None, labels[np.maximum(marked, 0)])
    model = _make(cls).fit(X, named)
    assert set(model.classes_) == set(labels)
    assert model.decision_function(X).shape == (90, 3)
    assert np.mean(model.predict(X[hidden]) == labels[truth[hidden]]) > 0.4


@pytest.mark.parametrize("name", _names(SYSTEMS))
def test_missing_values_and_categories(name):
    cls = SYSTEMS[name]
    X, marked, *_ = _data(cls)
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    table.loc[3, "a"] = np.nan
    table["e"] = pd.Categorical(np.where(X[:, 2] > 0, "up", "down"))
    model = _make(cls).fit(table, marked)
    values = model.predict(table)
    assert values.shape == (40,)
    if not _is_classifier(cls):
        assert np.isfinite(values).all()


@pytest.mark.parametrize("name", _names(SYSTEMS))
def test_no_labels_is_one_clear_error(name):
    cls = SYSTEMS[name]
    X, marked, *_ = _data(cls)
    nothing = np.full(40, -1) if _is_classifier(cls) else np.full(40, np.nan)
    with pytest.raises(NoLabelsError):
        _make(cls).fit(X, nothing)
    with pytest.raises(InvalidInputError, match="y"):
        _make(cls).fit(X, None)
    assert marked.shape == (40,)
