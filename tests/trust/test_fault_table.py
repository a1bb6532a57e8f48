"""Every row of the fault table keeps its promise.

The rows stand in docs/guarantees.md, where users read them; the test below fails when a row there
has no check here, or the other way round.
"""

from __future__ import annotations

import fault_commands
import fault_inputs  # noqa: F401  (enters its checks)
import fault_runs  # noqa: F401
import numpy as np
import pytest
from fault_registry import ROWS, hold
from guarantee_page import rows_of_the_fault_table
from trust_models import ABSENT, BASELINES, NETWORKS, OURS, TASKS, assert_finite, make, table

from s2mam.exceptions import MissingDependencyError


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return fault_commands.Shell(tmp_path)


MODELS = {
    "ours": [(name, task) for task in TASKS for name in OURS],
    "baselines": [(name, task) for task in TASKS for name in BASELINES[task]],
}


def _cases(*families):
    return [
        pytest.param(row, family, id=f"{row}-{family}")
        for row, checks in ROWS.items()
        for family in families
        if family in checks
    ]


def test_the_page_and_the_checks_have_the_same_rows():
    assert set(rows_of_the_fault_table()) == set(ROWS)


@pytest.mark.parametrize(("row", "family"), _cases("ours", "baselines"))
def test_estimators(row, family):
    hold(ROWS[row][family], MODELS[family])


@pytest.mark.torch
@pytest.mark.parametrize("row", [row for row, checks in ROWS.items() if "baselines" in checks])
def test_networks(row):
    hold(ROWS[row]["baselines"], NETWORKS)


@pytest.mark.parametrize(("row", "family"), _cases("package"))
@pytest.mark.filterwarnings("ignore::s2mam.exceptions.ConvergenceWarning")
def test_package(row, family, tmp_path):
    ROWS[row][family](tmp_path)


@pytest.mark.parametrize(("row", "family"), _cases("command line"))
def test_command_line(row, family, shell):
    ROWS[row][family](shell)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["posterior", "relaxed", "base"])
def test_five_thousand_columns(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5000))
    y = X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=60)
    model = make(name, "regression").fit(X, y)
    assert_finite(model, X)
    assert np.argsort(-model.mask_probabilities_)[:2].max() < 2


@pytest.mark.parametrize(("name", "task"), sorted(ABSENT))
def test_baselines_whose_extra_is_missing_say_how_to_get_it(name, task):
    X, _, y = table(task)
    with pytest.raises(MissingDependencyError, match=r"pip install 's2mam\[\w+\]'"):
        make(name, task).fit(X, y)
