"""The process on torch against closed forms and numpy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

torch = pytest.importorskip("torch")

from s2mam.baselines.shared.kernel_posterior import KernelPosterior  # noqa: E402

pytestmark = pytest.mark.torch


def _posterior(rows, values, length=1.0, signal=1.0, noise=1.0):
    logs = [
        torch.tensor(float(np.log(value)), dtype=torch.float64) for value in (length, signal, noise)
    ]
    return KernelPosterior(torch.as_tensor(rows), torch.as_tensor(values), *logs)


def _numpy(rows, values, others, length, signal, noise):
    def kernel(one, two):
        gaps = ((one[:, None] - two[None]) ** 2).sum(-1)
        return signal**2 * np.exp(-gaps / (2 * length**2))

    noisy = kernel(rows, rows) + noise**2 * np.eye(len(rows))
    cross = kernel(others, rows)
    mean = cross @ np.linalg.solve(noisy, values)
    variance = signal**2 - np.einsum("ij,ji->i", cross, np.linalg.solve(noisy, cross.T))
    return mean, variance, multivariate_normal(np.zeros(len(rows)), noisy).logpdf(values)


def test_one_point_known():
    x = np.linspace(-3, 3, 13)[:, None]
    mean, variance = _posterior(np.zeros((1, 1)), np.ones(1)).moments(torch.as_tensor(x))
    np.testing.assert_allclose(mean, np.exp(-(x[:, 0] ** 2) / 2) / 2, atol=1e-6)
    np.testing.assert_allclose(variance, 1 - np.exp(-(x[:, 0] ** 2)) / 2, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_moments_and_likelihood_agree_with_numpy(seed):
    rng = np.random.default_rng(seed)
    rows, others = rng.normal(size=(12, 2)), rng.normal(size=(7, 2))
    values = rng.normal(size=12)
    sizes = tuple(np.exp(rng.normal(scale=0.4, size=3)))
    ours = _posterior(rows, values, *sizes)
    mean, variance, evidence = _numpy(rows, values, others, *sizes)
    np.testing.assert_allclose(ours.moments(torch.as_tensor(others))[0], mean, atol=1e-5)
    np.testing.assert_allclose(ours.moments(torch.as_tensor(others))[1], variance, atol=1e-5)
    assert ours.log_likelihood().item() == pytest.approx(evidence, abs=1e-3)


def test_gradients_agree_with_finite_differences():
    rng = np.random.default_rng(0)
    rows = torch.as_tensor(rng.normal(size=(6, 2))).requires_grad_()
    others = torch.as_tensor(rng.normal(size=(4, 2))).requires_grad_()
    values = torch.as_tensor(rng.normal(size=6))
    logs = torch.as_tensor(rng.normal(scale=0.3, size=3)).requires_grad_()

    def loss(rows, others, logs):
        posterior = KernelPosterior(rows, values, *logs)
        return -posterior.log_likelihood() / 6 + posterior.moments(others)[1].mean()

    assert torch.autograd.gradcheck(loss, (rows, others, logs))


def test_repeated_rows_do_no_harm():
    rows = np.zeros((30, 2))
    ours = _posterior(rows, np.ones(30), noise=1e-6)
    mean, variance = ours.moments(torch.as_tensor(rows[:1]))
    assert mean.item() == pytest.approx(1.0, abs=1e-3)
    assert 0 <= variance.item() < 1e-3
