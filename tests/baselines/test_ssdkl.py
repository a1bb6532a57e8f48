from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from s2mam.baselines.shared.kernel_posterior import KernelPosterior  # noqa: E402
from s2mam.baselines.ssdkl import (  # noqa: E402
    SSDKLRegressor,
    posterior_of,
    semi_supervised_loss,
)
from s2mam.training.loop import TrainingLog  # noqa: E402

pytestmark = pytest.mark.torch


def _data(n=120, labeled=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=n)
    return X, y, np.where(np.arange(n) < labeled, y, np.nan)


def _identity(model, anchors, values):
    """The network of an estimator with the rows themselves as embedding, all sizes one."""
    net = model._build(anchors.shape[1], 1).double()
    net["trunk"] = torch.nn.Identity()
    model._anchors, model._values = anchors, values
    return net


def test_with_the_rows_as_embedding_it_is_the_textbook_process():
    model = SSDKLRegressor()
    net = _identity(model, np.zeros((1, 1)), np.ones(1))
    x = np.linspace(-3, 3, 13)
    with torch.no_grad():
        mean, variance = model._forward(net, torch.as_tensor(x[:, None])).numpy().T
    np.testing.assert_allclose(mean, np.exp(-(x**2) / 2) / 2, atol=1e-6)
    np.testing.assert_allclose(variance, 1 - np.exp(-(x**2)) / 2, atol=1e-6)


def test_the_loss_is_likelihood_per_label_plus_mean_variance():
    rng = np.random.default_rng(0)
    x, y, u = (torch.as_tensor(rng.normal(size=shape)) for shape in ((5, 2), (5,), (7, 2)))
    net = _identity(SSDKLRegressor(), x.numpy(), y.numpy())
    zero = torch.zeros((), dtype=torch.float64)
    process = KernelPosterior(x, y, zero, zero, zero)
    supervised = -process.log_likelihood().item() / 5
    spread = process.moments(u)[1].mean().item()
    for alpha in (0.0, 0.1, 10.0):
        loss = semi_supervised_loss(net, x, y, u, alpha).item()
        assert loss == pytest.approx(supervised + alpha * spread, abs=1e-12)


def test_gradient_by_finite_differences():
    torch.manual_seed(0)
    net = SSDKLRegressor(hidden=(4,))._build(2, 1).double()
    x, y, u = (torch.randn(shape, dtype=torch.float64) for shape in ((6, 2), (6,), (5, 2)))
    semi_supervised_loss(net, x, y, u, 2.0).backward()
    step = 1e-6
    for weight in net.parameters():
        flat, slopes = weight.data.reshape(-1), weight.grad.reshape(-1)
        for entry in range(0, flat.numel(), 3):
            values = []
            for shift in (step, -step):
                flat[entry] += shift
                values.append(semi_supervised_loss(net, x, y, u, 2.0).item())
                flat[entry] -= shift
            numeric = (values[0] - values[1]) / (2 * step)
            assert numeric == pytest.approx(slopes[entry].item(), abs=1e-6)


def test_without_weight_unlabelled_rows_do_not_count():
    """alpha = 0 is deep kernel learning from labels alone."""
    X, _, partial = _data()
    other = X.copy()
    other[40:] = np.random.default_rng(9).normal(size=(80, 2))
    for alpha, equal in ((0.0, True), (1.0, False)):
        model = SSDKLRegressor(alpha=alpha, max_iter=30, scale=None, random_state=0)
        one, two = (model.fit(rows, partial).predict(X) for rows in (X, other))
        assert np.array_equal(one, two) == equal


def test_the_variance_on_unlabelled_rows_is_what_falls():
    X, _, partial = _data(labeled=15)  # too few labels to stop early or to choose
    spread = {}
    for alpha in (0.0, 10.0):
        model = SSDKLRegressor(alpha=alpha, random_state=0).fit(X, partial)
        spread[alpha] = np.mean(model.predict(X[15:], return_std=True)[1] ** 2)
    assert spread[10.0] < spread[0.0]


def test_standard_deviations_are_in_the_units_of_the_target():
    X, _, partial = _data()
    model = SSDKLRegressor(alpha=1.0, max_iter=60, random_state=0)
    mean, deviation = model.fit(X, partial).predict(X, return_std=True)
    np.testing.assert_array_equal(mean, model.predict(X))
    assert (deviation >= 0).all()
    assert deviation[:40].mean() < deviation[40:].mean()
    large = model.fit(X, 100.0 * partial).predict(X, return_std=True)[1]
    np.testing.assert_allclose(large, 100.0 * deviation, rtol=1e-6)


def test_the_weight_is_chosen_on_held_out_labels(monkeypatch):
    X, _, partial = _data()
    errors = {0.1: 0.5, 1.0: 0.2, 10.0: 0.9}

    def fit_once(self, net, data, alpha, seen, kept):
        assert (seen.numel(), kept.numel()) == (36, 4)
        with torch.no_grad():
            net["kernel"]["noise"].fill_(alpha)
        return TrainingLog(history=[2.0, 1.0], validation=[3.0, errors[alpha]])

    monkeypatch.setattr(SSDKLRegressor, "_fit_once", fit_once)
    model = SSDKLRegressor(random_state=0).fit(X, partial)
    assert model.alpha_ == 1.0
    assert model.kernel_["noise"] == pytest.approx(np.e)


def test_with_few_labels_all_steps_are_taken_with_the_middle_weight():
    X, _, partial = _data(labeled=19)
    model = SSDKLRegressor(max_iter=60, random_state=0).fit(X, partial)
    assert (model.alpha_, model.n_iter_, model.stop_reason_) == (1.0, 60, "max_iter")


def test_a_start_that_leads_nowhere_is_made_again(monkeypatch):
    X, _, partial = _data()
    starts = []

    def fit_once(self, net, data, alpha, seen, kept):
        starts.append(net["trunk"][0].weight.detach().clone())
        better = len(starts) == 3
        return TrainingLog(history=[1.0, 0.5 if better else 2.0], validation=[1.0])

    monkeypatch.setattr(SSDKLRegressor, "_fit_once", fit_once)
    SSDKLRegressor(alpha=1.0, n_starts=5, random_state=0).fit(X, partial)
    assert len(starts) == 3
    assert not torch.equal(starts[0], starts[1])
    assert not torch.equal(starts[1], starts[2])


def test_rates_fall_and_gradients_are_cut():
    model = SSDKLRegressor(hidden=(3,), learning_rate=1e-3, kernel_learning_rate=0.1)
    net = model._build(2, 1).double()
    optimizer = model._optimizer(net)
    assert [group["lr"] for group in optimizer.param_groups] == [1e-3, 0.1]
    for weight in net.parameters():
        weight.grad = torch.full_like(weight, 1e6)
    optimizer.step()
    assert max(weight.grad.abs().max().item() for weight in net.parameters()) == 5.0


def test_it_stops_once_held_out_labels_gain_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    model = SSDKLRegressor(alpha=1.0, max_iter=300, random_state=0).fit(X, y)
    assert model.stop_reason_ == "patience"
    assert model.n_iter_ < 300


def test_a_smooth_function_is_found():
    X, y, partial = _data(n=200)
    model = SSDKLRegressor(random_state=0).fit(X, partial)
    assert model.score(X[40:], y[40:]) > 0.85
    assert model.alpha_ in (0.1, 1.0, 10.0)


def test_predictions_condition_on_all_labels():
    X, _, partial = _data()
    model = SSDKLRegressor(alpha=1.0, max_iter=20, random_state=0).fit(X, partial)
    assert model._anchors.shape == (40, 2)
    net = model._build(2, 1).double()
    net.load_state_dict({name: torch.as_tensor(a) for name, a in model._weights.items()})
    x = torch.as_tensor(model._encoder.transform(X, model))
    y = torch.as_tensor(model._values)
    mean = posterior_of(net, x[:40], y).moments(net["trunk"](x))[0].detach().numpy()
    np.testing.assert_allclose(model.predict(X), mean * model._spread + model._center)
