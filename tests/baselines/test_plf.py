from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from s2mam.baselines.deep.augment import TableAugmenter  # noqa: E402
from s2mam.baselines.deep.tensors import Batch, TableTensors  # noqa: E402
from s2mam.baselines.plf import (  # noqa: E402
    CertaintyGate,
    PLFRegressor,
    mixed_labels,
    similar_labels,
)

pytestmark = pytest.mark.torch


def test_cold_similarity_is_the_label_of_the_most_similar_row():
    rng = np.random.default_rng(0)
    features, bank, values = rng.normal(size=(6, 3)), rng.normal(size=(9, 3)), rng.normal(size=9)
    unit = [part / np.linalg.norm(part, axis=1, keepdims=True) for part in (features, bank)]
    nearest = np.argmax(unit[0] @ unit[1].T, axis=1)
    cold = similar_labels(*map(torch.as_tensor, (features, bank, values)), 1e-4)
    np.testing.assert_allclose(mixed_labels(torch.full((6,), 99.0), cold, 0.0), values[nearest])


def test_similarity_is_a_softmax_of_cosines():
    features = torch.tensor([[2.0, 0.0]])
    bank = torch.tensor([[5.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    weights = np.exp([2.0, 0.0, -2.0]) / np.exp([2.0, 0.0, -2.0]).sum()
    found = similar_labels(features, bank, torch.tensor([1.0, 2.0, 3.0]), 0.5)
    assert found.item() == pytest.approx(weights @ [1.0, 2.0, 3.0], rel=1e-6)


def test_hot_similarity_is_the_mean_of_the_labels():
    values = torch.tensor([1.0, 2.0, 6.0])
    assert similar_labels(torch.randn(1, 2), torch.randn(3, 2), values, 1e6).item() == (
        pytest.approx(3.0, rel=1e-4)
    )


def test_mixture():
    mixed = mixed_labels(torch.tensor([1.0]), torch.tensor([2.0]), 0.6)
    assert mixed.item() == pytest.approx(1.4)


def test_equal_variances_are_all_kept():
    gate = CertaintyGate(95.0)
    for _ in range(3):
        assert gate.keep(torch.full((8,), 0.3)).tolist() == [1.0] * 8
    assert gate.share == 1.0


def test_the_threshold_is_a_percentile_out_of_a_hundred_of_the_step_before():
    gate = CertaintyGate(75.0)
    assert gate.keep(torch.arange(5.0)).sum() == 5  # all are below the first threshold
    assert gate.threshold.item() == np.percentile(np.arange(5.0), 75.0) == 3.0
    assert gate.keep(torch.tensor([2.9, 3.0, 3.1])).tolist() == [1.0, 1.0, 0.0]
    assert gate.share == pytest.approx((1.0 + 2.0 / 3.0) / 2.0)


def test_about_the_given_share_is_used():
    """Read as a percentile out of one, as published code does, next to nothing would be."""
    X, _, partial = _linear()
    model = PLFRegressor(max_iter=100, random_state=0).fit(X, partial)
    assert model.kept_share_ > 0.8


def _linear(n=200, labeled=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = X @ np.array([1.0, -2.0, 0.5, 0.0, 0.0]) + 0.1 * rng.normal(size=n)
    return X, y, np.where(np.arange(n) < labeled, y, np.nan)


def test_not_worse_than_labels_alone_on_a_linear_target():
    errors = {0.0: [], 0.01: []}
    for seed in range(2):
        X, y, partial = _linear(seed=seed)
        for weight, found in errors.items():
            model = PLFRegressor(unlabeled_weight=weight, max_iter=200, random_state=seed)
            gaps = model.fit(X, partial).predict(X[20:]) - y[20:]
            found.append(np.sqrt(np.mean(gaps**2)))
    assert np.mean(errors[0.01]) < 1.05 * np.mean(errors[0.0])


def test_pseudo_labels_by_hand():
    """No dropout and no change of rows: guesses agree, and the mixture can be computed."""
    torch.manual_seed(0)
    model = PLFRegressor(dropout=0.0, hidden=(4,), beta=0.3, temperature=0.2)
    net = model._build(2, 1).double()
    x, y = torch.randn(6, 2, dtype=torch.float64), torch.randn(3, dtype=torch.float64)
    data = TableTensors(x=x, labeled=torch.arange(3), y=y, n_classes=0)
    views = TableAugmenter(weak=0.0, strong=0.0).bind(x)
    batch = Batch(step=1, x=x[:2], y=y[:2], u=x[3:], u_rows=torch.arange(3, 6))
    targets, variances = model._labeler(net, data, views)(batch)
    with torch.no_grad():
        features = net["trunk"](x)
        guesses = net["head"](features)[3:, 0]
        similar = similar_labels(features[3:], features[:3], y, 0.2)
    np.testing.assert_allclose(targets, 0.3 * guesses + 0.7 * similar)
    np.testing.assert_allclose(variances, 0.0, atol=1e-20)
    assert not targets.requires_grad


def test_guesses_with_dropout_differ():
    torch.manual_seed(0)
    model = PLFRegressor(dropout=0.5, hidden=(30,))
    net = model._build(2, 1)
    x = torch.randn(8, 2)
    data = TableTensors(x=x, labeled=torch.arange(4), y=torch.randn(4), n_classes=0)
    batch = Batch(step=1, x=x[:4], y=data.y, u=x[4:], u_rows=torch.arange(4, 8))
    _, variances = model._labeler(net.train(), data, TableAugmenter().bind(x))(batch)
    assert variances.shape == (4,)
    assert (variances > 0).all()


def test_predictions_are_without_dropout():
    X, _, partial = _linear()
    model = PLFRegressor(max_iter=20, dropout=0.5, random_state=0).fit(X, partial)
    np.testing.assert_array_equal(model.predict(X), model.predict(X))


def test_many_labels_are_compared_within_the_batch(monkeypatch):
    monkeypatch.setattr("s2mam.baselines.plf._LARGEST_BANK", 10)
    X, _, partial = _linear()
    model = PLFRegressor(max_iter=20, random_state=0).fit(X, partial)
    assert np.isfinite(model.predict(X)).all()
