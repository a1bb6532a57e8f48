"""The base model against closed forms and a general convex solver, on the same features."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from s2mam import ManifoldAdditiveClassifier, ManifoldAdditiveRegressor
from s2mam.graphs import build_graph

N, P = 36, 4


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P)) * [1.0, 20.0, 0.1, 3.0]
    signal = np.sin(2 * X[:, 0]) + X[:, 1] / 20 + 0.2 * rng.normal(size=N)
    labeled = np.arange(N) % 3 < 2
    return X, signal, labeled


def _features(model, X):
    """The model's own features of a table, and the scaled table."""
    (part,) = model._model.parts
    scaled = part.reader.transform(X)
    return part.design.evaluate(scaled), scaled, part.design.offsets


def _laplacian(scaled, kind="dense"):
    return build_graph(scaled, np.ones(P), kind=kind).toarray()


def _penalty(b, offsets):
    return sum(np.linalg.norm(b[offsets[j] : offsets[j + 1]]) for j in range(P))


@pytest.mark.parametrize("manifold", [0.3, 30.0])
@pytest.mark.parametrize("graph", ["dense", "neighbors"])
def test_without_sparsity_the_normal_equations(table, manifold, graph):
    X, signal, labeled = table
    y = np.where(labeled, signal, np.nan)
    model = ManifoldAdditiveRegressor(sparsity=0.0, manifold=manifold, graph=graph).fit(X, y)
    features, scaled, _ = _features(model, X)
    count = labeled.sum()
    centred = features[labeled] - features[labeled].mean(axis=0)
    target = signal[labeled] - signal[labeled].mean()
    roughness = features.T @ _laplacian(scaled, graph) @ features
    hessian = centred.T @ centred / count + manifold / N**2 * roughness
    coef = np.linalg.lstsq(hessian, centred.T @ target / count, rcond=1e-13)[0]
    fitted = features @ coef + signal[labeled].mean() - features[labeled].mean(axis=0) @ coef

    def objective(f):
        smooth = f @ _laplacian(scaled, graph) @ f
        return np.mean((signal - f)[labeled] ** 2) + manifold / N**2 * smooth

    assert objective(model.predict(X)) == pytest.approx(objective(fitted), rel=1e-5)
    np.testing.assert_allclose(model.predict(X), fitted, atol=1e-4)


def test_weights_enter_the_loss_as_shares(table):
    X, signal, labeled = table
    y = np.where(labeled, signal, np.nan)
    weights = np.random.default_rng(1).uniform(1.0, 4.0, size=N)
    model = ManifoldAdditiveRegressor(sparsity=0.0, manifold=3.0, graph="dense", scale="standard")
    model.fit(X, y, sample_weight=weights)
    features, scaled, _ = _features(model, X)
    share = weights[labeled] / weights[labeled].sum()
    center = share @ features[labeled]
    centred = features[labeled] - center
    mean = share @ signal[labeled]
    roughness = features.T @ _laplacian(scaled) @ features
    hessian = (centred.T * share) @ centred + 3.0 / N**2 * roughness
    right = (centred.T * share) @ (signal[labeled] - mean)
    coef = np.linalg.lstsq(hessian, right, rcond=1e-13)[0]
    fitted = features @ coef + mean - center @ coef
    np.testing.assert_allclose(model.predict(X), fitted, atol=1e-4)


@pytest.mark.parametrize(("sparsity", "manifold"), [(0.05, 0.0), (0.3, 0.0), (0.1, 5.0)])
@pytest.mark.parametrize("solver", ["bcd", "admm"])
def test_group_lasso_by_cvxpy(table, sparsity, manifold, solver):
    X, signal, labeled = table
    y = np.where(labeled, signal, np.nan)
    model = ManifoldAdditiveRegressor(
        sparsity=sparsity, manifold=manifold, graph="dense", solver=solver
    ).fit(X, y)
    features, scaled, offsets = _features(model, X)
    roughness = features.T @ _laplacian(scaled) @ features
    root = np.linalg.cholesky(roughness + 1e-10 * np.eye(len(roughness)))
    b, c = cp.Variable(features.shape[1]), cp.Variable()
    loss = cp.sum_squares(signal[labeled] - features[labeled] @ b - c) / labeled.sum()
    groups = sum(cp.norm(b[offsets[j] : offsets[j + 1]]) for j in range(P))
    smooth = manifold / N**2 * cp.sum_squares(root.T @ b)
    problem = cp.Problem(cp.Minimize(loss + sparsity * groups + smooth))
    problem.solve(solver=cp.CLARABEL)
    (part,) = model._model.parts
    ours = part.coef[:, 0]
    decision = features @ ours + float(np.asarray(model._model.intercept)[0])
    value = np.mean((signal - decision)[labeled] ** 2) + sparsity * _penalty(ours, offsets)
    value += manifold / N**2 * ours @ roughness @ ours
    assert value == pytest.approx(problem.value, rel=1e-5, abs=1e-7)
    np.testing.assert_allclose(model.predict(X), features @ b.value + c.value, atol=1e-3)
    active = [np.linalg.norm(b.value[offsets[j] : offsets[j + 1]]) > 1e-4 for j in range(P)]
    np.testing.assert_array_equal(model.support_, active)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_regression_by_cvxpy(table, n_classes):
    X, signal, labeled = table
    cuts = [0.0] if n_classes == 2 else [-0.5, 0.5]
    classes = np.digitize(signal, cuts)
    sparsity, manifold = 0.02, 1.0
    model = ManifoldAdditiveClassifier(sparsity=sparsity, manifold=manifold, graph="dense")
    model.fit(X, np.where(labeled, classes, -1))
    features, scaled, offsets = _features(model, X)
    outputs = 1 if n_classes == 2 else 3
    roughness = features.T @ _laplacian(scaled) @ features
    root = np.linalg.cholesky(roughness + 1e-10 * np.eye(len(roughness)))
    b, c = cp.Variable((features.shape[1], outputs)), cp.Variable((1, outputs))
    logits = features[labeled] @ b + np.ones((labeled.sum(), 1)) @ c
    if n_classes == 2:
        signs = 2.0 * classes[labeled] - 1.0
        loss = cp.sum(cp.logistic(cp.multiply(-signs, logits[:, 0])))
    else:
        chosen = np.eye(3)[classes[labeled]]
        loss = cp.sum(cp.log_sum_exp(logits, axis=1)) - cp.sum(cp.multiply(chosen, logits))
    groups = sum(cp.norm(b[offsets[j] : offsets[j + 1]], "fro") for j in range(P))
    smooth = manifold / N**2 * cp.sum_squares(root.T @ b)
    problem = cp.Problem(cp.Minimize(loss / labeled.sum() + sparsity * groups + smooth))
    problem.solve(solver=cp.CLARABEL)
    logits = features @ b.value + c.value
    if n_classes == 2:
        positive = 1.0 / (1.0 + np.exp(-logits[:, 0]))
        exact = np.column_stack([1 - positive, positive])
    else:
        exact = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), exact, atol=2e-3)
