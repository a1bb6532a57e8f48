"""Tables and targets that nobody planned for: read, or refused in one sentence."""

from __future__ import annotations

import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from s2mam.exceptions import InvalidInputError, S2MAMError
from s2mam.intake import (
    TableReader,
    find_unlabeled,
    read_classification_target,
    read_regression_target,
    read_weights,
)

FEW = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
# scikit-learn's own words for tables that are none, which users know and search for.
KNOWN = (S2MAMError, ValueError, TypeError)

cells = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=5),
    st.just(pd.NA),
    st.just(pd.NaT),
    st.just(np.float32(1.5)),
    st.just(np.str_("a")),
    st.dates(),
    st.binary(max_size=3),
    st.just(object()),
    st.just([1, 2]),
    st.decimals(allow_nan=True, allow_infinity=True).filter(lambda d: not d.is_snan()),
)
columns = st.one_of(
    st.lists(cells, min_size=6, max_size=6).map(lambda c: pd.Series(c, dtype=object)),
    st.lists(st.sampled_from(["a", "b", None]), min_size=6, max_size=6).map(
        lambda c: pd.Series(c, dtype="category")
    ),
    st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=6, max_size=6).map(
        lambda c: pd.Series(c, dtype="Int64")
    ),
    st.lists(st.one_of(st.none(), st.booleans()), min_size=6, max_size=6).map(
        lambda c: pd.Series(c, dtype="boolean")
    ),
    st.lists(st.floats(width=32), min_size=6, max_size=6).map(
        lambda c: pd.Series(c, dtype=np.float32)
    ),
    st.just(pd.Series(pd.date_range("2020-01-01", periods=6))),
    st.just(pd.Series(np.full(6, 1j))),
    st.just(pd.Series(pd.arrays.SparseArray([0.0, 0, 0, 1, 0, 0]))),
)
names = st.one_of(st.text(max_size=4), st.integers(), st.none(), st.tuples(st.integers()))


def _says(error):
    """A refusal without words helps nobody."""
    assert len(str(error)) > 10


def _sound(reader, table, frame):
    assert table.shape == np.shape(frame)
    assert table.dtype == np.float64
    assert not np.isinf(table).any()
    assert len(reader.columns_) == table.shape[1]
    for j, column in enumerate(reader.columns_):
        if column.kind == "constant":
            assert not table[:, j].any()
        elif column.kind == "categorical":
            codes = table[~np.isnan(table[:, j]), j]
            assert ((codes >= 0) & (codes < len(column.categories))).all()


@FEW
@given(
    st.lists(st.tuples(names, columns), min_size=1, max_size=4),
    st.sampled_from([True, None, "rank"]),
)
def test_frames_of_anything(parts, scale):
    frame = pd.concat([column for _, column in parts], axis=1)
    frame.columns = pd.Index([name for name, _ in parts], dtype=object)
    reader = TableReader(scale=scale)
    before = frame.copy(deep=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            table = reader.fit_transform(frame)
        except KNOWN as error:
            _says(error)
            return
        finally:
            pd.testing.assert_frame_equal(frame, before)
        _sound(reader, table, frame)
        np.testing.assert_array_equal(reader.transform(frame), table)
        again = TableReader.from_state(reader.to_state())
        np.testing.assert_array_equal(again.transform(frame), table)


dtypes = st.one_of(
    arrays.integer_dtypes(),
    arrays.unsigned_integer_dtypes(),
    arrays.floating_dtypes(),
    arrays.boolean_dtypes(),
    arrays.unicode_string_dtypes(max_len=3),
    arrays.byte_string_dtypes(max_len=3),
    arrays.complex_number_dtypes(),
    arrays.datetime64_dtypes(),
    arrays.timedelta64_dtypes(),
)


@FEW
@given(
    dtypes.flatmap(
        lambda d: arrays.arrays(d, arrays.array_shapes(min_dims=0, max_dims=3, max_side=5))
    )
)
def test_arrays_of_any_type_and_shape(array):
    reader = TableReader()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            table = reader.fit_transform(array)
        except KNOWN as error:
            _says(error)
            return
    _sound(reader, table, array)


@FEW
@given(st.lists(cells, min_size=1, max_size=8), st.one_of(st.just("auto"), cells))
def test_targets_of_anything(values, marker):
    y = np.empty(len(values), dtype=object)
    y[:] = values
    for read, classes in ((read_regression_target, False), (read_classification_target, True)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                target = read(y, unlabeled=marker)
            except InvalidInputError as error:
                _says(error)
                continue
            hidden = find_unlabeled(y, unlabeled=marker, classes=classes)
        np.testing.assert_array_equal(target.labeled, ~hidden)
        assert target.n_labeled == np.count_nonzero(target.labeled) >= 1
        if classes:
            assert len(target.classes) == len(np.unique(target.y))
        else:
            assert np.isfinite(target.y).all()


@FEW
@given(
    st.one_of(
        st.none(), st.floats(), st.lists(st.floats(), min_size=0, max_size=6), st.text(), cells
    ),
    st.lists(st.booleans(), min_size=4, max_size=4).filter(any),
)
def test_weights_of_anything(weight, labeled):
    try:
        found = read_weights(weight, np.array(labeled))
    except InvalidInputError as error:
        _says(error)
        return
    assert found.shape == (sum(labeled),)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(), 1.0)


def test_signalling_nan_is_refused():
    """No comparison with it is possible, not even for pandas."""
    y = np.array([1.0, Decimal("sNaN")], dtype=object)
    with pytest.raises(InvalidInputError, match=r"signalling NaN|sNaN"):
        read_regression_target(y)
