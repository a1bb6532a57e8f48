"""Small fitted models that several inspection tests look at."""

from __future__ import annotations

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from s2mam import S2MAMClassifier, S2MAMRegressor
from s2mam.datasets import hide_labels, make_friedman, make_moons

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="session")
def numbers():
    """Regression: two columns of junk, half of the rows labelled."""
    data = make_friedman(n_samples=70, n_uninformative=1, n_noisy=1, random_state=0)
    y = hide_labels(data.y, n_labeled=45, random_state=0)
    model = S2MAMRegressor(max_iter=5, random_state=0).fit(data.X, y)
    return SimpleNamespace(X=data.X, y=y, model=model)


@pytest.fixture(scope="session")
def moons():
    """Two classes, one column of junk."""
    data = make_moons(n_samples=80, n_uninformative=0, n_noisy=1, random_state=0)
    y = hide_labels(data.y, per_class=6, random_state=0)
    model = S2MAMClassifier(max_iter=5, random_state=0).fit(data.X, y)
    return SimpleNamespace(X=data.X, y=y, model=model)


@pytest.fixture(scope="session")
def patients():
    """Three classes with text names; numbers, categories, missing values."""
    rng = np.random.default_rng(0)
    n = 90
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n).astype(float),
            "dose <mg>": rng.normal(100.0, 30.0, n),
            "site": rng.choice(["north", "south", "east"], n),
        }
    )
    level = X["site"].map({"north": -3.0, "south": 0.0, "east": 3.0}) + (X["age"] - 50.0) / 10.0
    y = np.array(["high", "low", "mid"], dtype=object)[
        np.select([level > 1.5, level < -1.5], [0, 1], 2)
    ]
    y[rng.random(n) < 0.4] = None
    X.loc[::7, "dose <mg>"] = np.nan
    X.loc[::11, "site"] = None
    model = S2MAMClassifier(max_iter=5, random_state=0).fit(X, y)
    return SimpleNamespace(X=X, y=y, model=model)
