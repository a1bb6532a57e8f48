"""Without torch the networks are listed, and a fit says what to install."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from s2mam.baselines import all_baselines
from s2mam.baselines.base import BaselineClassifier
from s2mam.exceptions import MissingDependencyError

NETWORKS = {name: cls for name, cls in all_baselines().items() if "torch" in cls.requires}


def test_there_are_networks():
    assert {"DAN (regression)", "SSNP", "FlexMatch", "SemiReward (regression)"} <= set(NETWORKS)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_fit_names_the_package(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    X = np.random.default_rng(0).normal(size=(20, 2))
    y = X[:, 0] > 0 if issubclass(NETWORKS[name], BaselineClassifier) else X[:, 0]
    with pytest.raises(MissingDependencyError, match=r"pip install 's2mam\[torch\]'"):
        NETWORKS[name]().fit(X, y)
