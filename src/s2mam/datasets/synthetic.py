"""The four synthetic problems of the S2MAM paper.

Every generator returns informative columns first, then N(0, 1) columns ("uninformative"), then
N(100, 100) columns ("noisy", where 100 is read as the standard deviation unless told otherwise).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.datasets import make_moons as _sklearn_moons
from sklearn.utils import Bunch, check_random_state

from s2mam.datasets._columns import (
    NoisyReading,
    assemble,
    check_counts,
    check_samples,
    flip_labels,
    junk_columns,
    numbered,
)
from s2mam.datasets.components import additive_components
from s2mam.exceptions import InvalidInputError


def make_friedman(
    n_samples: int = 200,
    n_uninformative: int = 95,
    n_noisy: int = 10,
    *,
    noise: float = 1.0,
    noisy_reading: NoisyReading = "sd",
    random_state: Any = None,
) -> Bunch:
    """Friedman's regression: five informative columns, two of which interact.

    y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + noise, with x uniform on [0, 1].

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    n_uninformative, n_noisy : int, default=95, 10
        Number of N(0, 1) and N(100, 100) columns.
    noise : float, default=1.0
        Standard deviation of the noise of y.
    noisy_reading : {"sd", "variance"}, default="sd"
        Whether the second 100 of N(100, 100) is a standard deviation or a variance.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    Bunch
        X, y, y_clean (without noise), informative (bool mask of columns), feature_names.

    Examples
    --------
    >>> data = make_friedman(random_state=0)
    >>> data.X.shape, int(data.informative.sum())
    ((200, 110), 5)
    """
    check_samples(n_samples)
    rng = check_random_state(random_state)
    X = rng.uniform(size=(n_samples, 5))
    y_clean = (
        10 * np.sin(np.pi * X[:, 0] * X[:, 1])
        + 20 * (X[:, 2] - 0.5) ** 2
        + 10 * X[:, 3]
        + 5 * X[:, 4]
    )
    y = y_clean + noise * rng.standard_normal(n_samples)
    junk = junk_columns(rng, n_samples, n_uninformative, n_noisy, noisy_reading)
    return assemble(X, *junk, y, y_clean=y_clean)


def make_additive_regression(
    n_samples: int = 200,
    n_uninformative: int = 92,
    n_noisy: int = 10,
    *,
    noise: float = 1.0,
    noisy_reading: NoisyReading = "sd",
    random_state: Any = None,
) -> Bunch:
    """Additive regression with eight informative columns, uniform on [-1, 1].

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    n_uninformative, n_noisy : int, default=92, 10
        Number of N(0, 1) and N(100, 100) columns.
    noise : float, default=1.0
        Standard deviation of the noise of y.
    noisy_reading : {"sd", "variance"}, default="sd"
        Whether the second 100 of N(100, 100) is a standard deviation or a variance.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    Bunch
        X, y, y_clean (without noise), components (values of the eight functions), informative,
        feature_names.

    Examples
    --------
    >>> data = make_additive_regression(n_samples=50, random_state=0)
    >>> bool(np.allclose(data.components.sum(axis=1), data.y_clean))
    True
    """
    check_samples(n_samples)
    rng = check_random_state(random_state)
    X = rng.uniform(-1, 1, size=(n_samples, 8))
    components = additive_components(X)
    y_clean = components.sum(axis=1)
    y = y_clean + noise * rng.standard_normal(n_samples)
    junk = junk_columns(rng, n_samples, n_uninformative, n_noisy, noisy_reading)
    return assemble(X, *junk, y, y_clean=y_clean, components=components)


def make_additive_classification(
    n_samples: int = 200,
    n_uninformative: int = 98,
    n_noisy: int = 10,
    *,
    noise: float = 0.0,
    variant: Literal["paper", "code"] = "paper",
    noisy_reading: NoisyReading = "sd",
    random_state: Any = None,
) -> Bunch:
    """Two classes split by a circle in the first two columns, which correlate.

    Class 1 where (x1 - 1/2)^2 + (x2 - 1/2)^2 > 0.08 (about 41 % of the rows), x_j = (W_j + U) / 2
    with W_j and U uniform on [0, 1].

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    n_uninformative, n_noisy : int, default=98, 10
        Number of uninformative and of N(100, 100) columns.
    noise : float, default=0.0
        Probability that a label is flipped.
    variant : {"paper", "code"}, default="paper"
        What the uninformative columns are: (W_j + U) / 2 with the row's own U, so that they
        correlate with the informative ones, as the paper says; or independent N(0, 1), as the
        paper's public code draws them.
    noisy_reading : {"sd", "variance"}, default="sd"
        Whether the second 100 of N(100, 100) is a standard deviation or a variance.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    Bunch
        X, y (0 or 1), y_clean (without flips), informative, feature_names.

    Examples
    --------
    >>> data = make_additive_classification(random_state=0)
    >>> data.X.shape, np.unique(data.y)
    ((200, 110), array([0, 1]))
    """
    check_samples(n_samples)
    check_counts(n_uninformative=n_uninformative, n_noisy=n_noisy)
    if variant not in ("paper", "code"):
        raise InvalidInputError(f"variant must be 'paper' or 'code', got {variant!r}.")
    rng = check_random_state(random_state)
    shared = rng.uniform(size=(n_samples, 1))
    X = (rng.uniform(size=(n_samples, 2)) + shared) / 2
    y_clean = (((X - 0.5) ** 2).sum(axis=1) > 0.08).astype(np.intp)
    y = flip_labels(rng, y_clean, noise, 2)
    correlated = np.empty((n_samples, 0))
    if variant == "paper":
        correlated = (rng.uniform(size=(n_samples, n_uninformative)) + shared) / 2
        n_uninformative = 0
    junk, names = junk_columns(rng, n_samples, n_uninformative, n_noisy, noisy_reading)
    names = numbered("u", correlated.shape[1]) + names
    return assemble(X, np.hstack([correlated, junk]), names, y, y_clean=y_clean)


def make_moons(
    n_samples: int = 200,
    n_uninformative: int = 8,
    n_noisy: int = 10,
    *,
    noise: float = 0.05,
    noisy_reading: NoisyReading = "sd",
    random_state: Any = None,
) -> Bunch:
    """Two interleaving half circles in the first two columns.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    n_uninformative, n_noisy : int, default=8, 10
        Number of N(0, 1) and N(100, 100) columns.
    noise : float, default=0.05
        Standard deviation of the noise of the two coordinates.
    noisy_reading : {"sd", "variance"}, default="sd"
        Whether the second 100 of N(100, 100) is a standard deviation or a variance.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    Bunch
        X, y (0 or 1), informative, feature_names.

    Examples
    --------
    >>> make_moons(random_state=0).X.shape
    (200, 20)
    """
    check_samples(n_samples, least=2)
    rng = check_random_state(random_state)
    X, y = _sklearn_moons(n_samples, noise=noise, random_state=rng)
    junk = junk_columns(rng, n_samples, n_uninformative, n_noisy, noisy_reading)
    return assemble(X, *junk, y.astype(np.intp))
