"""Only the listed classes are saved and loaded, and what they refuse becomes one typed error."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from state_trees import assert_same

from s2mam.exceptions import InvalidInputError, ModelFileError
from s2mam.persistence import models
from s2mam.persistence.checkpoint import Checkpoint
from s2mam.persistence.format import write_state


class FakeRegressor:
    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def fit(self, X: np.ndarray) -> FakeRegressor:
        self.coef_ = np.asfortranarray(X.T @ X) * self.alpha
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return X @ self.coef_

    def _to_state(self) -> dict[str, Any]:
        return {"params": {"alpha": self.alpha}, "coef": self.coef_}

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> FakeRegressor:
        result = cls(**state["params"])
        result.coef_ = state["coef"]
        if result.coef_.ndim != 2:
            raise ValueError("coef has to have two axes")
        return result


class Subclass(FakeRegressor):
    pass


class Unlisted(FakeRegressor):
    pass


@pytest.fixture
def listed(monkeypatch):
    monkeypatch.setitem(models.LOADABLE, "FakeRegressor", f"{__name__}:FakeRegressor")


@pytest.fixture
def fitted():
    return FakeRegressor(0.3).fit(np.random.default_rng(0).standard_normal((20, 4)))


def test_public_estimators_are_the_only_ones():
    names = ["S2MAM", "ManifoldAdditive"]
    public = [f"{name}{task}" for name in names for task in ("Regressor", "Classifier")]
    assert sorted(models.LOADABLE) == sorted(public)
    for name, place in models.LOADABLE.items():
        assert place == f"s2mam.estimators:{name}"


@pytest.mark.usefixtures("listed")
def test_round_trip_predicts_the_same_bits(tmp_path, fitted):
    models.save(fitted, tmp_path / "model")
    again = models.load(tmp_path / "model")
    assert type(again) is FakeRegressor
    assert_same(vars(again), vars(fitted))
    X = np.random.default_rng(1).standard_normal((5, 4))
    assert again.predict(X).tobytes() == fitted.predict(X).tobytes()


def test_unlisted_classes_are_not_saved(tmp_path, fitted, monkeypatch):
    with pytest.raises(InvalidInputError, match="class FakeRegressor; only S2MAMRegressor"):
        models.save(fitted, tmp_path / "model")
    monkeypatch.setitem(models.LOADABLE, "FakeRegressor", f"{__name__}:FakeRegressor")
    impostor = type("FakeRegressor", (FakeRegressor,), {})()
    for estimator in (Subclass(), impostor, 3):
        with pytest.raises(InvalidInputError, match="Cannot save"):
            models.save(estimator, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["FakeRegressor", "Unlisted", "Popen", "__import__"])
def test_other_kinds_are_not_loaded(tmp_path, kind):
    write_state(tmp_path / "model", kind, {"params": {}, "coef": np.eye(2)})
    with pytest.raises(ModelFileError, match=f"kind '{kind}', not one of"):
        models.load(tmp_path / "model")


def test_a_checkpoint_is_not_a_model(tmp_path):
    Checkpoint(tmp_path / "c", "f").save({})
    with pytest.raises(ModelFileError, match="kind 'Checkpoint'"):
        models.load(tmp_path / "c")


def test_classes_are_imported_only_when_a_file_names_them(tmp_path, monkeypatch):
    (tmp_path / "late_module.py").write_text(
        "class Late:\n    @classmethod\n    def _from_state(cls, state):\n        return cls()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(models.LOADABLE, "Late", "late_module:Late")
    write_state(tmp_path / "model", "Late", {})
    assert "late_module" not in sys.modules
    try:
        assert type(models.load(tmp_path / "model")).__name__ == "Late"
    finally:
        sys.modules.pop("late_module", None)


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ({}, "KeyError: 'params'"),
        ({"params": {"beta": 1}, "coef": np.eye(2)}, "TypeError"),
        ({"params": {}, "coef": 3}, "AttributeError"),
        ({"params": {}, "coef": np.zeros(3)}, "two axes"),
        ([1, 2], "not a dict"),
    ],
)
def test_states_that_the_class_refuses(tmp_path, state, reason):
    write_state(tmp_path / "model", "FakeRegressor", state)
    with pytest.raises(ModelFileError, match=reason):
        models.load(tmp_path / "model")


@pytest.mark.usefixtures("listed")
def test_parameters_that_cannot_be_stored_are_named_and_keep_the_old_file(tmp_path, fitted):
    models.save(fitted, tmp_path / "model")
    fitted.alpha = len
    with pytest.raises(InvalidInputError, match=r"state\['params'\]\['alpha'\] holds"):
        models.save(fitted, tmp_path / "model")
    assert models.load(tmp_path / "model").alpha == 0.3
