"""Component functions: values at chosen points."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.datasets.components import additive_components, smooth_components


def test_smooth_components_at_one():
    expected = [2 * np.sin(1.5), 0.0, 1.5, 3 / np.e - 1.7, 2 * np.sin(1.5)]
    np.testing.assert_allclose(smooth_components(np.ones((1, 5)))[0], expected, atol=1e-15)


def test_additive_components_at_zero():
    values = additive_components(np.zeros((1, 8)))[0]
    np.testing.assert_allclose(values[:6], [0, 0, 0, 6, 1.5, 0])
    assert values[6] == pytest.approx(10 * np.sin(1))
    assert values[7] == pytest.approx(-2.65985529)
