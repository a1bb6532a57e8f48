"""Laws that every criterion of the upper level obeys."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from s2mam._typing import BoolArray, FloatArray
from s2mam.conformance.laws import close, obey, require
from s2mam.masks.criteria import SmoothCriterion

__all__ = ["check_criterion"]

_STEP = 1e-5


def check_criterion(
    criterion: Any, *, tolerance: float = 1e-6, skip: Collection[str] = ()
) -> list[str]:
    """Check that an object scores masks as the searches need it.

    Parameters
    ----------
    criterion : object
        With ``n_columns`` and ``value(mask)``, as :class:`s2mam.masks.Criterion`. Where it has the
        derivatives of :class:`s2mam.masks.SmoothCriterion` too, these are compared with finite
        differences.
    tolerance : float, default=1e-6
        How far values of the same mask may be apart, as a share of their size; a criterion that
        starts each fit from the last one needs some.
    skip : collection of str
        Names of laws to leave out.

    Returns
    -------
    list of str
        Names of the laws that hold: "columns", "finite", "input is left alone", "same again",
        "any type of mask", and for smooth criteria "gradient", "derivative by the noise" and
        "additions".

    Raises
    ------
    ConformanceError
        At the first law that is broken.

    Examples
    --------
    >>> from s2mam.conformance import check_criterion
    >>> class Size:
    ...     n_columns = 5
    ...
    ...     def value(self, mask):
    ...         return float(np.sum(mask))
    >>> check_criterion(Size())
    ['columns', 'finite', 'input is left alone', 'same again', 'any type of mask']
    """
    return obey(_CriterionLaws(criterion, tolerance).all(), skip)


class _CriterionLaws:
    def __init__(self, criterion: Any, tolerance: float) -> None:
        self.criterion, self.tolerance = criterion, tolerance

    def all(self) -> dict[str, Callable[[], None]]:
        laws = {
            "columns": self.columns,
            "finite": self.finite,
            "input is left alone": self.untouched,
            "same again": self.again,
            "any type of mask": self.types,
        }
        if isinstance(self.criterion, SmoothCriterion):
            laws["gradient"] = self.gradient
            laws["derivative by the noise"] = self.by_noise
            laws["additions"] = self.additions
        return laws

    def masks(self) -> list[BoolArray]:
        """Some masks, the empty and the full one among them."""
        p = int(self.criterion.n_columns)
        rng = np.random.default_rng(0)
        some = [rng.random(p) < share for share in (0.2, 0.5, 0.8)]
        return [np.zeros(p, dtype=bool), np.ones(p, dtype=bool), *some]

    def point(self) -> FloatArray:
        """Weights inside the box."""
        return np.random.default_rng(1).uniform(0.2, 0.8, size=int(self.criterion.n_columns))

    def columns(self) -> None:
        p = self.criterion.n_columns
        require(isinstance(p, int | np.integer) and p > 0, f"n_columns is {p!r}, no positive int")

    def finite(self) -> None:
        for mask in self.masks():
            value = self.criterion.value(mask)
            columns = np.flatnonzero(mask).tolist()
            require(np.ndim(value) == 0, f"the value of the columns {columns} is no single number")
            require(np.isfinite(value), f"the value of the columns {columns} is {value}")

    def again(self) -> None:
        masks = self.masks()
        first = [self.criterion.value(mask) for mask in masks]
        second = [self.criterion.value(mask) for mask in reversed(masks)][::-1]
        close(second, first, "the same masks have other values later on", self.tolerance)

    def types(self) -> None:
        mask = self.masks()[-1]
        expected = self.criterion.value(mask)
        for other in (mask.astype(np.float64), mask.astype(int).tolist()):
            kind = type(other).__name__
            message = f"a mask given as {kind} has another value than as an array of bool"
            close(self.criterion.value(other), expected, message, self.tolerance)

    def untouched(self) -> None:
        mask = self.masks()[-1].astype(np.float64)
        before = mask.copy()
        self.criterion.value(mask)
        require(np.array_equal(mask, before), "the mask was written to")

    def gradient(self) -> None:
        s = self.point()
        message = "gradient(s) is not the slope of value(s)"
        close(self.criterion.gradient(s), _slopes(self.criterion.value, s), message, 1e-3)
        noise = float(self.criterion.noise_of(s))
        slopes = _slopes(lambda at: self.criterion.value_and_gradient(at, noise)[0], s)
        found = self.criterion.value_and_gradient(s, noise)[1]
        close(found, slopes, "the gradient at a given noise is not the slope there", 1e-3)

    def by_noise(self) -> None:
        s = self.point()
        noise = 2.0 * float(self.criterion.noise_of(s))

        def value(log_noise: FloatArray) -> float:
            at = float(np.exp(log_noise[0]))
            return float(self.criterion.value_and_gradient(s, at)[0])

        slope = _slopes(value, np.array([np.log(noise)]))
        found = self.criterion.value_and_gradient(s, noise)[2]
        close([found], slope, "the derivative by ln(noise) is not the slope", 1e-3)

    def additions(self) -> None:
        mask = self.masks()[2].astype(np.float64)
        noise = float(self.criterion.noise_of(mask))
        found = np.asarray(self.criterion.addition_values(mask, noise))
        for j in np.flatnonzero(mask == 0.0):
            more = mask.copy()
            more[j] = 1.0
            expected = self.criterion.value_and_gradient(more, noise)[0]
            message = f"addition_values[{j}] is not the value with column {j} added"
            close(found[j], expected, message, 1e-6)


def _slopes(value: Callable[[FloatArray], float], s: FloatArray) -> FloatArray:
    """Central differences."""
    slopes = np.empty(s.size)
    for j in range(s.size):
        step = np.zeros(s.size)
        step[j] = _STEP
        slopes[j] = (value(s + step) - value(s - step)) / (2.0 * _STEP)
    return slopes
