"""Junk columns, names and the Bunch that every generator returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.utils import Bunch

from s2mam._typing import AnyArray, FloatArray
from s2mam.exceptions import InvalidInputError

NoisyReading: TypeAlias = Literal["sd", "variance"]

_NOISY_MEAN = 100.0
_NOISY_SD = {"sd": 100.0, "variance": 10.0}


def junk_columns(
    rng: np.random.RandomState,
    n_rows: int,
    n_uninformative: int,
    n_noisy: int,
    noisy_reading: NoisyReading,
) -> tuple[FloatArray, list[str]]:
    """Independent N(0, 1) columns, then independent N(100, 100) columns, with their names."""
    check_counts(n_uninformative=n_uninformative, n_noisy=n_noisy)
    if noisy_reading not in _NOISY_SD:
        raise InvalidInputError(
            f"noisy_reading must be 'sd' (the 100 of N(100, 100) is the standard deviation) or "
            f"'variance', got {noisy_reading!r}."
        )
    plain = rng.standard_normal((n_rows, n_uninformative))
    noisy = rng.normal(_NOISY_MEAN, _NOISY_SD[noisy_reading], (n_rows, n_noisy))
    return np.hstack([plain, noisy]), numbered("u", n_uninformative) + numbered("n", n_noisy)


def numbered(letter: str, count: int) -> list[str]:
    """Names such as x1, x2, ..."""
    return [f"{letter}{k + 1}" for k in range(count)]


def assemble(
    informative: FloatArray, junk: FloatArray, junk_names: Sequence[str], y: AnyArray, **extra: Any
) -> Bunch:
    """Bunch with X (informative columns first), y, the informative mask, names and extras."""
    n_informative = informative.shape[1]
    return Bunch(
        X=np.hstack([informative, junk]),
        y=y,
        informative=np.arange(n_informative + junk.shape[1]) < n_informative,
        feature_names=numbered("x", n_informative) + list(junk_names),
        **extra,
    )


def check_counts(least: int = 0, **counts: Any) -> None:
    """Refuse numbers of columns or classes that are not whole or too small."""
    for name, count in counts.items():
        _check_whole(name, count)
        if count < least:
            raise InvalidInputError(f"{name}={count} must be at least {least}.")


def check_samples(n_samples: int, least: int = 1) -> None:
    """Refuse sample sizes that cannot be drawn."""
    _check_whole("n_samples", n_samples)
    if n_samples < least:
        raise InvalidInputError(f"n_samples must be at least {least}, got {n_samples}.")


def _check_whole(name: str, count: Any) -> None:
    if isinstance(count, bool) or not isinstance(count, int | np.integer):
        raise InvalidInputError(f"{name}={count!r} must be a whole number.")


def flip_labels(
    rng: np.random.RandomState, y: AnyArray, probability: float, n_classes: int
) -> AnyArray:
    """Replace each label, with the given probability, by another class at random."""
    if not 0 <= probability < 1:
        raise InvalidInputError(f"noise is a flip probability in [0, 1), got {probability}.")
    flipped = rng.uniform(size=len(y)) < probability
    shift = rng.randint(1, n_classes, size=len(y))
    return np.where(flipped, (y + shift) % n_classes, y)
