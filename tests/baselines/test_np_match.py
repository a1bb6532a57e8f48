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

from s2mam.baselines.deep.neural_process import (  # noqa: E402
    Latent,
    RowMemory,
    build_process,
    decode,
    latent_of,
    predictive,
    skew_divergence,
)
from s2mam.baselines.np_match import NPMatchClassifier, aligned  # noqa: E402
from s2mam.exceptions import InvalidInputError  # noqa: E402

pytestmark = pytest.mark.torch
FAST = {"max_iter": 200, "burn_in": 60, "n_draws": 4, "ratio": 4, "random_state": 0}


def _clouds(n=120, labels=3, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    X = rng.normal(size=(n, 3))
    X[:, 0] += np.where(truth == 1, 3.0, -3.0)
    return X, np.where(np.arange(n) < 2 * labels, truth, -1), truth


def _random_latent(seed, r=4):
    generator = torch.Generator().manual_seed(seed)
    draw = torch.randn(2, r, generator=generator, dtype=torch.float64)
    return Latent(draw[0], 0.1 + draw[1].abs())


def test_divergence_of_equal_distributions_is_zero():
    one = _random_latent(0)
    for skew in (0.0, 0.3, 1.0):
        assert float(skew_divergence(one, one, skew)) == pytest.approx(0.0, abs=1e-12)


def test_known_divergence():
    one, zero = torch.ones(1), torch.zeros(1)
    value = skew_divergence(Latent(zero, one), Latent(2 * one, one), 0.5)
    assert float(value) == pytest.approx(0.5)


@pytest.mark.parametrize("skew", [0.1, 0.5, 0.8])
def test_divergence_is_the_sum_of_two_to_the_geometric_mean(skew):
    near, far = _random_latent(1), _random_latent(2)
    middle = 1 / ((1 - skew) / near.spread**2 + skew / far.spread**2)
    center = middle * ((1 - skew) * near.mean / near.spread**2 + skew * far.mean / far.spread**2)
    normal = torch.distributions.Normal
    joint = normal(center, middle.sqrt())
    divergence = torch.distributions.kl_divergence
    expected = (1 - skew) * divergence(normal(*near), joint).sum()
    expected = expected + skew * divergence(normal(*far), joint).sum()
    torch.testing.assert_close(skew_divergence(near, far, skew), expected)
    assert float(expected) > 0


def test_the_memory_never_exceeds_its_size():
    torch.manual_seed(0)
    memory = RowMemory(10, 3, torch.zeros(1))
    assert memory.rows.shape == (1, 3)
    seen = [memory.rows]
    for size in (4, 0, 7, 25, 3):
        rows = torch.randn(size, 3, requires_grad=True)
        memory.append(rows)
        seen.append(rows.detach())
        assert len(memory.rows) <= 10
        assert not memory.rows.requires_grad
        assert torch.equal(memory.rows, torch.cat(seen)[-10:])
    torch.testing.assert_close(memory.mean, memory.rows.mean(dim=0))


def test_decoding_is_that_of_the_joined_inputs():
    torch.manual_seed(0)
    net = build_process(3, 2, (8, 6), 4)
    latent = latent_of(net, torch.randn(5, 4))
    assert bool((latent.spread > 0.1).all())
    noise, features, summary = torch.randn(7, 4), torch.randn(9, 6), torch.randn(4)
    scores = decode(net, latent, noise, features, summary)
    assert scores.shape == (7, 9, 2)
    draws = latent.mean + latent.spread * noise
    for t in range(7):
        parts = [draws[t].expand(9, -1), features, summary.expand(9, -1)]
        expected = net["head"](net["decoder"](torch.cat(parts, dim=1)))
        torch.testing.assert_close(scores[t], expected)


def test_entropy_of_sure_rows_is_zero_and_not_missing():
    scores = torch.tensor([[[1000.0, -1000.0], [0.0, 0.0]]])
    probabilities, entropy = predictive(scores)
    assert probabilities[0].tolist() == [1.0, 0.0]
    assert entropy.tolist() == pytest.approx([0.0, np.log(2)])
    opposite = torch.stack([scores[0], -scores[0]])
    assert predictive(opposite)[1].tolist() == pytest.approx([np.log(2)] * 2)


def test_alignment_favours_what_is_rare_in_the_batch():
    even = aligned(torch.tensor([[0.9, 0.1], [0.7, 0.3]]))
    torch.testing.assert_close(even.sum(dim=1), torch.ones(2))
    assert float(even[1, 1]) > 0.5
    assert torch.isfinite(aligned(torch.tensor([[1.0, 0.0], [1.0, 0.0]]))).all()


@pytest.mark.parametrize("align", [True, False])
def test_clouds_are_told_apart(align):
    X, y, truth = _clouds()
    model = NPMatchClassifier(**FAST, align=align).fit(X, y)
    assert model.score(X, truth) > 0.97
    assert np.all(model.thresholds_ > 0.5)


def test_no_pseudo_label_passes_where_certainty_is_out_of_reach():
    X, y, _ = _clouds(n=40)
    settings = {**FAST, "max_iter": 80, "max_entropy": 0.0}
    one, two = (
        NPMatchClassifier(**settings, unlabeled_weight=weight).fit(X, y) for weight in (0.0, 5.0)
    )
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    assert one.thresholds_.tolist() == [0.0, 0.0]


def test_the_memory_of_a_fit_is_bounded():
    X, y, _ = _clouds(n=60)
    model = NPMatchClassifier(**{**FAST, "max_iter": 80}, memory=20).fit(X, y)
    assert model._context["latent"].shape == (20, 12)
    assert model._context["noise"].shape == (4, 12)


def test_a_row_has_one_answer_and_fits_pickle_and_repeat():
    X, y, _ = _clouds(n=40)
    settings = {**FAST, "max_iter": 80}
    model = NPMatchClassifier(**settings).fit(X, y)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(scores, model.decision_function(X))
    again = NPMatchClassifier(**settings).fit(X, y)
    np.testing.assert_array_equal(scores, again.decision_function(X))
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(scores, loaded.decision_function(X))
    single = [model.decision_function(X[[row]])[0] for row in range(5)]
    np.testing.assert_allclose(single, scores[:5], rtol=1e-10)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("threshold", 2.0), ("max_entropy", -0.1), ("unlabeled_weight", -1), ("n_draws", 0)),
        *(("divergence_weight", -1.0), ("width", 0), ("memory", 0), ("burn_in", -2)),
        *(("clip", 0.0), ("batch_size", 0), ("max_iter", 1.5), ("augmentation", 1)),
    ],
)
def test_bad_parameters_are_named(name, value):
    X, y, _ = _clouds(n=20)
    with pytest.raises(InvalidInputError, match=name):
        NPMatchClassifier(**{name: value}).fit(X, y)


SMALL = {
    "hidden": (16,),
    "max_iter": 20,
    "burn_in": 10,
    "learning_rate": 0.1,
    "ratio": 1,
    "n_draws": 2,
    "width": 4,
}


@parametrize_with_checks(
    [NPMatchClassifier(**SMALL)],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_minus_one_can_be_a_class():
    model = NPMatchClassifier(**SMALL, unlabeled=None)
    check_classifiers_classes("NPMatchClassifier", model)
