"""Classification problems beyond the paper's: wrong labels, rare classes, several classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_random_state

from s2mam._typing import IntArray
from s2mam.datasets._columns import assemble, check_counts, check_samples, flip_labels, junk_columns
from s2mam.datasets.components import smooth_components
from s2mam.exceptions import InvalidInputError


def make_noisy_label_classification(
    n_samples: int = 200,
    n_uninformative: int = 46,
    n_noisy: int = 0,
    *,
    n_informative: int = 4,
    noise: float = 0.1,
    random_state: Any = None,
) -> Bunch:
    """Two balanced classes by the sign of an additive function, some labels wrong.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    n_uninformative, n_noisy : int, default=46, 0
        Number of N(0, 1) and N(100, 100) columns.
    n_informative : int, default=4
        Number of informative columns.
    noise : float, default=0.1
        Probability that a label is flipped.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    Bunch
        `y_clean` holds the labels before flips.

    Examples
    --------
    >>> data = make_noisy_label_classification(n_samples=1000, random_state=0)
    >>> round(float(np.mean(data.y != data.y_clean)), 1)
    0.1
    """
    return _thresholded(
        n_samples, n_uninformative, n_noisy, n_informative, 0.5, noise, random_state
    )


def make_imbalanced_classification(
    n_samples: int = 200,
    n_uninformative: int = 46,
    n_noisy: int = 0,
    *,
    n_informative: int = 4,
    minority: float = 0.1,
    noise: float = 0.0,
    random_state: Any = None,
) -> Bunch:
    """Two classes by an additive function, class 1 rare.

    Parameters
    ----------
    n_samples : int, default=200
        Number of rows.
    n_uninformative, n_noisy : int, default=46, 0
        Number of N(0, 1) and N(100, 100) columns.
    n_informative : int, default=4
        Number of informative columns.
    minority : float, default=0.1
        Share of class 1 among the clean labels of the drawn rows.
    noise : float, default=0.0
        Probability that a label is flipped.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    Bunch

    Examples
    --------
    >>> make_imbalanced_classification(random_state=0).y.sum()
    np.int64(20)
    """
    if not 0 < minority <= 0.5:
        raise InvalidInputError(f"minority must lie in (0, 0.5], got {minority}.")
    return _thresholded(
        n_samples, n_uninformative, n_noisy, n_informative, minority, noise, random_state
    )


def make_multiclass_additive(
    n_samples: int = 300,
    n_uninformative: int = 44,
    n_noisy: int = 0,
    *,
    n_classes: int = 3,
    n_informative: int = 6,
    noise: float = 0.0,
    random_state: Any = None,
) -> Bunch:
    """Several classes: the largest of one additive score per class wins.

    Every class has its own signs of the component functions, so each informative column bears on
    several classes.

    Parameters
    ----------
    n_samples : int, default=300
        Number of rows.
    n_uninformative, n_noisy : int, default=44, 0
        Number of N(0, 1) and N(100, 100) columns.
    n_classes : int, default=3
        Number of classes, at least two.
    n_informative : int, default=6
        Number of informative columns, at least two.
    noise : float, default=0.0
        Probability that a label is replaced by another class.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    Bunch

    Examples
    --------
    >>> np.unique(make_multiclass_additive(random_state=0).y)
    array([0, 1, 2])
    """
    check_counts(2, n_classes=n_classes, n_informative=n_informative)
    check_samples(n_samples, least=n_classes)
    rng = check_random_state(random_state)
    X = rng.standard_normal((n_samples, n_informative))
    # Regular angles instead of random ones: no class is ever swallowed by the others.
    angle = 2 * np.pi * np.arange(n_classes) / n_classes
    turn = np.arange(n_informative) * np.pi / 2
    scores = smooth_components(X) @ np.cos(angle[:, None] - turn[None, :]).T
    y_clean = np.argmax(scores, axis=1).astype(np.intp)
    y = flip_labels(rng, y_clean, noise, n_classes)
    junk = junk_columns(rng, n_samples, n_uninformative, n_noisy, "sd")
    return assemble(X, *junk, y, y_clean=y_clean)


def _thresholded(
    n_samples: int,
    n_uninformative: int,
    n_noisy: int,
    n_informative: int,
    share: float,
    noise: float,
    random_state: Any,
) -> Bunch:
    check_samples(n_samples, least=2)
    check_counts(1, n_informative=n_informative)
    rng = check_random_state(random_state)
    X = rng.standard_normal((n_samples, n_informative))
    score = smooth_components(X).sum(axis=1)
    y_clean: IntArray = np.zeros(n_samples, dtype=np.intp)
    # The top rows, not a fixed threshold: the rare class always has the promised size.
    y_clean[np.argsort(score)[n_samples - max(1, round(share * n_samples)) :]] = 1
    y = flip_labels(rng, y_clean, noise, 2)
    junk = junk_columns(rng, n_samples, n_uninformative, n_noisy, "sd")
    return assemble(X, *junk, y, y_clean=y_clean, score=score)
