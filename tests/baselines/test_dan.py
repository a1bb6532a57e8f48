from __future__ import annotations

import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from expected_checks import expected_failures  # noqa: E402
from sklearn.utils.estimator_checks import (  # noqa: E402
    check_classifiers_classes,
    parametrize_with_checks,
)

from s2mam.baselines.dan import DANClassifier, DANRegressor, adaptive_factors  # noqa: E402
from s2mam.baselines.deep.group_nets import (  # noqa: E402
    build_nets,
    column_norms,
    evaluate_nets,
    fit_nets,
    mean_errors,
    mean_losses,
    shrink_groups,
)
from s2mam.baselines.shared.groups import group_threshold  # noqa: E402
from s2mam.exceptions import InvalidInputError  # noqa: E402
from s2mam.training.backend import torch_session  # noqa: E402
from s2mam.training.loop import TrainingPlan  # noqa: E402

pytestmark = pytest.mark.torch
FAST = {"max_iter": 300, "learning_rate": 0.1, "penalty": 0.05, "adaptive_penalty": 0.05}


def _teachers(seeds, n=500, p=10):
    """Tables, and targets from random tanh networks of the first three columns, noise 0.1."""
    tables, targets = [], []
    for seed in seeds:
        with torch_session(1000 + seed, torch.device("cpu")), torch.no_grad():
            nets = build_nets(1, (3, 20, 20, 20, 1), scaled=False)
            x = torch.randn(n, p)
            y = evaluate_nets(nets, x[:, :3])[0, 0] + 0.1 * torch.randn(n)
        tables.append(x)
        targets.append((y - y.mean()) / y.std())
    return torch.stack(tables), torch.stack(targets)


def _recovered(seeds):
    """How often the adaptive fit keeps exactly the three columns of the target."""
    x, y = _teachers(seeds)
    count, n, p = x.shape
    weights = torch.full((count, n), 1.0 / n)
    plan = TrainingPlan(steps=1500, learning_rate=0.05, average=None)
    with torch_session(0, torch.device("cpu")):
        first = build_nets(count, (p, 10, 10, 10, 1))
        fit_nets(first, x, y, weights, torch.full((count, p), 0.05), plan)
        second = build_nets(count, (p, 10, 10, 10, 1))
        fit_nets(second, x, y, weights, 0.05 * adaptive_factors(column_norms(first), 2.0), plan)
    kept = column_norms(second) > 0
    return int((kept == (torch.arange(p) < 3)).all(dim=1).sum())


def _data(n=60, p=5, labeled=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = 100.0 + 10.0 * (X[:, 1] + 0.5 * np.abs(X[:, 3]))
    return X, y, np.where(np.arange(n) < labeled, y, np.nan)


def test_known_shrinkage():
    groups = torch.tensor([[[3.0, 0.3], [4.0, 0.4]]])
    shrunk = shrink_groups(groups, torch.tensor([[2.5, 0.5]]))
    torch.testing.assert_close(shrunk, torch.tensor([[[1.5, 0.0], [2.0, 0.0]]]))
    assert float(shrunk[0, 1, 1]) == 0.0
    away = shrink_groups(groups, torch.full((1, 2), torch.inf))
    assert float(away.abs().max()) == 0.0
    torch.testing.assert_close(shrink_groups(groups, torch.zeros(1, 2)), groups)
    assert torch.isfinite(shrink_groups(torch.zeros(1, 2, 2), torch.zeros(1, 2))).all()


def test_shrinkage_is_that_of_the_other_systems():
    rng = np.random.default_rng(0)
    groups = rng.normal(size=(4, 6))
    expected = np.column_stack([group_threshold(column, 1.5) for column in groups.T])
    ours = shrink_groups(torch.as_tensor(groups)[None], torch.full((1, 6), 1.5))
    np.testing.assert_allclose(ours[0], expected)


def test_networks_side_by_side_are_single_networks():
    x, plain = torch.randn(7, 3), torch.nn.Sequential()
    nets = build_nets(4, (3, 5, 5, 2))
    for k in range(3):
        layer = torch.nn.Linear(*nets[f"weight{k}"].shape[:0:-1])
        layer.weight.data = nets[f"weight{k}"][2].detach()
        layer.bias.data = nets[f"bias{k}"][2, :, 0].detach()
        plain.append(layer)
        if k < 2:
            plain.append(torch.nn.Tanh())
    torch.testing.assert_close(evaluate_nets(nets, x)[2].T, plain(x))
    each = evaluate_nets(nets, x.expand(4, -1, -1))
    torch.testing.assert_close(each, evaluate_nets(nets, x))


def test_losses_are_those_of_torch():
    outputs, weights = torch.randn(2, 3, 5), torch.full((2, 5), 0.2)
    codes, numbers = torch.tensor([0, 2, 1, 1, 0]), torch.randn(5)
    functional = torch.nn.functional
    for g in range(2):
        expected = functional.cross_entropy(outputs[g].T, codes)
        torch.testing.assert_close(mean_losses(outputs, codes, weights)[g], expected)
        expected = functional.mse_loss(outputs[g, 0], numbers)
        torch.testing.assert_close(mean_losses(outputs, numbers, weights)[g], expected)
    one = torch.tensor([[0.0, 0.0, 1.0, 0.0, 0.0]])
    got = mean_losses(outputs[:1], numbers, one)
    torch.testing.assert_close(got[0], (outputs[0, 0, 2] - numbers[2]) ** 2)


def test_errors_are_shares_of_wrong_classes_and_squares_of_numbers():
    outputs = torch.tensor([[[2.0, 0.0, 5.0], [1.0, 9.0, 4.0]]])  # answers 0, 1, 0
    weights = torch.tensor([[0.5, 0.25, 0.25]])
    assert mean_errors(outputs, torch.tensor([0, 1, 1]), weights).tolist() == [0.25]
    assert mean_errors(outputs, torch.tensor([1, 1, 1]), weights).tolist() == [0.75]
    numbers = torch.tensor([1.0, 0.0, 3.0])
    assert mean_errors(outputs, numbers, weights).tolist() == [0.5 * 1.0 + 0.25 * 4.0]


def test_the_scale_of_the_first_fit_does_not_matter():
    norms = torch.tensor([[0.2, 0.1, 0.0], [3.0, 3.0, 1.5]])
    expected = torch.tensor([[1.0, 4.0, torch.inf], [1.0, 1.0, 4.0]])
    torch.testing.assert_close(adaptive_factors(norms, 2.0), expected)
    torch.testing.assert_close(adaptive_factors(0.01 * norms, 2.0), expected)
    # Without any column left there is nothing to come back.
    assert torch.isinf(adaptive_factors(torch.zeros(1, 3), 2.0)).all()


def test_the_objective_falls_and_barred_columns_stay_out():
    with torch_session(0, torch.device("cpu")):
        x = torch.randn(80, 4)
        y = torch.sin(x[:, 0]) + x[:, 1]
        nets = build_nets(2, (4, 10, 10, 10, 1))
        penalties = torch.full((2, 4), 0.02)
        penalties[1, 0] = torch.inf
        plan = TrainingPlan(steps=200, learning_rate=1e-2, average=None, check_every=1)
        log = fit_nets(nets, x, y, torch.full((2, 80), 1 / 80), penalties, plan)
    assert np.all(np.diff(log.history) < 1e-6)
    assert float(column_norms(nets)[1, 0]) == 0.0
    assert float(column_norms(nets)[0, 0]) > 0.0


def test_the_columns_of_random_networks_are_found():
    assert _recovered(range(3)) >= 2


@pytest.mark.slow
def test_the_columns_are_found_in_eight_of_ten_draws():
    assert _recovered(range(10)) >= 8


def test_a_dropped_column_never_returns():
    """The second penalty is zero, but what the first dropped has an infinite weight."""
    X, _, partial = _data()
    model = DANRegressor(**{**FAST, "penalty": 0.5, "adaptive_penalty": 0.0}, random_state=0)
    model.fit(X, partial)
    first = DANRegressor(**{**FAST, "penalty": 0.0, "adaptive_penalty": 0.0}, random_state=0)
    assert first.fit(X, partial).get_support().all()
    assert not model.get_support().all()


def test_penalties_are_chosen_by_rows_that_did_not_train():
    X, y, partial = _data(n=140, labeled=90)
    model = DANRegressor(max_iter=200, learning_rate=0.1, random_state=0).fit(X, partial)
    grid = {2.0, 1.0, 0.5, 0.1, 0.05, 0.01, 0.001}
    assert {model.penalty_, model.adaptive_penalty_} <= grid
    assert model.score(X[90:], y[90:]) > 0.8
    assert model.get_support()[[1, 3]].all()
    assert model.n_iter_ == 400
    # Noise alone: the strongest penalties win, and the answer is a constant.
    noise = np.random.default_rng(1).normal(size=90)
    null = DANRegressor(max_iter=200, learning_rate=0.1, random_state=0).fit(X[:90], noise)
    assert np.ptp(null.predict(X)) < 0.5 * np.ptp(model.predict(X)) / np.std(partial[:90])


def test_sure_mistakes_do_not_make_the_answer_a_constant():
    """Networks separate the few labels, and are sure even where they are wrong."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30))
    y = np.digitize(X[:, 0] + X[:, 1] + rng.normal(size=400), [-0.7, 0.7])
    model = DANClassifier(max_iter=300, learning_rate=0.1, random_state=0)
    model.fit(X, np.where(np.arange(400) < 60, y, -1))
    assert model.get_support()[:2].all()
    assert not model.get_support().all()
    assert model.score(X[60:], y[60:]) > 0.45


@pytest.mark.parametrize("labels", [1, 2])
def test_very_few_labels(labels):
    X, y, _ = _data(n=20)
    partial = np.where(np.arange(20) < labels, y, np.nan)
    model = DANRegressor(max_iter=20, random_state=0).fit(X, partial)
    assert np.isfinite(model.predict(X)).all()


def test_unlabelled_rows_are_not_used():
    X, _, partial = _data()
    one = DANRegressor(**FAST, scale=None, random_state=0).fit(X, partial)
    shown = np.isfinite(partial)
    two = DANRegressor(**FAST, scale=None, random_state=0).fit(X[shown], partial[shown])
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


def test_classes_are_learned_with_the_column_they_depend_on():
    X = np.random.default_rng(0).normal(size=(120, 4))
    y = np.digitize(X[:, 2], [-0.5, 0.5])
    settings = {**FAST, "max_iter": 500, "adaptive_penalty": 0.02}
    model = DANClassifier(**settings, random_state=0).fit(X, np.where(np.arange(120) < 90, y, -1))
    assert model.get_support(indices=True).tolist() == [2]
    assert model.score(X[90:], y[90:]) > 0.85


def test_fits_pickle_and_repeat():
    X, _, partial = _data()
    model = DANRegressor(**FAST, random_state=3).fit(X, partial)
    again = DANRegressor(**FAST, random_state=3).fit(X, partial)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    np.testing.assert_array_equal(model.predict(X), loaded.predict(X))
    assert all(type(array) is np.ndarray for array in model._weights.values())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("penalty", "lasso"), ("penalty", -1.0), ("adaptive_penalty", None), ("gamma", -1)),
        *(("init", "zero"), ("n_splits", 0), ("hidden", ()), ("max_iter", 0)),
        *(("learning_rate", 0.0), ("device", "gpu")),
    ],
)
def test_bad_parameters_are_named(name, value):
    X, _, partial = _data()
    with pytest.raises(InvalidInputError, match=name):
        DANRegressor(**{name: value}).fit(X, partial)


SMALL = {"max_iter": 20, "learning_rate": 0.3, "penalty": 1e-3, "adaptive_penalty": 1e-3}


@parametrize_with_checks(
    [
        DANRegressor(**SMALL),
        DANClassifier(**SMALL),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_minus_one_can_be_a_class():
    model = DANClassifier(**SMALL, unlabeled=None)
    check_classifiers_classes("DANClassifier", model)
