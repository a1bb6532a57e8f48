"""Rows as tensors: the same fit in double precision, nearly the same in single precision."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from s2mam import ManifoldAdditiveRegressor, S2MAMClassifier, S2MAMRegressor
from s2mam.scale import ArraySource, IteratorSource, scale_options
from s2mam.scale.encoding import ColumnEncoder
from s2mam.scale.executors import sum_blocks
from s2mam.scale.features import feature_map

sys.path.insert(0, str(Path(__file__).parent))
from streamed_data import SMALL, classes, numbers
from test_scale_features import fitted
from test_scale_graph import setup

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

#: Largest error of single precision, in units of the spread of what is compared.
SINGLE = 1e-4
TOLERANCE = {"float64": 1e-10, "float32": SINGLE}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("scale", ["robust", "rank"])
@pytest.mark.parametrize("kernel", ["gaussian", "matern32", "matern52", "laplacian"])
def test_features_on_tensors(dtype, scale, kernel):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    reader, design = fitted(X, scale, kernel)
    encoder = ColumnEncoder(reader, np.array([0, 2, 3]), clip=True)
    features = feature_map(design, encoder)
    expected = features.evaluate(encoder.encode(X))
    found = features.evaluate(encoder.encode(torch.as_tensor(X, dtype=getattr(torch, dtype))))
    assert found.dtype == getattr(torch, dtype)
    np.testing.assert_allclose(found.numpy(), expected, atol=10 * TOLERANCE[dtype])


def test_codes_on_tensors():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=100), rng.integers(0, 4, 100)])
    from s2mam.bases import build_design
    from s2mam.intake import TableReader

    reader = TableReader(categorical=[1]).fit(X)
    design = build_design(reader.transform(X), reader.kinds_)
    encoder = ColumnEncoder(reader, np.array([0, 1]), clip=True)
    features = feature_map(design, encoder)
    expected = features.evaluate(encoder.encode(X))
    found = features.evaluate(encoder.encode(torch.as_tensor(X)))
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-10)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sums_of_the_graph(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    plan, _ = setup(X, np.ones(3))
    with scale_options(block_rows=64):
        expected = sum_blocks(ArraySource(X), plan)
        found = sum_blocks(ArraySource(torch.as_tensor(X, dtype=getattr(torch, dtype))), plan)
    assert found.gram.dtype == torch.float64  # sums are in double precision always
    form = expected.quadratic(plan.features)
    np.testing.assert_allclose(
        found.quadratic(plan.features), form, atol=TOLERANCE[dtype] * np.abs(form).max()
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_fits_of_numbers(dtype):
    X, y, _ = numbers()
    rows = torch.as_tensor(X, dtype=getattr(torch, dtype))
    with scale_options(**SMALL):
        for kind, settings in (
            (S2MAMRegressor, {"random_state": 0, "max_iter": 10}),
            (ManifoldAdditiveRegressor, {"manifold": 50.0}),
        ):
            expected = kind(**settings).fit(X, y).predict(X)
            model = kind(**settings).fit(rows, torch.as_tensor(y))
            found = model.predict(rows)
            assert torch.is_tensor(found)
            error = np.abs(found.numpy() - expected).max() / expected.std()
            assert error < TOLERANCE[dtype]
            assert isinstance(model.transduction_, np.ndarray)
            parts = model.contributions(rows)
            assert parts.shape == X.shape
            total = parts.sum(1).numpy() + model.intercept_
            np.testing.assert_allclose(total, found.numpy(), atol=TOLERANCE[dtype] * 10)


def test_fits_of_classes_and_a_generator_of_tensors():
    X, y, _ = classes()
    rows = torch.as_tensor(X)
    with scale_options(**SMALL):
        expected = S2MAMClassifier(random_state=0, max_iter=5).fit(X, y)
        made = IteratorSource(
            lambda: ((rows[at : at + 128], y[at : at + 128]) for at in range(0, 1500, 128))
        )
        model = S2MAMClassifier(random_state=0, max_iter=5).fit(made, None)
        np.testing.assert_allclose(
            model.predict_proba(rows).numpy(), expected.predict_proba(X), atol=1e-8
        )
        assert (model.predict(rows).numpy() == expected.predict(X)).all()
        np.testing.assert_allclose(
            model.decision_function(rows).numpy(), expected.decision_function(X), atol=1e-7
        )
