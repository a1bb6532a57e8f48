"""Samples and surveys that do not depend on how rows are cut into blocks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2mam.exceptions import InvalidInputError, S2MAMWarning
from s2mam.intake import TableReader
from s2mam.scale import Block
from s2mam.scale.reduction import fold
from s2mam.scale.sampling import row_keys, sample_block
from s2mam.scale.survey import SurveyPlan, column_ranges, correct_ranges


def surveyed(X, y, cuts, **changes):
    plan = SurveyPlan(
        **(
            {"seed": 3, "unlabeled": "auto", "classes": True, "n_sample": 20, "n_labeled": 15}
            | changes
        )
    )
    ends = [0, *sorted(set(cuts) - {0, len(X)}), len(X)]
    blocks = [Block(a, X[a:b], y[a:b]) for a, b in pairwise(ends)]
    return fold([plan(block) for block in blocks])


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(300) < 0.3, rng.integers(0, 3, 300), -1)
    y[17] = 7  # a class with a single row
    return rng.normal(size=(300, 4)), y


@settings(deadline=None, max_examples=40)
@given(cuts=st.lists(st.integers(0, 300), max_size=8), known=st.booleans())
def test_cuts_do_not_matter(rows, cuts, known):
    X, y = rows
    whole = surveyed(X, y, [], n_rows=300 if known else None)
    parts = surveyed(X, y, cuts, n_rows=300 if known else None)
    assert (parts.n_rows, parts.n_labeled) == (whole.n_rows, whole.n_labeled)
    for name in ("labeled", "unlabeled"):
        one, other = getattr(whole, name).in_order(), getattr(parts, name).in_order()
        np.testing.assert_array_equal(one.rows, other.rows)
        np.testing.assert_array_equal(one.table, other.table)
        np.testing.assert_array_equal(X[one.rows], one.table)
    np.testing.assert_array_equal(whole.ranges.low, parts.ranges.low)
    np.testing.assert_array_equal(
        whole.labeled_sample().rows, parts.labeled_sample().in_order().rows
    )


def test_the_sample_is_of_the_right_rows(rows):
    X, y = rows
    found = surveyed(X, y, [100, 200])
    assert found.n_labeled == np.count_nonzero(y != -1)
    assert found.unlabeled.size == 20
    assert found.labeled.size == 15
    assert (y[found.unlabeled.rows] == -1).all()
    assert (y[found.labeled.rows] != -1).all()
    keys = row_keys(3, 0, 300)
    smallest = np.flatnonzero(y == -1)[np.argsort(keys[y == -1])[:20]]
    np.testing.assert_array_equal(np.sort(found.unlabeled.rows), np.sort(smallest))


def test_rare_classes_are_in_the_sample(rows):
    X, y = rows
    found = surveyed(X, y, [50, 60]).labeled_sample()
    assert set(found.target.tolist()) == {0, 1, 2, 7}
    np.testing.assert_array_equal(y[found.rows], found.target)


def test_keys_are_uniform_and_differ_by_seed():
    keys = row_keys(1, 0, 100_000).astype(np.float64) / 2.0**64
    counts = np.histogram(keys, bins=20, range=(0, 1))[0]
    assert abs(counts - 5000).max() < 5 * np.sqrt(5000)
    assert abs(np.corrcoef(keys[1:], keys[:-1])[0, 1]) < 0.02
    other = row_keys(2, 0, 100_000).astype(np.float64)
    assert abs(np.corrcoef(keys, other)[0, 1]) < 0.02


def test_samples_keep_what_is_eligible_only():
    block = Block(10, np.arange(6.0)[:, None], np.arange(6))
    sample = sample_block(block, np.arange(6) % 2 == 0, row_keys(0, 10, 6), 10)
    np.testing.assert_array_equal(sample.rows, [10, 12, 14])
    assert sample_block(block, np.zeros(6, bool), row_keys(0, 10, 6), 10).table is None


def test_ranges_skip_missing_values_and_correct_a_reader():
    X = np.array([[0.0, 1.0, 5.0], [np.nan, 1.0, 6.0], [2.0, 1.0, 7.0], [9.0, 4.0, 5.0]])
    ranges = column_ranges(X)
    np.testing.assert_array_equal(ranges.low, [0.0, 1.0, 5.0])
    np.testing.assert_array_equal(ranges.missing, [1, 0, 0])
    reader = TableReader().fit(X[:3])
    with pytest.warns(S2MAMWarning, match="'x1'"):
        correct_ranges(reader, ranges)
    assert (reader.columns_[0].high, reader.columns_[0].n_missing) == (9.0, 1)
    assert reader.columns_[1].kind == "constant"


def test_infinity_is_refused_by_name():
    X = np.array([[0.0, 1.0], [1.0, 3.0]])
    reader = TableReader().fit(X)
    with pytest.raises(InvalidInputError, match="'x1'"):
        correct_ranges(reader, column_ranges(np.array([[0.0, np.inf]])))


def test_text_and_frames_have_ranges_where_they_are_numbers():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, None], "b": ["x", "y"], "c": [3, 2]})
    ranges = column_ranges(frame)
    np.testing.assert_array_equal(ranges.low, [1.0, np.nan, 2.0])
    np.testing.assert_array_equal(ranges.missing, [1, -1, 0])


def test_a_source_without_labels_says_so():
    plan = SurveyPlan(seed=0, unlabeled="auto", classes=False, n_sample=2, n_labeled=2)
    with pytest.raises(InvalidInputError, match="without labels"):
        plan(Block(0, np.zeros((2, 1))))
