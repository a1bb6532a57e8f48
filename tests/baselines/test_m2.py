from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from scipy.stats import norm  # noqa: E402

from s2mam.baselines.deep.autoencoder import coded  # noqa: E402
from s2mam.baselines.m2 import M2Regressor  # noqa: E402
from s2mam.baselines.shared.gaussian_bounds import entropy, kl_to_standard  # noqa: E402

pytestmark = pytest.mark.torch


def _net(model, seed=0):
    torch.manual_seed(seed)
    return model._build(3, 1).double()


def _mean_over_draws(function, x, draws=4000):
    """Mean of a function of rows with draws inside, one row at a time."""
    with torch.no_grad():
        return torch.stack([function(row.repeat(draws, 1)).mean() for row in x]).numpy()


def test_rows_without_label_count_with_all_their_targets():
    """The bound is the sum over targets, here a fine grid, of q(y|x) L(x, y), less the entropy."""
    model = M2Regressor(hidden=(6,), n_latent=2)
    net, x = _net(model), torch.tensor([[0.3, -1.0, 0.5], [1.2, 0.1, -0.4]], dtype=torch.float64)
    mean, log_variance = (part.detach() for part in coded(net["regressor"], x))
    expected = []
    for row in range(2):
        center, width = mean[row, 0].item(), np.exp(0.5 * log_variance[row, 0].item())
        grid = center + width * np.linspace(-6, 6, 121)
        weights = norm(center, width).pdf(grid)
        weights /= weights.sum()

        def losses(y, row=row):
            with torch.no_grad():
                many = x[row].repeat(2000, 1)
                return model._labeled_loss(net, many, torch.full((2000, 1), y).double()).mean()

        enumerated = sum(w * losses(float(y)) for w, y in zip(weights, grid, strict=True))
        expected.append(float(enumerated - entropy(log_variance)[row]))
    ours = _mean_over_draws(lambda rows: model._unlabeled_loss(net, rows), x, 40_000)
    np.testing.assert_allclose(ours, expected, atol=0.03)


def test_a_labelled_row_pays_for_its_target():
    model = M2Regressor(hidden=(6,), n_latent=2)
    net, x = _net(model), torch.zeros(5, 3, dtype=torch.float64)
    y = torch.linspace(-2, 2, 5, dtype=torch.float64)[:, None]
    torch.manual_seed(3)
    total = model._labeled_loss(net, x, y)
    torch.manual_seed(3)
    prior = (total - model._row_loss(net, x, y)).detach()
    np.testing.assert_allclose(prior, -norm.logpdf(y.numpy()[:, 0]))


def test_a_sure_guess_costs_what_a_label_costs():
    """With q(y|x) narrow at y, the unlabelled bound is the labelled one less the entropy."""
    model = M2Regressor(hidden=(6,), n_latent=2)
    net, x = _net(model), torch.randn(1, 3, dtype=torch.float64)
    with torch.no_grad():
        last = net["regressor"][-1]
        last.weight.zero_()
        last.bias.copy_(torch.tensor([0.7, -8.0]))
    guess = coded(net["regressor"], x)
    y = torch.full((1, 1), 0.7, dtype=torch.float64)
    labeled = _mean_over_draws(
        lambda rows: model._labeled_loss(net, rows, y.expand(len(rows), 1)), x
    )
    unlabeled = _mean_over_draws(lambda rows: model._unlabeled_loss(net, rows), x)
    expected = labeled - entropy(guess[1]).detach().numpy()
    np.testing.assert_allclose(unlabeled, expected, atol=0.1)
    assert kl_to_standard(*guess).item() > 3.0


def test_without_unlabelled_rows_they_are_not_asked_for():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    model = M2Regressor(hidden=(8,), max_iter=10, random_state=0)
    model._unlabeled_loss = None
    model.fit(X, X[:, 0])
    assert np.isfinite(model.predict(X)).all()


def test_clusters_of_unlabelled_rows_help():
    """Rows are a curve of the target: two labels at its ends, and the rows between say the rest."""
    rng = np.random.default_rng(0)
    y = rng.uniform(-1.5, 1.5, size=300)
    X = np.column_stack([y, np.sin(2 * y), y**2]) + 0.05 * rng.normal(size=(300, 3))
    shown = np.zeros(300, dtype=bool)
    shown[np.argsort(y)[[0, 60, 150, 240, 299]]] = True
    model = M2Regressor(
        hidden=(30, 20), n_latent=1, max_iter=400, learning_rate=3e-3, alpha=1.0, random_state=0
    )
    assert model.fit(X, np.where(shown, y, np.nan)).score(X[~shown], y[~shown]) > 0.8
