from __future__ import annotations

import numpy as np
import pytest
from benchmarks.deep_regression import run, summary
from sklearn.utils import Bunch


def _row(method, seed, test, data="protein"):
    return {"cell": {"data": data, "method": method, "seed": seed}, "test": test, "cpu": 30.0}


def _rows():
    errors = {"null": (4.0, 4.0), "dkl": (2.0, 3.0), "ssdkl": (1.0, 1.9), "coreg": (2.5, 2.5)}
    return [_row(name, seed, found[seed]) for name, found in errors.items() for seed in range(2)]


def test_reductions_are_shares_of_the_mean_error_of_the_reference():
    # Means over seeds are compared, as the published tables do: 2.5 becomes 1.45.
    changes = summary.reductions(_rows(), "ssdkl")
    assert np.mean(changes) == pytest.approx(100 * (2.5 - 1.45) / 2.5)
    assert summary.reductions(_rows(), "dkl") == [0.0, 0.0]
    assert summary.reductions([_row("vae", 0, 1.0)], "vae") == []


def test_page_without_published_figures_claims_none(monkeypatch):
    monkeypatch.setattr(summary, "read_published", dict)
    page = summary.summarize(_rows())
    assert "| ssdkl | 1.45 ± 0.64 | 1.45 | +42.0 ± 2.0 | – | 30 | 2 |" in page
    assert "- ssdkl: 42 % lower error than dkl (better on 2 of 2 seeds); the direction" in page
    assert "- coreg: not told apart from dkl (better on 1 of 2 seeds); published figure" in page
    assert "- dkl: 38 % below the error" in page
    assert "| all | 4.0 | 8 |" in page


@pytest.mark.parametrize(
    ("claimed", "words"),
    [
        (40.0, "same size as published (+40.0 %)"),
        (5.0, "same direction as published (+5.0 %), another size"),
        (-5.0, "other direction as published (-5.0 %)"),
    ],
)
def test_published_figures_are_compared(monkeypatch, claimed, words):
    monkeypatch.setattr(summary, "read_published", lambda: {("protein", "ssdkl"): claimed})
    assert words in summary.summarize(_rows())


def test_the_file_of_published_figures_is_read():
    for (data, method), reduction in summary.read_published().items():
        assert data in run.DATA
        assert method in run.METHODS
        assert np.isfinite(reduction)


def test_rows_are_split_without_overlap_and_capped(monkeypatch):
    table = np.arange(5000.0)[:, None]
    monkeypatch.setattr(run, "load", lambda name, download: Bunch(X=table, y=table[:, 0]))
    one, two = run.problem("protein", 0), run.problem("protein", 1)
    assert one.X.shape == (2100, 1)
    assert one.X_test.shape == (1000, 1)
    assert one.labeled.sum() == np.isfinite(one.shown).sum() == 100
    assert not set(one.X[:, 0]) & set(one.X_test[:, 0])
    np.testing.assert_array_equal(one.y, one.X[:, 0])
    assert np.any(one.y != two.y)


def test_the_null_method_is_the_mean_of_the_labels():
    task = run.Task(
        np.zeros((3, 1)), np.array([1.0, 2.0, np.nan]), np.zeros((2, 1)), "regression", 0
    )
    outcome = run.METHODS["null"](task)
    assert outcome.test.tolist() == [1.5, 1.5]
    assert outcome.unlabeled.tolist() == [1.5]
    assert run.rmse(np.array([0.0, 2.0]), np.array([0.0, 0.0])) == pytest.approx(np.sqrt(2.0))


def test_cells_come_seed_by_seed():
    cells = run.make_cells([0, 1])
    assert len(cells) == 2 * len(run.DATA) * len(run.METHODS)
    assert [cell["seed"] for cell in cells] == sorted(cell["seed"] for cell in cells)
