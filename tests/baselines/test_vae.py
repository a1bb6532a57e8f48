from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from scipy.linalg import subspace_angles  # noqa: E402

from s2mam.baselines.deep.autoencoder import coded, held_out  # noqa: E402
from s2mam.baselines.shared.gaussian_bounds import kl_to_standard  # noqa: E402
from s2mam.baselines.vae import AVAERegressor, VAERegressor  # noqa: E402

pytestmark = pytest.mark.torch

_LINEAR = {
    "n_latent": 2,
    "linear_decoder": True,
    "observation_variance": 0.1,
    "hidden": (50, 50),
    "head_max_iter": 10,
}


def _plane(n=400, seed=0):
    """Rows near a plane in six dimensions; the target is smooth on the plane."""
    rng = np.random.default_rng(seed)
    codes = rng.normal(size=(n, 2)) * np.array([2.0, 1.5])
    basis = np.linalg.qr(rng.normal(size=(6, 2)))[0]
    X = codes @ basis.T + 0.05 * rng.normal(size=(n, 6))
    return X, basis, np.tanh(codes[:, 0])


def _net(model, X):
    """The trained network of a fit."""
    net = model._build(X.shape[1], 1).double()
    net.load_state_dict({name: torch.as_tensor(a) for name, a in model._weights.items()})
    return net.eval()


@pytest.mark.parametrize("cls", [VAERegressor, AVAERegressor])
def test_a_linear_decoder_finds_the_principal_plane(cls):
    X, basis, y = _plane()
    model = cls(**_LINEAR, max_iter=400, learning_rate=5e-3, scale=None, random_state=0)
    model.fit(X, np.where(np.arange(400) < 40, y, np.nan))
    directions = model._weights["decoder.0.weight"]
    principal = np.linalg.svd(X - X.mean(0), full_matrices=False)[2][:2].T
    assert np.degrees(subspace_angles(directions, principal).max()) < 10.0
    assert np.degrees(subspace_angles(directions, basis).max()) < 10.0


def test_the_loss_is_squared_error_plus_divergence_up_to_a_constant():
    """With the default variance of one half, as in the published study."""
    torch.manual_seed(0)
    model, x = VAERegressor(n_latent=2), torch.randn(7, 4, dtype=torch.float64)
    net = model._build(4, 1).double()
    code = coded(net["encoder"], x)
    z = torch.randn(7, 2, dtype=torch.float64)
    errors = ((x - net["decoder"](z)) ** 2).sum(1)
    gap = model._negative_bound(net, x, code, z) - errors - kl_to_standard(*code)
    np.testing.assert_allclose(gap.detach(), 2.0 * np.log(np.pi), rtol=1e-12)


def test_the_target_is_read_from_the_codes():
    X, _, y = _plane()
    model = VAERegressor(max_iter=300, hidden=(30,), learning_rate=5e-3, random_state=0)
    model.fit(X, np.where(np.arange(400) < 60, y, np.nan))
    assert model.score(X[60:], y[60:]) > 0.8
    assert model.head_history_[-1] < model.head_history_[0]


def test_labels_do_not_reach_the_autoencoder():
    X, _, y = _plane(120)
    fits = [
        VAERegressor(max_iter=30, head_max_iter=30, hidden=(8,), random_state=0).fit(
            X, np.where(np.arange(120) < 30, target, np.nan)
        )
        for target in (y, -3.0 * y**2)
    ]
    for name, weights in fits[0]._weights.items():
        same = np.array_equal(weights, fits[1]._weights[name])
        assert same == (not name.startswith("head"))


def test_far_rows_do_no_harm():
    X, _, y = _plane(200)
    X[5] *= 1e4
    model = VAERegressor(max_iter=100, random_state=0)
    model.fit(X, np.where(np.arange(200) < 40, y, np.nan))
    assert np.isfinite(model.predict(X)).all()


def test_the_decoder_learns_nothing_from_the_second_code():
    """The decoded row is data there: only the encoder is pulled towards consistency."""
    torch.manual_seed(0)
    x = torch.randn(9, 4)
    slopes = []
    for cls, more in ((VAERegressor, {}), (AVAERegressor, {"rho": 0.9})):
        model = cls(n_latent=2, hidden=(5,), **more)
        torch.manual_seed(1)
        net = model._build(4, 1)
        code = coded(net["encoder"], x)
        model._negative_bound(net, x, code, code[0] + 0.3).sum().backward()
        slopes.append({name: w.grad for name, w in net.named_parameters() if w.grad is not None})
    plain, again = slopes
    for name, slope in plain.items():
        assert torch.allclose(slope, again[name]) == name.startswith("decoder")


def test_consistency_brings_codes_of_decoded_rows_closer():
    X, _, y = _plane()
    gaps = {}
    for rho in (0.0, 0.95):
        model = AVAERegressor(
            **_LINEAR, rho=rho, max_iter=600, learning_rate=5e-3, scale=None, random_state=0
        ).fit(X, np.where(np.arange(400) < 40, y, np.nan))
        net, x = _net(model, X), torch.as_tensor(X)
        with torch.no_grad():
            mean = coded(net["encoder"], x)[0]
            again = coded(net["encoder"], net["decoder"](mean))[0]
        gaps[rho] = float(((again - mean) ** 2).mean() / mean.var())
    assert gaps[0.95] < 0.7 * gaps[0.0]


def test_a_tenth_is_held_out_where_that_is_enough_to_choose_by():
    seen, kept = held_out(200, 100, "cpu")
    assert (seen.numel(), kept.numel()) == (180, 20)
    assert sorted(torch.cat([seen, kept]).tolist()) == list(range(200))
    assert held_out(99, 100, "cpu")[1].numel() == 0
