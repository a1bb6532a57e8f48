"""A new fit forgets the last one, so that one that fails does not leave halves of two models."""

from __future__ import annotations

from typing import Any

__all__ = ["forget_learned"]


def forget_learned(estimator: Any, *private: str) -> None:
    """Drop what an earlier fit learned: names that end in an underscore, and the private ones.

    Parameters
    ----------
    estimator : estimator
    *private : str
        Attributes with other names that hold parts of a model.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(alpha=1.0, coef_=[2.0], _state=3)
    >>> forget_learned(model, "_state")
    >>> model
    namespace(alpha=1.0)
    """
    for name in list(vars(estimator)):
        learned = name.endswith("_") and not name.startswith("_")
        if learned or name in private:
            delattr(estimator, name)
