"""Fitted estimators to and from files."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any, Final, Protocol

import numpy as np

from s2mam.exceptions import InvalidInputError, ModelFileError
from s2mam.persistence.format import read_state, write_state

__all__ = ["LOADABLE", "load", "save"]

#: The only classes that a file may name. Everything else is refused, whatever the file says.
LOADABLE: Final[dict[str, str]] = {
    "S2MAMRegressor": "s2mam.estimators:S2MAMRegressor",
    "S2MAMClassifier": "s2mam.estimators:S2MAMClassifier",
    "ManifoldAdditiveRegressor": "s2mam.estimators:ManifoldAdditiveRegressor",
    "ManifoldAdditiveClassifier": "s2mam.estimators:ManifoldAdditiveClassifier",
}


class Storable(Protocol):
    """What an estimator has to offer: a state tree and the way back."""

    def _to_state(self) -> dict[str, Any]: ...

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> Storable: ...


def save(estimator: Storable, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to one file, without pickle.

    Parameters
    ----------
    estimator : one of the public estimators
        Fitted. Subclasses are refused, since `load` would not know them.
    path : str or path-like
        An existing file is replaced only after the new one is complete on disk.

    Raises
    ------
    InvalidInputError
        For other objects, and for parameters that cannot be stored (callables, for example).
    OSError
        When the file cannot be written.

    Examples
    --------
    >>> save(object(), "model.s2mam")
    Traceback (most recent call last):
    ...
    s2mam.exceptions.InvalidInputError: Cannot save an object of class object; ...
    """
    kind = type(estimator).__name__
    if kind not in LOADABLE or type(estimator) is not _resolve(kind):
        raise InvalidInputError(
            f"Cannot save an object of class {kind}; only {', '.join(LOADABLE)} can be saved."
        )
    write_state(path, kind, estimator._to_state())


def load(path: str | os.PathLike[str]) -> Any:
    """Read an estimator that `save` wrote; no code from the file runs.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    estimator
        Predicts what the saved one did, bit for bit on the same platform.

    Raises
    ------
    ModelFileError
        When the file is damaged, not a model, or written by a newer release.
    OSError
        When there is no such file or it may not be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from s2mam import ManifoldAdditiveRegressor, load
    >>> from s2mam.datasets import make_friedman
    >>> data = make_friedman(n_samples=60, n_uninformative=1, n_noisy=0, random_state=0)
    >>> model = ManifoldAdditiveRegressor(sparsity=0.01, manifold=0.0).fit(data.X, data.y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder) / "friedman.s2mam")
    ...     again = load(Path(folder) / "friedman.s2mam")
    >>> bool((again.predict(data.X) == model.predict(data.X)).all())
    True
    """
    kind, state = read_state(path)
    if kind not in LOADABLE:
        raise ModelFileError(
            f"Cannot load {os.fspath(path)!r}: it is of kind {kind!r}, not one of "
            f"{', '.join(LOADABLE)}."
        )
    if not isinstance(state, dict):
        raise ModelFileError(f"Cannot load {os.fspath(path)!r}: its state is not a dict.")
    if _holds_complex(state):
        raise ModelFileError(f"Cannot load {os.fspath(path)!r}: it holds complex numbers.")
    estimator = _resolve(kind)
    try:
        return estimator._from_state(state)
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        MemoryError,  # offsets that ask for more than there is
        TypeError,
        ValueError,
    ) as error:
        raise ModelFileError(
            f"Cannot load {os.fspath(path)!r}: its state does not describe a {kind} "
            f"({type(error).__name__}: {error})."
        ) from error


def _holds_complex(tree: Any) -> bool:
    """No model has complex numbers; numpy would drop their imaginary parts with a warning."""
    if isinstance(tree, dict):
        return any(map(_holds_complex, tree.values()))
    if isinstance(tree, list):
        return any(map(_holds_complex, tree))
    return isinstance(tree, np.ndarray | np.generic) and tree.dtype.kind == "c"


def _resolve(kind: str) -> Any:
    module, name = LOADABLE[kind].split(":")
    return getattr(import_module(module), name)
