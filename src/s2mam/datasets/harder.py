"""Problems beyond the paper's for selection studies: dependence, redundancy, bad noise, width.

All generators return the same Bunch as those of the paper: X with informative columns first, y,
informative (bool mask of columns), feature_names, y_clean (the target before noise).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.utils import Bunch, check_random_state

from s2mam.datasets._columns import assemble, check_counts, check_samples, junk_columns, numbered
from s2mam.datasets.components import smooth_components
from s2mam.exceptions import InvalidInputError


def make_correlated_regression(
    n_samples: int = 200,
    n_uninformative: int = 46,
    n_noisy: int = 0,
    *,
    n_informative: int = 4,
    structure: Literal["ar1", "block"] = "ar1",
    correlation: float = 0.7,
    block_size: int = 5,
    noise: float = 1.0,
    random_state: Any = None,
) -> Bunch:
    """Additive regression on correlated normal columns.

    Informative columns are spread evenly over the dependence structure before they are moved to
    the front, so that each one has uninformative neighbours it is confounded with.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    n_uninformative, n_noisy : int, default=46, 0
        Number of correlated uninformative columns, and of independent N(100, 100) columns.
    n_informative : int, default=4
        Number of informative columns.
    structure : {"ar1", "block"}, default="ar1"
        Correlation of columns i and j: correlation^abs(i - j), or `correlation` within blocks.
    correlation : float, default=0.7
        In [0, 1).
    block_size : int, default=5
        Columns in a block.
    noise : float, default=1.0
        Standard deviation of the noise of y.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    Bunch
        Also `position`, the place of each correlated column in the dependence structure.

    Examples
    --------
    >>> make_correlated_regression(structure="block", random_state=0).X.shape
    (200, 50)
    """
    check_samples(n_samples)
    check_counts(n_uninformative=n_uninformative)
    check_counts(1, n_informative=n_informative, block_size=block_size)
    if not 0 <= correlation < 1:
        raise InvalidInputError(f"correlation must lie in [0, 1), got {correlation}.")
    if structure not in ("ar1", "block"):
        raise InvalidInputError(f"structure must be 'ar1' or 'block', got {structure!r}.")
    rng = check_random_state(random_state)
    p = n_informative + n_uninformative
    draw = rng.standard_normal((n_samples, p))
    if structure == "ar1":
        for j in range(1, p):
            draw[:, j] = correlation * draw[:, j - 1] + np.sqrt(1 - correlation**2) * draw[:, j]
    else:
        shared = rng.standard_normal((n_samples, p // block_size + 1))
        of_column = shared[:, np.arange(p) // block_size]
        draw = np.sqrt(correlation) * of_column + np.sqrt(1 - correlation) * draw
    first = np.arange(n_informative) * p // n_informative
    position = np.concatenate([first, np.setdiff1d(np.arange(p), first)])
    X = draw[:, position]
    y_clean = smooth_components(X[:, :n_informative]).sum(axis=1)
    junk, names = junk_columns(rng, n_samples, 0, n_noisy, "sd")
    return assemble(
        X[:, :n_informative],
        np.hstack([X[:, n_informative:], junk]),
        numbered("u", n_uninformative) + names,
        y_clean + noise * rng.standard_normal(n_samples),
        y_clean=y_clean,
        position=position,
    )


def make_duplicated_regression(
    n_samples: int = 200,
    n_uninformative: int = 40,
    n_noisy: int = 0,
    *,
    n_informative: int = 4,
    n_copies: int = 1,
    copy_noise: float = 0.05,
    noise: float = 1.0,
    random_state: Any = None,
) -> Bunch:
    """Additive regression in which every informative column has near copies.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    n_uninformative, n_noisy : int, default=40, 0
        Number of N(0, 1) and N(100, 100) columns.
    n_informative : int, default=4
        Number of informative columns.
    n_copies : int, default=1
        Copies of each informative column.
    copy_noise : float, default=0.05
        Standard deviation of the noise of a copy (the columns have unit spread).
    noise : float, default=1.0
        Standard deviation of the noise of y.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    Bunch
        `informative` marks the originals; `source` gives, for every column, the original it
        carries (itself, or what it copies) and -1 for junk. Columns of equal `source` are
        equivalent.

    Examples
    --------
    >>> data = make_duplicated_regression(n_uninformative=2, random_state=0)
    >>> data.source
    array([ 0,  1,  2,  3,  0,  1,  2,  3, -1, -1])
    """
    check_samples(n_samples)
    check_counts(n_copies=n_copies)
    check_counts(1, n_informative=n_informative)
    rng = check_random_state(random_state)
    X = rng.standard_normal((n_samples, n_informative))
    copies = np.tile(X, n_copies)
    copies = copies + copy_noise * rng.standard_normal(copies.shape)
    y_clean = smooth_components(X).sum(axis=1)
    y = y_clean + noise * rng.standard_normal(n_samples)
    junk, names = junk_columns(rng, n_samples, n_uninformative, n_noisy, "sd")
    source = np.tile(np.arange(n_informative), n_copies + 1)
    return assemble(
        X,
        np.hstack([copies, junk]),
        numbered("c", copies.shape[1]) + names,
        y,
        y_clean=y_clean,
        source=np.concatenate([source, np.full(junk.shape[1], -1)]),
    )


def make_interaction_regression(
    n_samples: int = 200,
    n_uninformative: int = 40,
    n_noisy: int = 0,
    *,
    strength: float = 1.0,
    noise: float = 1.0,
    random_state: Any = None,
) -> Bunch:
    """Three additive columns beside two that act only through their product.

    y = sine(x1) + parabola(x2) + line(x3) + strength * x4 * x5 + noise: the last two have no
    effect on their own, which no additive model can see.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    n_uninformative, n_noisy : int, default=40, 0
        Number of N(0, 1) and N(100, 100) columns.
    strength : float, default=1.0
        Factor of the product.
    noise : float, default=1.0
        Standard deviation of the noise of y.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    Bunch
        Also `interactions`, pairs of columns, and `y_additive`, the additive part of y_clean.

    Examples
    --------
    >>> make_interaction_regression(random_state=0).interactions
    [(3, 4)]
    """
    check_samples(n_samples)
    rng = check_random_state(random_state)
    X = rng.standard_normal((n_samples, 5))
    y_additive = smooth_components(X[:, :3]).sum(axis=1)
    y_clean = y_additive + strength * X[:, 3] * X[:, 4]
    y = y_clean + noise * rng.standard_normal(n_samples)
    junk = junk_columns(rng, n_samples, n_uninformative, n_noisy, "sd")
    return assemble(X, *junk, y, y_clean=y_clean, y_additive=y_additive, interactions=[(3, 4)])


def make_heavy_tailed_regression(
    n_samples: int = 200,
    n_uninformative: int = 46,
    n_noisy: int = 0,
    *,
    n_informative: int = 4,
    degrees: float = 2.0,
    noise: float = 1.0,
    random_state: Any = None,
) -> Bunch:
    """Additive regression whose noise follows Student's t distribution.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    n_uninformative, n_noisy : int, default=46, 0
        Number of N(0, 1) and N(100, 100) columns.
    n_informative : int, default=4
        Number of informative columns.
    degrees : float, default=2.0
        Degrees of freedom; no variance at 2 or less.
    noise : float, default=1.0
        Factor of the noise.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    Bunch

    Examples
    --------
    >>> make_heavy_tailed_regression(random_state=0).X.shape
    (200, 50)
    """
    check_samples(n_samples)
    check_counts(1, n_informative=n_informative)
    rng = check_random_state(random_state)
    X = rng.standard_normal((n_samples, n_informative))
    y_clean = smooth_components(X).sum(axis=1)
    y = y_clean + noise * rng.standard_t(degrees, size=n_samples)
    junk = junk_columns(rng, n_samples, n_uninformative, n_noisy, "sd")
    return assemble(X, *junk, y, y_clean=y_clean)


def make_wide_regression(
    n_samples: int = 100,
    n_uninformative: int = 1996,
    n_noisy: int = 0,
    *,
    n_informative: int = 4,
    noise: float = 0.5,
    random_state: Any = None,
) -> Bunch:
    """Additive regression with far more columns than rows.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    n_uninformative, n_noisy : int, default=1996, 0
        Number of N(0, 1) and N(100, 100) columns.
    n_informative : int, default=4
        Number of informative columns.
    noise : float, default=0.5
        Standard deviation of the noise of y.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    Bunch

    Examples
    --------
    >>> make_wide_regression(random_state=0).X.shape
    (100, 2000)
    """
    check_samples(n_samples)
    check_counts(1, n_informative=n_informative)
    rng = check_random_state(random_state)
    X = rng.standard_normal((n_samples, n_informative))
    y_clean = smooth_components(X).sum(axis=1)
    y = y_clean + noise * rng.standard_normal(n_samples)
    junk = junk_columns(rng, n_samples, n_uninformative, n_noisy, "sd")
    return assemble(X, *junk, y, y_clean=y_clean)
