"""The paper's formulas, written densely and slowly as they stand, for comparison."""

from __future__ import annotations

import numpy as np


def gaussian(x, y, length):
    return np.exp(-((x[:, None] - y[None, :]) ** 2) / (2 * length**2))


def kernels(X, mask, length):
    """K_j(m_j x_i, m_j x_k) of every column; a masked one is the constant one."""
    return [gaussian(m * X[:, j], m * X[:, j], length) for j, m in enumerate(mask)]


def laplacian(X, mask, mu):
    masked = X * mask
    distances = ((masked[:, None, :] - masked[None, :, :]) ** 2).sum(axis=2)
    W = np.exp(-distances / mu**2)
    return np.diag(W.sum(axis=1)) - W


def lower(X, labeled, y, mask, *, sparsity, manifold, mu, length, tau=None, steps=4000):
    """argmin over alpha (n, p), by ADMM with the splitting alpha = beta and no shortcut at all."""
    n, p = X.shape
    tau = np.ones(p) if tau is None else tau
    K = np.hstack(kernels(X, mask, length))
    L = laplacian(X, mask, mu)
    Kl = K[labeled]
    A = 2 / len(y) * Kl.T @ Kl + 2 * manifold / n**2 * K.T @ L @ K
    rho = 0.05
    inverse = np.linalg.inv(A + rho * np.eye(n * p))
    right = 2 / len(y) * Kl.T @ y
    beta, dual = np.zeros(n * p), np.zeros(n * p)
    for _ in range(steps):
        alpha = inverse @ (right + rho * (beta - dual))
        V = (alpha + dual).reshape(p, n)
        norms = np.linalg.norm(V, axis=1)
        keep = np.maximum(1 - sparsity * tau / (rho * np.maximum(norms, 1e-300)), 0)
        beta = (V * keep[:, None]).ravel()
        dual += alpha - beta
    return beta.reshape(p, n).T


def predict(X, alpha, s, Z, length):
    """f(x) = sum_j sum_i alpha_i^(j) K_j(s_j x_i, s_j x)."""
    return sum(
        gaussian(s[j] * Z[:, j], s[j] * X[:, j], length) @ alpha[:, j] for j in range(X.shape[1])
    )


def project(z, budget):
    """Bisection on the shift."""
    if np.clip(z, 0, 1).sum() <= budget:
        return np.clip(z, 0, 1)
    low, high = 0.0, z.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.clip(z - middle, 0, 1).sum() > budget else (low, middle)
    return np.clip(z - high, 0, 1)
