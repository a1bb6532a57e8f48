"""Torch, imported when first needed: devices, seeds, and weights as numpy arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from s2mam._typing import AnyArray
from s2mam.exceptions import InvalidInputError, MissingDependencyError

__all__ = ["load_arrays", "load_torch", "read_device", "to_arrays", "torch_session"]


def load_torch() -> Any:
    """The torch module; a clear error where it is not installed."""
    try:
        import torch
    except ImportError as error:
        raise MissingDependencyError(
            "This baseline needs torch; install it with: pip install 's2mam[torch]'."
        ) from error
    return torch


def read_device(device: Any) -> Any:
    """The torch device of a name.

    Parameters
    ----------
    device : {"cpu", "cuda", "cuda:<number>", "auto"}
        "auto" is the first GPU if there is one.

    Examples
    --------
    >>> import torch
    >>> read_device("cpu")
    device(type='cpu')
    """
    torch = load_torch()
    name = str(device)
    kind, _, number = name.partition(":")
    if not isinstance(device, str) or kind not in ("cpu", "cuda", "auto"):
        raise InvalidInputError(f"device={device!r} must be 'cpu', 'cuda', 'cuda:<n>' or 'auto'.")
    if number and not (kind == "cuda" and number.isdecimal()):
        raise InvalidInputError(f"device={device!r} must be 'cpu', 'cuda', 'cuda:<n>' or 'auto'.")
    if kind == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    elif kind == "cuda" and torch.cuda.device_count() <= int(number or 0):
        raise InvalidInputError(
            f"device={device!r} is not there: torch sees {torch.cuda.device_count()} GPUs; use "
            "device='cpu' or 'auto'."
        )
    return torch.device(name)


@contextmanager
def torch_session(seed: int, device: Any) -> Iterator[None]:
    """Seeded draws and one thread; the generators and threads of the caller come back after.

    Networks for tables are too small for threads to help, sums over threads would change with
    their number, and the studies run fits side by side anyway.

    Parameters
    ----------
    seed : int
    device : torch.device
    """
    torch = load_torch()
    threads = torch.get_num_threads()
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)


def to_arrays(net: Any) -> dict[str, AnyArray]:
    """Weights and buffers of a network as numpy arrays, by name.

    Parameters
    ----------
    net : torch.nn.Module
    """
    return {name: value.detach().cpu().numpy().copy() for name, value in net.state_dict().items()}


def load_arrays(net: Any, arrays: Mapping[str, AnyArray]) -> None:
    """Put arrays from `to_arrays` into a network of the same shape; its precision stays.

    Parameters
    ----------
    net : torch.nn.Module
    arrays : dict of str to array
    """
    torch = load_torch()
    net.load_state_dict({name: torch.from_numpy(np.array(a)) for name, a in arrays.items()})
