"""What is said where torch is missing."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from s2mam import S2MAMRegressor
from s2mam.exceptions import MissingDependencyError


def test_the_error_names_the_setting_and_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(MissingDependencyError, match=r"basis='neural'.*'s2mam\[torch\]'"):
        S2MAMRegressor(basis="neural").fit(X, X[:, 0])
