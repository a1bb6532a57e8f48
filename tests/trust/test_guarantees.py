"""The eight guarantees over all public estimators, where the other folders do not test them."""

from __future__ import annotations

import ast
import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from fault_registry import hold
from guarantee_page import PAGE, named_tests
from trust_children import python
from trust_models import BASELINES, GROUPS, OURS, TASKS, decide, make, table

from s2mam import ManifoldAdditiveRegressor
from s2mam.graphs import build_graph

pytestmark = pytest.mark.filterwarnings("ignore::s2mam.exceptions.ConvergenceWarning")
OWN = [(name, task) for task in TASKS for name in OURS]


def test_the_page_names_tests_that_exist():
    named = named_tests()
    assert list(named) == [f"G{number}" for number in range(1, 9)]
    missing = []
    for guarantee, tests in named.items():
        assert len(tests) >= 2, guarantee
        for path, name in tests:
            tree = ast.parse(path.read_text(encoding="utf-8")) if path.exists() else ast.parse("")
            if name not in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}:
                missing.append(f"{path.name}::{name}")
    assert missing == []
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"| G{number} | **" in text for number in range(1, 9))


@pytest.mark.parametrize(("name", "task"), OWN)
def test_g1_contributions_add_up_at_extreme_values(name, task):
    X, _, y = table(task, classes=3)
    model = make(name, task).fit(X, y)
    for far in (X * 1e-12, X * 50, np.full_like(X, np.nan)):
        decision = decide(model, far)
        total = model.contributions(far).sum(axis=1) + model.intercept_
        np.testing.assert_allclose(total, decision, atol=1e-10 * max(1.0, np.abs(decision).max()))


def test_g2_columns_that_a_baseline_does_not_select_cannot_change_a_bit():
    tried = []

    def check(name, task):
        X, _, y = table(task, p=8)
        model = make(name, task).fit(X, y)
        outside = model.feature_weights_ == 0.0
        if not outside.any():
            return
        tried.append(name)
        before = decide(model, X)
        for garbage in (np.nan, 1e6, -3.0):
            np.testing.assert_array_equal(decide(model, np.where(outside, garbage, X)), before)

    selecting = [
        (name, task)
        for task in TASKS
        for name in BASELINES[task]
        if make(name, task).selects_columns
    ]
    hold(check, selecting)
    assert len(tried) >= 3


def _base_problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=30)
    return X, y


def test_g3_columns_of_few_values_are_laprls():
    """Where a column has four values, its functions are four numbers and need no kernel."""
    rng = np.random.default_rng(0)
    X = rng.integers(4, size=(40, 3)) + 0.1 * rng.integers(2, size=3)
    full = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=40)
    labeled = np.arange(40) % 2 == 0
    weight = 3.0
    model = ManifoldAdditiveRegressor(sparsity=0.0, manifold=weight, graph="dense")
    model.fit(X, np.where(labeled, full, np.nan))
    span = np.hstack([x[:, None] == np.unique(x) for x in X.T]).astype(float)
    L = build_graph(model._model.parts[0].reader.transform(X), kind="dense").toarray()
    hessian = span[labeled].T @ span[labeled] / 20 + weight / 1600 * span.T @ L @ span
    coef = np.linalg.lstsq(hessian, span[labeled].T @ full[labeled] / 20, rcond=1e-12)[0]
    np.testing.assert_allclose(model.predict(X), span @ coef, atol=1e-4)


def test_g3_no_graph_is_the_sparse_additive_model():
    """All rows labelled, no graph: proximal gradients on the group lasso end in the same place."""
    X, y = _base_problem()
    penalty = 0.1
    model = ManifoldAdditiveRegressor(sparsity=penalty, manifold=0.0).fit(X, y)
    (part,) = model._model.parts
    features, ends = part.design.evaluate(part.reader.transform(X)), part.design.offsets
    centred, target = features - features.mean(axis=0), y - y.mean()
    step = 30 / (2 * np.linalg.norm(centred, 2) ** 2)
    point, ahead, momentum = np.zeros(ends[-1]), np.zeros(ends[-1]), 1.0
    for _ in range(20_000):
        moved = ahead - step * 2 / 30 * centred.T @ (centred @ ahead - target)
        for start, stop in pairwise(ends):
            norm = max(np.linalg.norm(moved[start:stop]), 1e-300)
            moved[start:stop] *= max(0.0, 1 - step * penalty / norm)
        faster = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead, point, momentum = moved + (momentum - 1) / faster * (moved - point), moved, faster
    np.testing.assert_allclose(model.predict(X), centred @ point + y.mean(), atol=2e-3)
    active = [np.any(point[a:b]) for a, b in pairwise(ends)]
    np.testing.assert_array_equal(model.support_, active)


@pytest.mark.parametrize("models", GROUPS)
def test_g4_units_of_columns(models):
    def check(name, task):
        X, _, y = table(task)
        unit, shift = np.array([1e3, 0.02, 7.0, 1e-4]), np.array([5.0, -1.0, 0.0, 1e3])
        one = decide(make(name, task).fit(X, y), X)
        two = decide(make(name, task).fit(X * unit + shift, y), X * unit + shift)
        np.testing.assert_allclose(two, one, atol=1e-5 * np.abs(one).max())

    hold(check, models)


_DECISIONS = """
import json
from threadpoolctl import threadpool_limits
from trust_models import decide, make, table
import warnings
warnings.simplefilter("ignore")
threads, size = int(sys.argv[1]), int(sys.argv[2])
found = {}
for name, task in json.loads(sys.argv[3]):
    if size > 36 and name in ("paper", "rloo", "relaxed"):
        continue
    X, _, y = table(task, n=size, n_labeled=size * 5 // 9, p=4 if size == 36 else 12)
    model = make(name, task)
    if name == "posterior" and threads == 1:
        model.set_params(n_jobs=2)
    with threadpool_limits(limits=threads, user_api="blas"):
        found[f"{name}-{task}"] = decide(model.fit(X, y), X).tolist()
print(json.dumps(found))
"""


def _decisions(models, threads, size, hash_seed):
    done = python(_DECISIONS, threads, size, json.dumps(models), PYTHONHASHSEED=str(hash_seed))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("models", GROUPS)
def test_g5_other_processes_have_the_same_bits(models):
    there = _decisions(models, 1, 36, 4321)

    def check(name, task):
        X, _, y = table(task)
        here = decide(make(name, task).fit(X, y), X)
        np.testing.assert_array_equal(there[f"{name}-{task}"], here)

    hold(check, models)


@pytest.mark.slow
@pytest.mark.parametrize("models", GROUPS)
def test_g5_two_blas_threads_agree(models):
    one, two = (_decisions(models, threads, 300, 0) for threads in (1, 2))
    for key, values in one.items():
        scale = max(1.0, np.abs(values).max())
        np.testing.assert_allclose(two[key], values, atol=1e-9 * scale, err_msg=key)


@pytest.mark.parametrize("models", GROUPS)
def test_g6_hidden_labels_are_never_read(models):
    """Whatever marks a hidden row, and whichever row has which mark, the bits are the same."""

    def check(name, task):
        X, full, y = table(task)
        hidden = np.flatnonzero(y != full)
        plain = decide(make(name, task).fit(X, y), X)
        rng = np.random.default_rng(1)
        for _ in range(2):
            marked = full.astype(object)
            marked[hidden] = rng.choice([None, np.nan, pd.NA], size=hidden.size)
            np.testing.assert_array_equal(decide(make(name, task).fit(X, marked), X), plain)
        marked = full.astype(float)
        marked[hidden] = -999.0
        own = make(name, task, unlabeled=-999).fit(X, marked)
        np.testing.assert_array_equal(decide(own, X), plain)

    hold(check, models)


@pytest.mark.parametrize(("name", "task"), OWN)
def test_g7_stop_reasons_and_falling_objectives(name, task):
    X, _, y = table(task)
    model = make(name, task).fit(X, y)
    assert model.stop_reason_
    assert set(model.history_) >= {"criterion"}
    if name == "base":
        assert model.stop_reason_ == "gap"
        trace = np.array(model.history_["criterion"])
        assert (np.diff(trace) <= 1e-9 * np.abs(trace[:-1])).all()
        assert 0.0 <= model.chosen_["gap"] <= 1e-5 * max(trace[-1], 1e-3)


def test_g8_saved_models_predict_the_same_bits_elsewhere(tmp_path):
    expected = {}
    for name, task in OWN:
        X, _, y = table(task, classes=3)
        model = make(name, task).fit(X, y)
        model.save(tmp_path / f"{name}-{task}.s2mam")
        expected[f"{name}-{task}"] = decide(model, X).tolist()
    code = """
import json, pickle
from pathlib import Path
def never(*_, **__):
    raise AssertionError("code of a file was run")
pickle.load = pickle.loads = pickle.Unpickler = never
import s2mam
from trust_models import decide, table
found = {}
for path in Path(sys.argv[1]).glob("*.s2mam"):
    X = table(path.stem.split("-")[1], classes=3)[0]
    found[path.stem] = decide(s2mam.load(path), X).tolist()
print(json.dumps(found))
"""
    done = python(code, tmp_path, PYTHONHASHSEED="7")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == expected
