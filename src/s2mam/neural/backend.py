"""Torch for the estimators: imported when first needed, one session per fit."""

from __future__ import annotations

from typing import Any

from s2mam.exceptions import MissingDependencyError
from s2mam.training.backend import load_torch, read_device

__all__ = ["device_for", "require_torch"]

# Below this many numbers a hidden layer, a processor is as fast as a GPU and repeats its bits.
_WORTH_A_GPU = 2**22


def require_torch() -> Any:
    """The torch module; the error names the setting that needs it and the way out."""
    try:
        return load_torch()
    except MissingDependencyError as error:
        raise MissingDependencyError(
            "basis='neural' needs torch for the fit (not for predictions); install it with: "
            "pip install 's2mam[torch]'."
        ) from error


def device_for(size: int) -> Any:
    """The device for hidden layers of so many numbers: a GPU where there is one and it pays.

    Parameters
    ----------
    size : int
    """
    return read_device("auto" if size > _WORTH_A_GPU else "cpu")
