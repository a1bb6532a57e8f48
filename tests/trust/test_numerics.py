"""Numbers at their limits: every answer stays finite, and means the same in any unit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from fault_registry import hold
from trust_models import GROUPS, TASKS, assert_finite, decide, make, table

from s2mam.exceptions import S2MAMWarning

# Its penalties and its bandwidth are the user's, in the units of the target.
FIXED_UNITS = {"paper"}


@pytest.mark.parametrize("models", GROUPS)
def test_nearly_singular_columns(models):
    def check(name, task):
        X, _, y = table(task)
        rng = np.random.default_rng(2)
        near = X[:, :1] + 1e-9 * rng.normal(size=(36, 3))
        wide = np.hstack([X, near, X[:, :1] * 1e12, X @ np.ones((4, 1))])
        assert_finite(make(name, task).fit(wide, y), wide)

    hold(check, models)


@pytest.mark.parametrize("models", GROUPS)
@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_targets_of_any_unit(unit, models):
    def check(name, task):
        X, _, y = table(task)
        if name in FIXED_UNITS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", S2MAMWarning)  # no column can be selected so
                assert_finite(make(name, task).fit(X, y * unit), X)
            return
        model = make(name, task).fit(X, y * unit)
        assert_finite(model, X)
        one, two = make(name, task).fit(X, y).predict(X), model.predict(X) / unit
        # Constants of the baselines that are not free of units show here.
        assert np.sqrt(np.mean((two - one) ** 2)) < 1.5 * np.std(one)
        assert np.std(two) < 10 * np.std(one)

    hold(check, [(name, task) for name, task in models if task == "regression"])


@pytest.mark.parametrize("exponent", [-12, -6, 6, 12])
def test_all_columns_in_one_unit(exponent):
    def check(name, task):
        X, _, y = table(task)
        one = decide(make(name, task).fit(X, y), X)
        big = X * 10.0**exponent
        two = decide(make(name, task).fit(big, y), big)
        np.testing.assert_allclose(two, one, atol=1e-5 * max(1.0, np.abs(one).max()))

    hold(check, [(name, task) for task in TASKS for name in ("posterior", "base", "paper")])


@pytest.mark.parametrize("models", GROUPS)
def test_tiny_and_huge_values_in_one_column(models):
    def check(name, task):
        X, _, y = table(task)
        X[:, 2] = 10.0 ** np.linspace(-12, 12, 36)
        assert_finite(make(name, task).fit(X, y), X)

    hold(check, models)


@pytest.mark.parametrize("models", GROUPS)
def test_labels_that_contradict_each_other(models):
    def check(name, task):
        X, full, _ = table(task)
        X[1::2], full = X[::2], full.copy()
        full[1::2] = full[::2] + 1 if task == "regression" else 1 - full[::2]
        assert_finite(make(name, task).fit(X, full), X)

    hold(check, models)
