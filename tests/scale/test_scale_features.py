"""Features and models in blocks against the design and the model in memory."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.bases import build_design
from s2mam.bilevel.views import clip_numeric
from s2mam.exceptions import InvalidInputError
from s2mam.intake import TableReader
from s2mam.scale.encoding import ColumnEncoder
from s2mam.scale.evaluator import AdditiveEvaluator, evaluated_part
from s2mam.scale.features import feature_map

pandas = pytest.importorskip("pandas")


def mixed(seed=0, n=120):
    rng = np.random.default_rng(seed)
    frame = pandas.DataFrame(
        {
            "a": rng.normal(size=n),
            "color": rng.choice(["red", "green", "blue"], n),
            "b": rng.exponential(size=n) * 100,
            "same": np.ones(n),
            "c": rng.integers(0, 5, n).astype(float),
        }
    )
    frame.loc[rng.random(n) < 0.1, "b"] = np.nan
    frame.loc[rng.random(n) < 0.1, "color"] = None
    return frame


def fitted(frame, scale="robust", kernel="gaussian", basis="kernel"):
    reader = TableReader(scale=scale).fit(frame)
    table = clip_numeric(reader.transform(frame), reader.kinds_)
    return reader, build_design(table, reader.kinds_, kernel=kernel, linear=0.3, basis=basis)


def in_memory(reader, design, frame, columns):
    return design.evaluate(clip_numeric(reader.transform(frame), reader.kinds_), columns)


def in_block(reader, design, table, columns):
    encoder = ColumnEncoder(reader, np.asarray(columns, dtype=np.intp), clip=True)
    features = feature_map(design, encoder)
    return np.asarray(features.evaluate(encoder.encode(table)))[features.keep].T


@pytest.mark.parametrize("scale", ["robust", "standard", "rank", None])
@pytest.mark.parametrize("kernel", ["gaussian", "matern32", "matern52", "laplacian"])
def test_features_are_those_of_the_design(scale, kernel):
    frame, new = mixed(), mixed(1)
    new.loc[3, "color"] = "violet"
    reader, design = fitted(frame, scale, kernel)
    for columns in ([0, 1, 2, 4], [2], [1], [4, 0]):
        expected = in_memory(reader, design, new, columns)
        np.testing.assert_allclose(
            in_block(reader, design, new, columns), expected, atol=1e-9, rtol=1e-9
        )


@pytest.mark.parametrize("basis", ["nystrom", "fourier"])
def test_features_of_other_bases(basis):
    frame = mixed()
    reader, design = fitted(frame, basis=basis)
    np.testing.assert_allclose(
        in_block(reader, design, frame, [0, 1, 2]),
        in_memory(reader, design, frame, [0, 1, 2]),
        atol=1e-9,
    )


def test_numbers_alone_take_the_short_way():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    reader, design = fitted(X)
    np.testing.assert_allclose(
        in_block(reader, design, X, [0, 3, 5]), in_memory(reader, design, X, [0, 3, 5]), atol=1e-10
    )


def test_a_block_with_other_columns_is_refused():
    reader, design = fitted(np.random.default_rng(0).normal(size=(30, 3)))
    with pytest.raises(InvalidInputError, match="2 columns, but 3"):
        in_block(reader, design, np.zeros((4, 2)), [0])


@pytest.mark.parametrize("k", [1, 3])
def test_a_model_in_blocks_is_the_model(k):
    frame = mixed()
    reader, design = fitted(frame)
    rng = np.random.default_rng(0)
    coef = rng.normal(size=(int(design.offsets[-1]), k))
    coef[design.block(2)] = 0.0
    part = evaluated_part(reader, design, coef, [0, 1, 4], clip=True)
    model = AdditiveEvaluator((part,), np.arange(k, dtype=float), 5)
    expected = in_memory(reader, design, frame, None) @ coef + np.arange(k)
    np.testing.assert_allclose(model.decide(frame).T, expected, atol=1e-10)
    contributions = model.contributions(frame)
    assert contributions.shape == (k, 5, len(frame))
    np.testing.assert_allclose(contributions.sum(axis=1).T + np.arange(k), expected, atol=1e-10)
    assert not contributions[:, [2, 3]].any()
    block = in_memory(reader, design, frame, [1]) @ coef[design.block(1)]
    np.testing.assert_allclose(contributions[:, 1].T, block, atol=1e-10)


def test_a_model_of_no_column_is_its_intercept():
    model = AdditiveEvaluator((), np.array([2.0]), 3)
    np.testing.assert_array_equal(model.decide(np.zeros((4, 3))), np.full((1, 4), 2.0))
