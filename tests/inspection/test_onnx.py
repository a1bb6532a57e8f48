"""ONNX files against the models they were made from, by another runtime."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

from s2mam import ManifoldAdditiveClassifier, ManifoldAdditiveRegressor, S2MAMClassifier
from s2mam.exceptions import InvalidInputError, MissingDependencyError
from s2mam.inspection import export_onnx


def test_without_onnx_the_extra_is_named(numbers, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.delitem(sys.modules, "onnx.checker", raising=False)
    with pytest.raises(MissingDependencyError, match=r"s2mam\[onnx\]"):
        export_onnx(numbers.model, numbers.X, tmp_path / "m.onnx")


def run(path, X):
    """All outputs of a file for the rows of a table."""
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X).rename(columns="x{}".format)
    feed = {}
    for wanted in session.get_inputs():
        column = frame[wanted.name]
        text = wanted.type == "tensor(string)"
        values = column.fillna("").astype(str) if text else column.astype(float)
        feed[wanted.name] = values.to_numpy(dtype=object if text else float)[:, None]
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, feed), strict=True))


def needs_onnx():
    pytest.importorskip("onnx", reason="needs onnx")
    pytest.importorskip("onnxruntime", reason="needs onnxruntime")


def test_numbers_between_and_at_the_nodes(numbers, tmp_path):
    needs_onnx()
    path = tmp_path / "m.onnx"
    table = export_onnx(numbers.model, numbers.X, path)
    rng = np.random.default_rng(0)
    low, high = numbers.X.min(axis=0), numbers.X.max(axis=0)
    for X in (numbers.X, rng.uniform(low, high, size=(200, numbers.X.shape[1]))):
        expected = numbers.model.predict(X)
        made = run(path, X)["prediction"][:, 0]
        np.testing.assert_allclose(made, expected, atol=1e-5 * np.ptp(expected))
        assert np.abs(made - expected).max() <= table.interpolation_error + 1e-9


def test_missing_values_have_their_own_level(numbers, tmp_path):
    needs_onnx()
    path = tmp_path / "m.onnx"
    export_onnx(numbers.model, numbers.X, path)
    X = numbers.X.copy()
    X[::2, :4] = np.nan
    made = run(path, X)["prediction"][:, 0]
    np.testing.assert_allclose(made, numbers.model.predict(X), atol=1e-5)


def test_classes_categories_and_names(patients, tmp_path):
    needs_onnx()
    path = tmp_path / "m.onnx"
    export_onnx(patients.model, patients.X, path)
    made = run(path, patients.X)
    expected = patients.model.predict_proba(patients.X)
    np.testing.assert_allclose(made["probabilities"], expected, atol=1e-5)
    assert made["label"].tolist() == patients.model.predict(patients.X).tolist()
    strange = patients.X.assign(site="nowhere")
    np.testing.assert_allclose(
        run(path, strange)["probabilities"], patients.model.predict_proba(strange), atol=1e-5
    )


def test_two_classes_and_categories_that_are_numbers(tmp_path):
    needs_onnx()
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"a": rng.normal(size=80), "ward": rng.integers(0, 3, 80), "on": rng.random(80) < 0.5}
    )
    y = (X["a"] + X["ward"] + X["on"] > 1.4).astype(int).to_numpy()
    model = ManifoldAdditiveClassifier(categorical=["ward"], sparsity=1e-3, manifold=0.0).fit(X, y)
    path = tmp_path / "m.onnx"
    export_onnx(model, X, path)
    made = run(path, X)
    np.testing.assert_allclose(made["probabilities"], model.predict_proba(X), atol=1e-5)
    assert made["label"].dtype == np.int64
    np.testing.assert_array_equal(made["label"], model.predict(X))
    strange = X.assign(ward=7)
    np.testing.assert_allclose(
        run(path, strange)["probabilities"], model.predict_proba(strange), atol=1e-5
    )


def test_the_default_learner(moons, tmp_path):
    needs_onnx()
    assert isinstance(moons.model, S2MAMClassifier)
    path = tmp_path / "m.onnx"
    export_onnx(moons.model, moons.X, path)
    made = run(path, moons.X)["probabilities"]
    np.testing.assert_allclose(made, moons.model.predict_proba(moons.X), atol=1e-5)


def test_models_without_inputs_are_refused(tmp_path):
    needs_onnx()
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = ManifoldAdditiveRegressor().fit(X, np.ones(20))
    with pytest.raises(InvalidInputError, match="no inputs"):
        export_onnx(model, X, tmp_path / "m.onnx")


@pytest.mark.parametrize(
    "names", [["label", "probabilities", "prediction"], ["_Add_0", "__intercept_0", ""]]
)
@pytest.mark.parametrize("labels", [None, ["lo", "hi"], [1.0, 2.0]])
def test_columns_may_have_any_name(names, labels, tmp_path):
    needs_onnx()
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X @ [1.0, -1.0, 1.0]
    kind = ManifoldAdditiveRegressor if labels is None else ManifoldAdditiveClassifier
    y = y if labels is None else np.array(labels)[(y > 0).astype(int)]
    model = kind(sparsity=1e-3, manifold=0.0).fit(X, y)
    path = tmp_path / "m.onnx"
    export_onnx(model, X, path, feature_names=names)
    known = [name if name.startswith("_") else f"column_{i}" for i, name in enumerate(names)]
    made = run(path, pd.DataFrame(X, columns=known))
    if labels is None:
        np.testing.assert_allclose(made["prediction"][:, 0], model.predict(X), atol=1e-5)
    else:
        np.testing.assert_allclose(made["probabilities"], model.predict_proba(X), atol=1e-5)
        assert made["label"].tolist() == model.predict(X).tolist()
