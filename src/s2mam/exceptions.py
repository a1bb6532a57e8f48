"""Every error and warning of the package, under one base class each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = [
    "CheckpointMismatchError",
    "ConvergenceWarning",
    "DegenerateGraphWarning",
    "InvalidInputError",
    "MemoryLimitError",
    "MissingDependencyError",
    "ModelFileError",
    "NoLabelsError",
    "S2MAMError",
    "S2MAMWarning",
    "TrainingDivergedError",
]


class S2MAMError(Exception):
    """Base class of all errors raised on purpose by s2mam."""


class InvalidInputError(S2MAMError, ValueError):
    """Data or a parameter cannot be used; the message names it and the way out."""


class NoLabelsError(InvalidInputError):
    """No row carries a label, so there is nothing to learn from."""


class MemoryLimitError(S2MAMError, MemoryError):
    """The requested computation would not fit in memory; nothing was allocated."""


class MissingDependencyError(S2MAMError, ImportError):
    """An optional package is needed; the message says which extra brings it."""


class ModelFileError(S2MAMError, ValueError):
    """A model or checkpoint file is damaged, truncated or not ours."""


class CheckpointMismatchError(ModelFileError):
    """A checkpoint belongs to other data, other parameters or another version."""


class TrainingDivergedError(S2MAMError, ArithmeticError):
    """A network's loss or weights are no longer finite; the message says what to change."""


class S2MAMWarning(UserWarning):
    """Base class of all warnings issued on purpose by s2mam."""


if TYPE_CHECKING:

    class ConvergenceWarning(S2MAMWarning):
        """A solver stopped before its certificate reached the tolerance."""


class DegenerateGraphWarning(S2MAMWarning):
    """The graph carries no information: all weights equal, or no edges at all."""


def __getattr__(name: str) -> Any:
    # One class derives from one of scikit-learn, and errors alone should not cost that import.
    if name != "ConvergenceWarning":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sklearn.exceptions import ConvergenceWarning as SklearnWarning

    about = "A solver stopped before its certificate reached the tolerance."
    made = type(name, (S2MAMWarning, SklearnWarning), {"__doc__": about, "__module__": __name__})
    return globals().setdefault(name, made)
