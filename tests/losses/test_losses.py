"""Each loss against finite differences, its own conjugate and hand-computed values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2mam.losses import LogisticLoss, Loss, MultinomialLoss, SquaredLoss

LOSSES: list[Loss] = [SquaredLoss(), LogisticLoss(), MultinomialLoss(4)]
STEP = 1e-5


def draw(loss: Loss, seed: int, rows: int = 7, spread: float = 2.0):
    rng = np.random.default_rng(seed)
    w = rng.uniform(0.1, 1.0, rows)
    w /= w.sum()
    if loss.n_outputs > 1:
        return (
            rng.integers(loss.n_outputs, size=rows),
            spread * rng.normal(size=(rows, loss.n_outputs)),
            w,
        )
    f = spread * rng.normal(size=rows)
    y = rng.normal(size=rows) if loss.name == "squared" else rng.integers(2, size=rows) * 1.0
    return y, f, w


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
class TestCalculus:
    def test_is_a_loss(self, loss):
        assert isinstance(loss, Loss)

    def test_gradient_is_the_slope_of_the_value(self, loss):
        y, f, w = draw(loss, 0)
        gradient = loss.gradient(y, f, w)
        for index in np.ndindex(f.shape):
            up, down = f.copy(), f.copy()
            up[index] += STEP
            down[index] -= STEP
            slope = (loss.value(y, up, w) - loss.value(y, down, w)) / (2 * STEP)
            assert gradient[index] == pytest.approx(slope, abs=1e-8)

    def test_curvature_is_the_slope_of_the_gradient(self, loss):
        y, f, w = draw(loss, 1)
        curvature = loss.curvature(y, f, w)
        for index in np.ndindex(f.shape):
            up, down = f.copy(), f.copy()
            up[index] += STEP
            down[index] -= STEP
            slope = (loss.gradient(y, up, w) - loss.gradient(y, down, w)) / (2 * STEP)
            expected = np.zeros_like(f)
            row = index[0]
            expected[row] = curvature[row] if f.ndim == 1 else curvature[row, :, index[1]]
            np.testing.assert_allclose(slope, expected, atol=1e-8)

    def test_curvature_bound_holds_and_is_sharp(self, loss):
        y, f, w = draw(loss, 2, rows=400, spread=3.0)
        f[0] = 0.0
        if loss.n_outputs > 1:
            f[0, :2] = 30.0  # two classes share the mass: the worst case
        curvature = loss.curvature(y, f, w)
        largest = curvature if f.ndim == 1 else np.linalg.eigvalsh(curvature)[:, -1]
        ratio = largest / w
        assert ratio.max() <= loss.curvature_bound * (1 + 1e-12)
        assert ratio.max() >= loss.curvature_bound * 0.999

    def test_null_intercept_is_stationary(self, loss):
        y, f, w = draw(loss, 3, rows=30)
        constant = np.zeros_like(f) + loss.null_intercept(y, w)
        np.testing.assert_allclose(loss.gradient(y, constant, w).sum(axis=0), 0.0, atol=1e-9)

    def test_conjugate_meets_the_tangent(self, loss):
        y, f, w = draw(loss, 4)
        theta = loss.gradient(y, f, w)
        tangent = np.vdot(theta, f) - loss.value(y, f, w)
        assert loss.conjugate(y, theta, w) == pytest.approx(tangent, abs=1e-10)

    @settings(deadline=None, max_examples=30)
    @given(seed=st.integers(0, 10_000), scale=st.floats(0.0, 1.0))
    def test_conjugate_inequality(self, loss, seed, scale):
        y, f, w = draw(loss, seed)
        theta = scale * loss.gradient(y, draw(loss, seed + 1)[1], w)
        assert loss.conjugate(y, theta, w) >= np.vdot(theta, f) - loss.value(y, f, w) - 1e-10

    def test_row_without_weight_admits_no_dual_mass(self, loss):
        y, f, w = draw(loss, 5)
        w[0] = 0.0
        theta = loss.gradient(y, f, w)
        assert np.isfinite(loss.conjugate(y, theta, w))
        theta[0] += 0.1
        assert loss.conjugate(y, theta, w) == np.inf

    def test_extreme_decisions_stay_finite(self, loss):
        y, f, w = draw(loss, 6)
        far = 1e3 * f
        for values in (loss.value(y, far, w), loss.gradient(y, far, w), loss.curvature(y, far, w)):
            assert np.all(np.isfinite(values))


def test_squared_by_hand():
    loss = SquaredLoss()
    y, f, w = np.array([1.0, 2.0]), np.array([0.0, 4.0]), np.array([0.25, 0.75])
    assert loss.value(y, f, w) == 0.25 + 3.0
    np.testing.assert_allclose(loss.gradient(y, f, w), [-0.5, 3.0])
    assert loss.null_intercept(y, w) == 1.75
    assert loss.inverse_link(f) is f


def test_logistic_by_hand():
    loss = LogisticLoss()
    y, f, w = np.array([1.0, 0.0]), np.array([np.log(3.0), 0.0]), np.array([0.5, 0.5])
    assert loss.value(y, f, w) == pytest.approx(0.5 * np.log(4 / 3) + 0.5 * np.log(2))
    np.testing.assert_allclose(loss.inverse_link(f), [0.75, 0.5])
    assert loss.null_intercept(y, np.array([0.75, 0.25])) == pytest.approx(np.log(3.0))


def test_logistic_conjugate_outside_its_domain():
    loss = LogisticLoss()
    y, w = np.array([1.0, 0.0]), np.array([0.5, 0.5])
    assert loss.conjugate(y, np.array([0.1, 0.0]), w) == np.inf
    assert loss.conjugate(y, np.array([-0.6, 0.0]), w) == np.inf


def test_multinomial_conjugate_outside_its_domain():
    loss = MultinomialLoss(2)
    y, w = np.array([0]), np.ones(1)
    assert loss.conjugate(y, np.array([[0.2, -0.2]]), w) == np.inf
    assert loss.conjugate(y, np.array([[-0.2, 0.3]]), w) == np.inf


def test_multinomial_with_two_classes_is_logistic():
    two, one = MultinomialLoss(2), LogisticLoss()
    y, f, w = draw(one, 8)
    both = np.column_stack([np.zeros_like(f), f])
    codes = y.astype(int)
    assert two.value(codes, both, w) == pytest.approx(one.value(y, f, w))
    np.testing.assert_allclose(two.gradient(codes, both, w)[:, 1], one.gradient(y, f, w))
    np.testing.assert_allclose(two.curvature(codes, both, w)[:, 1, 1], one.curvature(y, f, w))
    np.testing.assert_allclose(two.inverse_link(both)[:, 1], one.inverse_link(f))
    shift = two.null_intercept(codes, w)
    assert shift[1] - shift[0] == pytest.approx(float(one.null_intercept(y, w)))


def test_single_class_has_a_finite_null_intercept():
    w = np.full(3, 1 / 3)
    assert np.isfinite(LogisticLoss().null_intercept(np.ones(3), w))
    assert np.all(np.isfinite(MultinomialLoss(3).null_intercept(np.zeros(3, dtype=int), w)))
