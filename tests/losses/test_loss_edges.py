"""Ends of domains, where a small slip would go unseen elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.losses import LogisticLoss


def test_conjugate_of_the_logistic_loss_at_the_ends_of_its_domain():
    y, w = np.array([1.0, 0.0]), np.array([0.25, 0.75])
    loss = LogisticLoss()
    for share in (0.0, 1.0):
        theta = -(2 * y - 1) * w * share
        assert loss.conjugate(y, theta, w) == pytest.approx(0.0, abs=1e-12)
    for share in (-1e-3, 1 + 1e-3):
        assert loss.conjugate(y, -(2 * y - 1) * w * share, w) == np.inf
    # Fenchel: the conjugate bounds -theta f - loss from above, and touches it at the gradient.
    f = np.array([0.3, -1.2])
    theta = loss.gradient(y, f, w)
    assert loss.conjugate(y, theta, w) == pytest.approx(theta @ f - loss.value(y, f, w))
