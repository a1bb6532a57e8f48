"""Terms of variational bounds against closed forms, quadrature and draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import multivariate_normal, norm

torch = pytest.importorskip("torch")

from s2mam.baselines.shared.gaussian_bounds import (  # noqa: E402
    drawn,
    entropy,
    kl_to_standard,
    log_density,
    self_consistency,
)

pytestmark = pytest.mark.torch


def _tensor(*values):
    return torch.tensor(values, dtype=torch.float64)


def _gaussian(rng, rows=3, width=2):
    mean = torch.as_tensor(rng.normal(size=(rows, width)))
    return mean, torch.as_tensor(rng.normal(scale=0.5, size=(rows, width)))


def test_known_divergences():
    zero = torch.zeros(1, 1, dtype=torch.float64)
    assert kl_to_standard(zero, zero).item() == 0.0
    assert kl_to_standard(zero + 1.0, zero).item() == 0.5


def test_divergence_is_what_the_densities_say():
    mean, log_variance = _tensor([0.7]), _tensor([math.log(0.3)])
    grid = np.linspace(-12, 12, 200_001)
    ours = norm(0.7, math.sqrt(0.3))
    integrand = ours.pdf(grid) * (ours.logpdf(grid) - norm.logpdf(grid))
    expected = trapezoid(integrand, grid)
    assert kl_to_standard(mean, log_variance).item() == pytest.approx(expected)


def test_density_and_entropy_agree_with_scipy():
    rng = np.random.default_rng(0)
    mean, log_variance = _gaussian(rng)
    values = torch.as_tensor(rng.normal(size=(3, 2)))
    for row in range(3):
        same = multivariate_normal(mean[row].numpy(), np.diag(np.exp(log_variance[row].numpy())))
        assert log_density(values, mean, log_variance)[row].item() == pytest.approx(
            same.logpdf(values[row].numpy())
        )
        assert entropy(log_variance)[row].item() == pytest.approx(same.entropy())


def test_draws_have_the_moments_asked_for():
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(200_000, 1, generator=generator, dtype=torch.float64)
    values = drawn(_tensor(2.0), _tensor(math.log(9.0)), noise)
    assert values.mean().item() == pytest.approx(2.0, abs=0.03)
    assert values.std().item() == pytest.approx(3.0, abs=0.03)


def test_the_bound_is_the_evidence_where_the_posterior_is_exact():
    """x = W z + noise has a Gaussian posterior: the bound with it is ln N(x; 0, WW' + s² I)."""
    rng = np.random.default_rng(1)
    weights, variance, x = rng.normal(size=(4, 2)), 0.5, rng.normal(size=4)
    # One orthogonal pair of directions, so that the posterior is diagonal.
    weights = np.linalg.qr(weights)[0] * np.array([1.5, 0.4])
    precision = np.eye(2) + weights.T @ weights / variance
    mean = np.linalg.solve(precision, weights.T @ x / variance)
    log_variance = torch.as_tensor(-np.log(np.diag(precision)))[None]
    posterior = torch.as_tensor(mean)[None], log_variance
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(4000, 2, generator=generator, dtype=torch.float64)
    codes = drawn(*posterior, noise)
    decoded = codes @ torch.as_tensor(weights).T
    level = torch.full_like(decoded, math.log(variance))
    bound = (log_density(torch.as_tensor(x), decoded, level)).mean() - kl_to_standard(*posterior)
    evidence = multivariate_normal(np.zeros(4), weights @ weights.T + variance * np.eye(4)).logpdf
    assert bound.item() == pytest.approx(evidence(x), abs=0.05)


def test_self_consistency_agrees_with_draws():
    rng = np.random.default_rng(2)
    first, again, rho = _gaussian(rng), _gaussian(rng), 0.8
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(2, 200_000, 3, 2, generator=generator, dtype=torch.float64)
    one, two = drawn(*first, noise[0]), drawn(*again, noise[1])
    spare = torch.full_like(one, math.log(1 - rho**2))
    sampled = (log_density(two, rho * one, spare) - log_density(two, *again)).mean(0)
    np.testing.assert_allclose(self_consistency(first, again, rho), sampled, atol=0.05)


def test_without_correlation_the_first_code_does_not_count():
    rng = np.random.default_rng(3)
    first, other, again = _gaussian(rng), _gaussian(rng), _gaussian(rng)
    ours = self_consistency(first, again, 0.0)
    np.testing.assert_array_equal(ours, self_consistency(other, again, 0.0))
    # What is left is the divergence of the second code from the prior.
    np.testing.assert_allclose(ours, -kl_to_standard(*again))


def test_self_consistency_is_largest_where_the_second_code_is_expected():
    mean, rho = _tensor([[1.0, -2.0]])[0], 0.9
    first = mean, torch.full_like(mean, -20.0)
    best = rho * mean, torch.full_like(mean, math.log(1 - rho**2))
    top = self_consistency(first, best, rho).item()
    assert top == pytest.approx(0.0, abs=1e-6)
    for shift, more in ((0.1, 0.0), (0.0, 0.3), (0.0, -0.3)):
        assert self_consistency(first, (best[0] + shift, best[1] + more), rho).item() < top
