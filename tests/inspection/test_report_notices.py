"""Each check of the data fires on the data it is for, and on no clean table."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from s2mam.exceptions import S2MAMWarning
from s2mam.inspection.report_parts.facts import read_facts
from s2mam.inspection.report_parts.notices import data_notices

N = 120


def titles(X, y, *, classes=False, support=None, names=None):
    support = np.arange(X.shape[1]) == 0 if support is None else support
    model = SimpleNamespace(n_features_in_=X.shape[1], categorical="auto", unlabeled="auto")
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    if classes:
        model.classes_ = np.array([0, 1])
    facts = read_facts(model, X, y, None)
    return {notice.title: notice for notice in data_notices(facts, support)}


@pytest.fixture
def clean():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    y = X[:, 0].copy()
    y[60:] = np.nan
    # Labelled rows cover the whole range.
    X[:2, 0] = [-9.0, 9.0]
    return X, y


def test_clean_table_gives_none(clean):
    assert titles(*clean) == {}
    X, y = clean
    codes = np.where(np.isnan(y), -1, X[:, 1] > 0)
    assert titles(X, codes, classes=True) == {}


def test_few_labels_and_many_columns(clean):
    X, y = clean
    y[3:] = np.nan
    found = titles(X, y)
    assert "3 labelled rows" in found["Few labels"].text
    assert found["Few labels"].serious
    assert not found["More columns than labels"].serious


def test_classes_with_few_or_unequal_labels(clean):
    X, _ = clean
    y = np.where(np.arange(N) < 60, 0, -1)
    y[:3] = 1
    found = titles(X, y, classes=True)
    assert "1" in found["Classes with few labels"].text
    assert "57 labels" in found["Unequal classes"].text
    y[:3] = 0
    with pytest.warns(S2MAMWarning, match="only one class"):
        assert "One class only" in titles(X, y, classes=True)


def test_constant_target_and_columns(clean):
    X, y = clean
    X[:, 2] = 5.0
    y[:60] = 1.0
    found = titles(X, y, names=["a", "b", "flat", "d"])
    assert "flat" in found["Constant columns"].text
    assert "The target is constant" in found


def test_missing_values(clean):
    X, y = clean
    X[:70, 1] = np.nan
    found = titles(X, y, names=["a", "gaps", "c", "d"])
    assert "15\xa0% of all cells, in 1 column." in found["Missing values"].text
    assert "gaps" in found["Mostly missing"].text


def test_identifiers(clean):
    X, y = clean
    table = pd.DataFrame(X, columns=list("abcd")).assign(key=[f"row {i}" for i in range(N)])
    support = np.array([True, False, False, False, False])
    assert (
        "key"
        in titles(table, y, support=support, names=list(table))[
            "Categories that hardly repeat"
        ].text
    )


def test_row_numbers(clean):
    X, y = clean
    X[:, 2] = np.arange(N) + 7.0
    found = titles(X, y)
    assert list(found) == ["Row numbers"]
    assert not found["Row numbers"].serious  # it was not kept
    assert titles(X, y, support=np.arange(4) == 2)["Row numbers"].serious
    X[5, 2] = 0.0
    assert titles(X, y) == {}


def test_copies_of_rows(clean):
    X, y = clean
    X[100] = X[101]
    found = titles(X, y)
    assert found["Duplicate rows"].text.startswith("1 of 120")
    assert "Duplicate labelled rows" not in found
    X[10] = X[11]
    found = titles(X, y)
    assert "1 labelled rows" in found["Duplicate labelled rows"].text
    assert "1 labels contradict" in found["Contradicting labels"].text
    y[10] = y[11]
    assert "Contradicting labels" not in titles(X, y)


def test_rows_with_equal_gaps_are_copies(clean):
    X, y = clean
    X[100, 1] = X[101, 1] = np.nan
    X[100] = X[101]
    X[100, 0] = -0.0
    X[101, 0] = 0.0
    assert "Duplicate rows" in titles(X, y)


def test_columns_that_say_the_same(clean):
    X, y = clean
    X[:, 3] = -2.0 * X[:, 0] + 1e-3 * X[:, 1]
    found = titles(X, y, names=["kept", "b", "c", "twin"])
    assert "twin" in found["Columns that say the same"].text
    assert "kept" in found["Columns that say the same"].text
    both = np.array([True, False, False, True])
    found = titles(X, y, names=["kept", "b", "c", "twin"], support=both)
    assert found["Kept columns that say the same"].text.count("twin") == 1
    assert "Columns that say the same" not in found


def test_labels_that_do_not_cover_the_rows(clean):
    X, y = clean
    X[60:100, 0] += 100.0
    assert "x0" in titles(X, y)["Labels do not cover the rows"].text
    # A column that the model does not use is nobody's concern.
    other = np.array([False, True, False, False])
    assert "Labels do not cover the rows" not in titles(X, y, support=other)


def test_names_are_escaped_everywhere():
    evil = "<script>alert(1)</script>"
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"{evil}{i}": rng.normal(size=20) for i in range(4)})
    table[f"{evil}4"] = 1.0
    table[f"{evil}5"] = table[f"{evil}0"] * 2.0
    table[f"{evil}6"] = [f"{evil}{i}" for i in range(20)]
    table.iloc[:15, 1] = np.nan
    table.iloc[5:, 0] += 50.0
    table.iloc[3] = table.iloc[4]
    y = np.array([evil, "b", evil, "b", evil] + [None] * 15, dtype=object)
    support = np.arange(7) == 0
    found = titles(table, y, classes=True, support=support, names=list(table.columns))
    assert len(found) >= 7
    text = "".join(notice.text for notice in found.values())
    assert "<script" not in text
    assert "&lt;script&gt;" in text
