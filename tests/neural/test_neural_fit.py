"""S2MAM with one network per column."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

import s2mam
from s2mam import S2MAMClassifier, S2MAMRegressor
from s2mam.exceptions import InvalidInputError
from s2mam.inspection import component_curves

REAL = [1, 5]


def additive(seed=0, n=120, labeled=50):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    truth = np.sin(2 * X[:, 1]) + 0.5 * X[:, 5] ** 2
    y = truth + 0.1 * rng.normal(size=n)
    hidden = y.copy()
    hidden[labeled:] = np.nan
    return X, hidden, truth


@pytest.fixture(scope="module")
def fitted():
    X, y, truth = additive()
    began = time.process_time()
    model = S2MAMRegressor(basis="neural", n_features_to_select=2, random_state=0).fit(X, y)
    return model, X, y, truth, time.process_time() - began


pytestmark = pytest.mark.torch


def test_two_of_eight_columns_are_found(fitted):
    model, X, _, truth, seconds = fitted
    assert model.get_support(indices=True).tolist() == REAL
    assert np.argsort(-model.mask_probabilities_)[:2].tolist() in ([1, 5], [5, 1])
    assert model.mask_probabilities_.sum() <= 2 + 1e-9
    assert model.score(X[50:], truth[50:]) > 0.85
    assert seconds < 10


def test_held_out_labels_find_them_too():
    X, y, _ = additive()
    model = S2MAMRegressor(
        basis="neural", criterion="loo", n_features_to_select=2, manifold=0, random_state=0
    ).fit(X, y)
    assert model.get_support(indices=True).tolist() == REAL
    assert model.stop_reason_ == "max_iter"


def test_the_number_of_columns_is_found_and_interrupts_are_kept():
    X, y, _ = additive()
    settings = {"basis": "neural", "manifold": 0, "random_state": 0}
    model = S2MAMRegressor(**settings).fit(X, y)
    assert model.get_support(indices=True).tolist() == REAL
    assert model.stop_reason_ == "criterion"

    def interrupt(progress):
        raise KeyboardInterrupt

    kept = S2MAMRegressor(**settings, callbacks=[interrupt], on_interrupt="keep").fit(X, y)
    assert kept.stop_reason_ == "interrupted"
    assert kept.get_support().any()


def test_contributions_and_intercept_are_the_prediction(fitted):
    model, X, *_ = fitted
    total = model.contributions(X).sum(axis=1) + model.intercept_
    np.testing.assert_allclose(total, model.predict(X), atol=1e-10)
    assert abs(model.intercept_ - model.predict(X).mean()) < 1e-10


def test_masked_columns_cannot_change_a_prediction(fitted):
    model, X, *_ = fitted
    garbled = X.copy()
    garbled[:, ~model.support_] = 1e6
    assert np.array_equal(model.predict(garbled), model.predict(X))
    changed = X.copy()
    changed[:, 1] += 1.0
    assert not np.array_equal(model.predict(changed), model.predict(X))


def test_curves_have_the_true_shape(fitted):
    model, X, *_ = fitted
    curve = next(c for c in component_curves(model, X) if c.column == 1)
    inside = np.abs(curve.grid) < 1.5
    assert np.corrcoef(curve.values[inside], np.sin(2 * curve.grid[inside]))[0, 1] > 0.97


def test_many_labels_give_the_curves_themselves():
    """The check of neural additive models: y = sin(3 x1) + x2², 1000 rows, centred curves."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(1000, 2))
    truth = np.column_stack([np.sin(3 * X[:, 0]), X[:, 1] ** 2])
    y = truth.sum(axis=1) + 0.1 * rng.normal(size=1000)
    model = S2MAMRegressor(basis="neural", n_features_to_select=2, max_iter=40, random_state=0)
    parts = model.fit(X, y).contributions(X)
    assert np.corrcoef(parts[:, 0], truth[:, 0])[0, 1] > 0.98
    assert np.corrcoef(parts[:, 1], truth[:, 1])[0, 1] > 0.98
    assert np.abs(parts.mean(axis=0)).max() < 1e-8
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, model.predict(X), atol=1e-10)


def test_files_keep_every_bit_and_need_no_torch(fitted, tmp_path):
    model, X, *_ = fitted
    model.save(tmp_path / "model.s2mam")
    np.save(tmp_path / "X.npy", X)
    assert np.array_equal(s2mam.load(tmp_path / "model.s2mam").predict(X), model.predict(X))
    code = (
        "import sys\n"
        "import numpy as np, s2mam\n"
        "model = s2mam.load(sys.argv[1] + '/model.s2mam')\n"
        "np.save(sys.argv[1] + '/found.npy', model.predict(np.load(sys.argv[1] + '/X.npy')))\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    assert np.array_equal(np.load(tmp_path / "found.npy"), model.predict(X))


def test_the_same_seed_gives_the_same_bits(fitted):
    model, X, y, *_ = fitted
    again = S2MAMRegressor(basis="neural", n_features_to_select=2, random_state=0).fit(X, y)
    assert np.array_equal(again.predict(X), model.predict(X))
    assert np.array_equal(again.mask_probabilities_, model.mask_probabilities_)


def test_classes_categories_and_missing_values():
    X, _, _ = additive(1)
    rng = np.random.default_rng(1)
    X[:, 0] = rng.integers(0, 3, len(X))
    classes = np.digitize(2.0 * (X[:, 0] == 1) + X[:, 4], [0.0, 1.5])
    X[::9, 4] = np.nan
    y = classes.copy()
    y[80:] = -1
    model = S2MAMClassifier(
        basis="neural",
        n_features_to_select=2,
        categorical=[0],
        manifold=0,
        max_iter=120,
        random_state=0,
    ).fit(X, y)
    assert model.get_support(indices=True).tolist() == [0, 4]
    total = model.contributions(X).sum(axis=1) + model.intercept_
    np.testing.assert_allclose(total, model.decision_function(X), atol=1e-10)
    assert not model.contributions(X)[::9, 4].any()
    assert model.score(X[80:], classes[80:]) > 0.75
    binary = np.where(y == -1, -1, y > 0)
    two = S2MAMClassifier(
        basis="neural", n_features_to_select=2, manifold=0, max_iter=60, random_state=0
    ).fit(X, binary)
    assert two.decision_function(X).shape == (120,)
    assert two.score(X[80:], (classes > 0)[80:]) > 0.75


def test_drawn_masks_with_a_graph_and_their_checkpoint(tmp_path):
    X, y, _ = additive(n=80, labeled=40)
    settings = {
        "basis": "neural",
        "mask_learner": "rloo",
        "n_features_to_select": 2,
        "manifold": 0.1,
        "max_iter": 3,
        "n_masks": 2,
        "random_state": 0,
    }
    straight = S2MAMRegressor(**settings).fit(X, y)
    assert straight.stop_reason_ == "max_iter"
    assert len(straight.history_["criterion"]) == 3
    assert straight.chosen_["manifold"] == 0.1
    path = tmp_path / "fit.checkpoint"
    stopped = S2MAMRegressor(
        **settings, checkpoint=path, callbacks=[lambda progress: progress["done"] == 1]
    ).fit(X, y)
    assert stopped.stop_reason_ == "callback"
    resumed = S2MAMRegressor(**settings, checkpoint=path).fit(X, y)
    assert np.array_equal(resumed.predict(X), straight.predict(X))


@pytest.mark.parametrize("criterion", ["auto", "loo"])
def test_a_search_that_is_stopped_leaves_a_model(criterion):
    X, y, _ = additive(n=60)
    stop = [lambda progress: progress["done"] >= 20]
    settings = {"manifold": 0, "sparsity": 0.01, "criterion": criterion, "random_state": 0}
    model = S2MAMRegressor(basis="neural", callbacks=stop, **settings).fit(X, y)
    assert model.stop_reason_ == "callback"
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mask_learner": "posterior"}, "mask_learner='posterior'"),
        ({"criterion": "evidence", "mask_learner": "rloo"}, "criterion='evidence'"),
        ({"criterion": "labeled"}, "criterion='labeled'"),
        ({"solver": "admm"}, "solver='admm'"),
        ({"literal": True, "mask_learner": "reinforce"}, "literal=True"),
    ],
)
def test_settings_that_do_not_go_together(settings, message):
    X, y, _ = additive(n=60)
    with pytest.raises(InvalidInputError, match=message):
        S2MAMRegressor(basis="neural", **settings).fit(X, y)


def test_the_graph_term_is_the_quadratic_form_and_its_gradient():
    import torch

    from s2mam.bilevel.lower import GraphSettings
    from s2mam.neural.lower import Sets, Workbench
    from s2mam.neural.problem import NeuralProblem

    rng = np.random.default_rng(0)
    Z = rng.normal(size=(12, 2))
    problem = NeuralProblem(
        Z, ("numeric",) * 2, Z[:6, 0], np.full(6, 1 / 6), 0, GraphSettings(kind="dense"), 0
    )
    sets = Sets.of_folds(problem, np.ones((1, 2)), np.zeros(1), np.ones(1))
    bench = Workbench(problem, np.arange(2), sets)
    bench.rebuild_graph(np.ones(2))
    f = torch.tensor(rng.normal(size=(2, 1, 12)), dtype=torch.float32, requires_grad=True)
    value = bench.roughness(f)
    value.sum().backward()
    L = problem.laplacian(np.ones(2)).toarray()
    F = f.detach().numpy()[:, 0].astype(float)
    np.testing.assert_allclose(
        value.detach().numpy(), np.einsum("gi,ij,gj->g", F, L, F) / 144, rtol=1e-4
    )
    np.testing.assert_allclose(f.grad.numpy()[:, 0], 2 * F @ L / 144, rtol=1e-3, atol=1e-6)
