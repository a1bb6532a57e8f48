from __future__ import annotations

import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from expected_checks import expected_failures  # noqa: E402
from sklearn.metrics import roc_auc_score  # noqa: E402
from sklearn.utils.estimator_checks import (  # noqa: E402
    check_classifiers_classes,
    parametrize_with_checks,
)

from s2mam.baselines.deep.rewarder import (  # noqa: E402
    Judging,
    build_judges,
    fake_labels,
    judge_losses,
    rewards,
    similarity,
)
from s2mam.baselines.semireward import SemiRewardClassifier, SemiRewardRegressor  # noqa: E402
from s2mam.exceptions import InvalidInputError  # noqa: E402

pytestmark = pytest.mark.torch
FAST = {"max_iter": 200, "width": 32, "random_state": 0}


def _clouds(n=120, labels=3, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    X = rng.normal(size=(n, 3))
    X[:, 0] += np.where(truth == 1, 3.0, -3.0)
    return X, np.where(np.arange(n) < 2 * labels, truth, -1), truth


def _numbers(n=120, labeled=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = 1000.0 + 50.0 * (X[:, 0] - X[:, 1])
    return X, np.where(np.arange(n) < labeled, y, np.nan), y


def test_known_similarities():
    codes = torch.eye(3)
    same = similarity(codes, codes, numbers=False)
    torch.testing.assert_close(same, torch.ones(3))
    other = similarity(codes, codes.roll(1, dims=0), numbers=False)
    torch.testing.assert_close(other, torch.full((3,), 0.5))
    near = similarity(torch.tensor([[0.0], [1.0]]), torch.tensor([[0.0], [-1.0]]), numbers=True)
    torch.testing.assert_close(near, torch.tensor([1.0, np.exp(-2.0)], dtype=torch.float32))


def _trained_judges(features, truth, numbers, steps=150):
    judges = build_judges(features.shape[1], truth.shape[1], 32)
    optimizer = torch.optim.Adam(judges.parameters(), lr=5e-3)
    for _ in range(steps):
        optimizer.zero_grad()
        judge_losses(judges, features, truth, numbers).backward()
        optimizer.step()
    return judges


@pytest.mark.parametrize("classes", [2, 4])
def test_a_trained_rewarder_tells_true_labels_from_others(classes):
    torch.manual_seed(0)
    labels = torch.arange(400) % classes
    truth = torch.nn.functional.one_hot(labels, classes).float()
    features = 4.0 * torch.nn.functional.one_hot(labels, 6).float() + torch.randn(400, 6)
    train, test = slice(0, 200), slice(200, 400)
    judges = _trained_judges(features[train], truth[train], numbers=False)
    shown = truth[test].clone()
    shown[100:] = truth[torch.randint(400, (100,))]  # the second half is random
    right = (shown * truth[test]).sum(dim=1) > 0
    with torch.no_grad():
        values = rewards(judges, features[test], shown)
    assert roc_auc_score(right, values) > 0.9
    assert bool(((values > 0) & (values < 1)).all())


def test_a_trained_rewarder_ranks_numbers_by_their_error():
    torch.manual_seed(0)
    features = torch.randn(400, 3)
    truth = features[:, :1]
    judges = _trained_judges(features[:200], truth[:200], numbers=True)
    with torch.no_grad():
        close = rewards(judges, features[200:], truth[200:] + 0.1)
        far = rewards(judges, features[200:], truth[200:] + 2.0)
    assert float((close > far).float().mean()) > 0.9


def test_the_generator_learns_and_does_not_move_the_rewarder():
    torch.manual_seed(0)
    judges = build_judges(4, 3, 16)
    features, truth = torch.randn(20, 4), torch.eye(3)[torch.arange(20) % 3]
    judge_losses(judges, features, truth, numbers=False).backward()
    moved = {
        name: max(float(w.grad.abs().max()) for w in part.parameters())
        for name, part in judges.items()
    }
    assert all(size > 0 for size in moved.values()), moved
    judges.zero_grad(set_to_none=True)
    fake = fake_labels(judges, features, numbers=False)
    assert torch.equal(fake.detach().sum(dim=1), torch.ones(20))
    assert set(fake.detach().unique().tolist()) == {0.0, 1.0}
    assert all(weight.requires_grad for weight in judges.parameters())


def test_a_reward_does_not_depend_on_the_batch():
    torch.manual_seed(0)
    judges = build_judges(4, 2, 16).double()
    features = torch.randn(6, 4, dtype=torch.float64)
    labels = torch.eye(2, dtype=torch.float64)[torch.arange(6) % 2]
    alone = torch.cat([rewards(judges, features[[k]], labels[[k]]) for k in range(6)])
    torch.testing.assert_close(rewards(judges, features, labels), alone)


def test_judges_learn_first_and_then_keep_what_is_above_the_mean():
    torch.manual_seed(0)
    judging = Judging(build_judges(4, 2, 16), start=10, every=5, numbers=False)
    features, labels = torch.randn(30, 4), torch.eye(2)[torch.arange(30) % 2]
    assert float(judging.first_stage(10, features, labels).detach()) > 0
    assert judging.first_stage(11, features, labels) == 0.0
    passed, loss = judging.second_stage(10, features, labels)
    assert bool((passed == 1).all())
    assert loss == 0.0
    values = rewards(judging.judges, features, labels).detach()
    passed, loss = judging.second_stage(11, features, labels)
    assert torch.equal(passed == 1, values >= values.mean())
    assert loss == 0.0
    assert float(judging.second_stage(15, features, labels)[1].detach()) > 0


def test_rewards_can_be_compared_within_a_class():
    torch.manual_seed(0)
    judges = build_judges(4, 3, 16)
    features, labels = torch.randn(31, 4), torch.eye(3)[torch.arange(31) % 2]
    labels[30] = torch.eye(3)[2]
    values = rewards(judges, features, labels).detach()
    passed, _ = Judging(judges, 0, 100, False, by_class=True).second_stage(1, features, labels)
    for label in range(2):
        own = values[:30][label::2]
        assert torch.equal(passed[:30][label::2] == 1, own >= own.mean())
    assert float(passed[30]) == 1.0  # alone in its class


def test_clouds_are_told_apart():
    X, y, truth = _clouds()
    settings = {**FAST, "max_iter": 400, "burn_in": 100, "learning_rate": 3e-3}
    model = SemiRewardClassifier(**settings).fit(X, y)
    assert model.score(X, truth) > 0.97
    assert model.thresholds_.shape == (2,)
    published = SemiRewardClassifier(**settings, reward_mean="batch").fit(X, y)
    assert published.score(X, truth) < model.score(X, truth)


def test_numbers_in_their_own_units():
    X, partial, y = _numbers()
    model = SemiRewardRegressor(**{**FAST, "max_iter": 400}).fit(X, partial)
    assert model.score(X[40:], y[40:]) > 0.9
    small = SemiRewardRegressor(**{**FAST, "max_iter": 400}).fit(X, partial / 1000 - 1)
    np.testing.assert_allclose(1000 * (small.predict(X) + 1), model.predict(X), rtol=1e-3)


@pytest.mark.parametrize("cls", [SemiRewardClassifier, SemiRewardRegressor])
def test_unlabelled_rows_count(cls):
    X, y, _ = _clouds(labels=10) if cls is SemiRewardClassifier else _numbers(labeled=20)
    more = {"burn_in": 20} if cls is SemiRewardClassifier else {}
    settings = {**FAST, **more, "max_iter": 80, "scale": None}
    one, two = (cls(**settings, unlabeled_weight=w).fit(X, y)._score_rows(X) for w in (0.0, 2.0))
    assert np.any(one != two)


@pytest.mark.parametrize("cls", [SemiRewardClassifier, SemiRewardRegressor])
def test_fits_repeat_and_pickle(cls):
    X, y, _ = _clouds(n=40) if cls is SemiRewardClassifier else _numbers(n=40, labeled=10)
    settings = {**FAST, "max_iter": 60}
    model = cls(**settings).fit(X, y)
    values = model._score_rows(X)
    np.testing.assert_array_equal(values, cls(**settings).fit(X, y)._score_rows(X))
    np.testing.assert_array_equal(values, pickle.loads(pickle.dumps(model))._score_rows(X))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("unlabeled_weight", -1.0), ("reward_start", 1.5), ("reward_every", 0), ("width", 0)),
        *(("reward_rate", 0.0), ("max_iter", 0), ("hidden", None), ("ratio", 0)),
    ],
)
def test_bad_parameters_are_named(name, value):
    X, y, _ = _clouds(n=20)
    Xr, yr, _ = _numbers(n=20, labeled=5)
    with pytest.raises(InvalidInputError, match=name):
        SemiRewardClassifier(**{name: value}).fit(X, y)
    with pytest.raises(InvalidInputError, match=name):
        SemiRewardRegressor(**{name: value}).fit(Xr, yr)


@pytest.mark.parametrize(
    ("name", "value"), [("reward_mean", "all"), ("threshold", 0), ("burn_in", -1)]
)
def test_bad_parameters_of_the_classifier_are_named(name, value):
    X, y, _ = _clouds(n=20)
    with pytest.raises(InvalidInputError, match=name):
        SemiRewardClassifier(**{name: value}).fit(X, y)


SMALL = {"hidden": (16,), "max_iter": 20, "learning_rate": 0.1, "ratio": 1, "width": 8}


@parametrize_with_checks(
    [
        SemiRewardClassifier(**SMALL, burn_in=10),
        SemiRewardRegressor(**SMALL),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_minus_one_can_be_a_class():
    model = SemiRewardClassifier(**SMALL, burn_in=10, unlabeled=None)
    check_classifiers_classes("SemiRewardClassifier", model)
