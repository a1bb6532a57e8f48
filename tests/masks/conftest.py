"""A small additive regression as the criteria see it."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.bases import build_design


@pytest.fixture(scope="session", params=["more features", "more rows"])
def small(request):
    """Rows, design and targets: columns 0 and 2 of six carry the signal."""
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(40, 6))
    max_rank = 64 if request.param == "more features" else 4
    design = build_design(Z, ("numeric",) * 6, length=1.0, max_rank=max_rank)
    y = np.sin(2 * Z[:, 0]) + Z[:, 2] ** 2 + 0.2 * rng.normal(size=40)
    return Z, design, y
