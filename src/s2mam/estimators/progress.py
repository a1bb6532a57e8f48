"""Who is told about a running fit, and what stops it: callbacks, a time limit, Ctrl-C."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from s2mam.bilevel.watch import Watch
from s2mam.estimators.settings import require_choice, require_level, require_seconds
from s2mam.exceptions import InvalidInputError

__all__ = ["FitWatch", "require_callbacks"]

# About so many lines verbose=1 writes (one a second where the end is not known); verbose=2 writes
# one for every unit.
_LINES = 20


class FitWatch(Watch):
    """Follows one fit of an estimator.

    Every finished unit goes to the callables of the estimator's ``callbacks``, to the scikit-learn
    callbacks of ``set_callbacks``, and to standard error when ``verbose``. The fit stops when one
    of them answers True or ``time_limit`` is over.

    Parameters
    ----------
    estimator : estimator
        Whose parameters ``callbacks``, ``verbose``, ``time_limit`` and ``on_interrupt`` apply,
        where it has them.
    X, y, sample_weight
        As given to ``fit``; scikit-learn callbacks may ask for them.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> None:
        self._estimator = estimator
        self._began = time.monotonic()
        self._limit = require_seconds("time_limit", getattr(estimator, "time_limit", None))
        self._callbacks = require_callbacks(getattr(estimator, "callbacks", None))
        self._verbose = require_level("verbose", getattr(estimator, "verbose", 0))
        on_interrupt = getattr(estimator, "on_interrupt", "raise")
        self.keep_interrupted = (
            require_choice("on_interrupt", on_interrupt, ("raise", "keep")) == "keep"
        )
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self._data = {"estimator": estimator, "X": X, "y": y, "metadata": metadata}
        self._total: int | None = None
        self._said = 0.0
        self._root: Any = None  # scikit-learn's context of the fit, and of the running unit
        self._unit: Any = None

    @property
    def seconds(self) -> float:
        """Seconds since ``fit`` was called."""
        return time.monotonic() - self._began

    def say(self, line: str) -> None:
        """Write a line to standard error, when verbose."""
        if self._verbose > 0:
            sys.stderr.write(f"[{type(self._estimator).__name__}] {line}\n")
            sys.stderr.flush()
            self._said = self.seconds

    def begin(self, total: int | None) -> None:
        """Work starts, in at most so many units."""
        self._total = total
        if self._root is None and hasattr(self._estimator, "_init_callback_context"):
            self._root = self._estimator._init_callback_context(max_subtasks=total)
            self._root.call_on_fit_task_begin(**self._data)

    def unit_begins(self, stage: str) -> None:
        """A unit of a stage starts."""
        # Without callbacks nobody reads the contexts, and they would only pile up.
        if self._root is not None and hasattr(self._estimator, "_skl_callbacks"):
            self._unit = self._root.subcontext(task_name=stage)
            self._unit.call_on_fit_task_begin(**self._data)

    def unit_ends(
        self, stage: str, done: int, details: Mapping[str, Any] | None = None
    ) -> str | None:
        """A unit is finished; the answer is "callback", "time_limit" or None."""
        seconds = self.seconds
        if self._is_shown(done):
            self.say(f"{stage} {_of(done, self._total)}, {seconds:.1f} s")
        progress = {
            "estimator": self._estimator,
            "stage": stage,
            "done": done,
            "total": self._total,
            "seconds": seconds,
            **(details or {}),
        }
        answers = [callback(dict(progress)) for callback in self._callbacks]
        if self._unit is not None:
            unit, self._unit = self._unit, None
            answers.append(unit.call_on_fit_task_end(**self._data))
        if any(bool(answer) for answer in answers):
            return "callback"
        return "time_limit" if self.time_is_over() else None

    def time_is_over(self) -> bool:
        """Whether the time limit has passed."""
        return self._limit is not None and self.seconds >= self._limit

    def finish(self) -> None:
        """The estimator is fitted."""
        if self._root is None:
            self.begin(0)
        if self._root is not None:
            self._root.call_on_fit_task_end(**self._data, reconstruction_attributes={})
        fitted = self._estimator
        choices = ", ".join(_shown(fitted.chosen_))
        columns = f"{int(np.count_nonzero(fitted.support_))} of {fitted.support_.size} columns"
        self.say(
            f"done ({fitted.stop_reason_}): {columns} selected"
            f"{'; ' if choices else ''}{choices}; {self.seconds:.1f} s"
        )

    def _is_shown(self, done: int) -> bool:
        if self._verbose > 1:
            return True
        if self._total is None:
            return self.seconds - self._said >= 1.0
        every = max(1, self._total // _LINES)
        return done % every == 0 or done == self._total


def require_callbacks(callbacks: Any) -> list[Callable[[dict[str, Any]], bool | None]]:
    """The callables of the `callbacks` parameter."""
    if callbacks is None:
        return []
    wanted = "callbacks must be a list of functions of one dict"
    if isinstance(callbacks, str) or not hasattr(callbacks, "__iter__"):
        raise InvalidInputError(f"{wanted}, got {type(callbacks).__name__}; pass [f] for one.")
    known = list(callbacks)
    for callback in known:
        if not callable(callback):
            raise InvalidInputError(
                f"{wanted}, but one is of class {type(callback).__name__}; pass callbacks of "
                "scikit-learn to set_callbacks instead."
            )
    return known


def _of(done: int, total: int | None) -> str:
    return f"{done}" if total is None else f"{done}/{total}"


def _shown(chosen: Mapping[str, Any]) -> list[str]:
    """Numbers that were chosen from the data, one text each."""
    texts = []
    for name, value in chosen.items():
        if isinstance(value, Mapping):
            inner = ", ".join(f"{key} {float(part):.2f}" for key, part in value.items())
            texts.append(f"{name.replace('_', ' ')}: {inner}")
        elif isinstance(value, int | float):
            texts.append(f"{name}={value:.3g}")
    return texts
