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

from s2mam.baselines.deep.augment import TableAugmenter  # noqa: E402
from s2mam.baselines.deep.curriculum import Curriculum, flexible_thresholds  # noqa: E402
from s2mam.baselines.flexmatch import FlexMatchClassifier, pseudo_labels  # noqa: E402
from s2mam.exceptions import InvalidInputError  # noqa: E402

pytestmark = pytest.mark.torch
FAST = {"max_iter": 400, "burn_in": 50, "learning_rate": 3e-3, "random_state": 0}


def _clouds(n=200, labels=1, seed=0, p=2):
    """Two Gaussian clouds at -3 and 3 on the first axis."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n + 2 * labels) % 2
    X = rng.normal(size=(truth.size, p))
    X[:, 0] += np.where(truth == 1, 3.0, -3.0)
    y = np.where(np.arange(truth.size) < 2 * labels, truth, -1)
    return X, y, truth


def test_known_thresholds():
    counts, waiting = torch.tensor([40.0, 10.0]), torch.tensor(50.0)
    held = flexible_thresholds(counts, waiting, 0.95)
    torch.testing.assert_close(held, torch.tensor([0.95 * 0.8 / 1.2, 0.95 * 0.2 / 1.8]))
    torch.testing.assert_close(held, torch.tensor([0.6333, 0.1056]), rtol=1e-3, atol=0)
    free = flexible_thresholds(counts, waiting, 0.95, warm_up=False)
    torch.testing.assert_close(free, torch.tensor([0.95, 0.1357]), rtol=1e-3, atol=0)
    for warm_up in (True, False):
        start = flexible_thresholds(torch.zeros(3), torch.tensor(0.0), 0.95, warm_up)
        assert torch.equal(start, torch.zeros(3))


@pytest.mark.parametrize("warm_up", [True, False])
def test_counts_are_those_of_the_last_confident_labels(warm_up):
    rng = np.random.default_rng(0)
    curriculum = Curriculum(30, 25, 3, 0.9, warm_up, torch.zeros(1))
    last = np.full(30, -1)
    for _ in range(20):
        rows = rng.permutation(25)[:10]
        labels, confident = rng.integers(3, size=10), rng.random(10) < 0.4
        curriculum.update(*map(torch.as_tensor, (rows, labels, confident)))
        last[rows[confident]] = labels[confident]
        counts = [np.sum(last[:25] == label) for label in (0, 1, 2, -1)]
        assert curriculum.counts.tolist() == counts
        most = max(counts) if warm_up else max(counts[:3])
        beta = np.array(counts[:3]) / max(most, 1)
        np.testing.assert_allclose(curriculum.thresholds, 0.9 * beta / (2 - beta), rtol=1e-5)


def test_labels_are_judged_by_the_thresholds_before_the_step():
    curriculum = Curriculum(4, 4, 2, 0.95, True, torch.zeros(1))
    curriculum.thresholds = torch.tensor([0.6, 0.9])
    share = torch.tensor([0.7, 0.55, 0.2, 0.02])  # of the first class
    logits = torch.stack([share.log(), (1 - share).log()], dim=1)
    labels, kept = pseudo_labels(logits, torch.arange(4), curriculum)
    assert labels.tolist() == [0, 0, 1, 1]
    assert kept.tolist() == [True, False, False, True]
    assert curriculum.counts.tolist() == [0, 1, 3]


@pytest.mark.parametrize("seed", [0, 1])
def test_two_clouds_with_one_label_each(seed):
    X, y, truth = _clouds(seed=seed)
    model = FlexMatchClassifier(**FAST).fit(X, y)
    assert np.mean(model.transduction_[2:] == truth[2:]) > 0.97
    assert np.all(model.thresholds_ > 0.9)
    assert model.thresholds_.max() <= 0.95 + 1e-6


def test_unlabelled_rows_decide_where_labels_do_not():
    """Both labels sit off-centre: the border between them cuts the clouds, rows mend it."""
    X, y, truth = _clouds(n=300)
    X[0], X[1] = [-3.0, 4.0], [3.0, -4.0]
    alone = FlexMatchClassifier(**{**FAST, "unlabeled_weight": 0.0}, scale=None).fit(X, y)
    together = FlexMatchClassifier(**FAST, scale=None).fit(X, y)
    assert together.score(X, truth) > alone.score(X, truth)


def test_within_the_burn_in_only_labelled_rows_count():
    X, y, _ = _clouds(n=40, labels=5)
    settings = {"burn_in": 30, "max_iter": 30, "random_state": 0, "scale": None}
    one = FlexMatchClassifier(**settings, unlabeled_weight=0.0).fit(X, y)
    two = FlexMatchClassifier(**settings, unlabeled_weight=9.0).fit(X, y)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    assert one.thresholds_.tolist() == [0.0, 0.0]


def test_views_can_be_chosen():
    X, y, truth = _clouds(n=60, labels=3)
    swap = FlexMatchClassifier(**FAST, augmentation=TableAugmenter(strong="swap")).fit(X, y)
    noise = FlexMatchClassifier(**FAST).fit(X, y)
    assert swap.score(X, truth) > 0.9
    assert np.any(swap.decision_function(X) != noise.decision_function(X))


def test_fits_repeat_pickle_and_score_rows_one_by_one():
    X, y, _ = _clouds(n=40, labels=2)
    settings = {"max_iter": 60, "burn_in": 10, "random_state": 1}
    model = FlexMatchClassifier(**settings).fit(X, y)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(
        scores, FlexMatchClassifier(**settings).fit(X, y).decision_function(X)
    )
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(scores, loaded.decision_function(X))
    single = [model.decision_function(X[[row]])[0] for row in range(10)]
    np.testing.assert_allclose(single, scores[:10], rtol=1e-12)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_fit_on_a_gpu_leaves_nothing_there():
    X, y, truth = _clouds()
    model = FlexMatchClassifier(**FAST, device="cuda").fit(X, y)
    assert model.score(X, truth) > 0.97
    assert all(type(array) is np.ndarray for array in model._weights.values())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("threshold", 0.0), ("threshold", 1.1), ("unlabeled_weight", -1.0), ("burn_in", -1)),
        *(("batch_size", 0), ("ratio", 0), ("average", 1.0), ("augmentation", "noise")),
        *(("hidden", 5), ("max_iter", 0), ("device", "tpu"), ("learning_rate", None)),
    ],
)
def test_bad_parameters_are_named(name, value):
    X, y, _ = _clouds(n=20)
    with pytest.raises(InvalidInputError, match=name):
        FlexMatchClassifier(**{name: value}).fit(X, y)


SMALL = {
    "hidden": (16,),
    "max_iter": 20,
    "burn_in": 10,
    "learning_rate": 0.1,
    "ratio": 1,
}


@parametrize_with_checks(
    [FlexMatchClassifier(**SMALL)],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_minus_one_can_be_a_class():
    model = FlexMatchClassifier(**SMALL, unlabeled=None)
    check_classifiers_classes("FlexMatchClassifier", model)
