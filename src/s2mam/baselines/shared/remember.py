"""Results of functions of tables, kept for the next fit: tuning fits the same rows many times."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from functools import wraps
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakSet

import numpy as np

__all__ = ["forget_all", "remember"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
# Numbers in a table, or in a result, above which nothing is kept: 2 MB each.
_MOST_NUMBERS = 2**18
# Kinds of arguments that say all about themselves; a generator, for one, does not.
_PLAIN = (str, int, float, bool)
# Functions that keep results, for those who want the memory back.
_FUNCTIONS: WeakSet[Any] = WeakSet()


def remember(size: int) -> Callable[[_Function], _Function]:
    """Keep the last `size` results of a function of small tables and plain values.

    Tables count by their content. Calls with large tables, or with arguments that change (a random
    generator) or vary (None as a seed), go to the function each time, and large results are not
    kept. A result that is an array is handed out read-only, so that no caller can change what the
    next one gets. ``cache_clear`` of the function forgets all, as those of :mod:`functools` do.

    Parameters
    ----------
    size : int

    Examples
    --------
    >>> import numpy as np
    >>> calls = []
    >>> @remember(2)
    ... def total(table):
    ...     calls.append(len(table))
    ...     return table.sum(axis=0)
    >>> total(np.ones((3, 1))), total(np.ones((3, 1))), calls
    (array([3.]), array([3.]), [3])
    """

    def wrap(function: _Function) -> _Function:
        kept: OrderedDict[Hashable, Any] = OrderedDict()
        lock = Lock()

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            key = _key(args, kwargs)
            if key is None:
                return function(*args, **kwargs)
            with lock:
                if key in kept:
                    kept.move_to_end(key)
                    return kept[key]
            result = function(*args, **kwargs)
            if _numbers(result) > _MOST_NUMBERS:
                return result
            if isinstance(result, np.ndarray):
                result.flags.writeable = False
            with lock:
                kept[key] = result
                while len(kept) > size:
                    kept.popitem(last=False)
            return result

        def clear() -> None:
            with lock:
                kept.clear()

        call.cache_clear = clear  # type: ignore[attr-defined]
        _FUNCTIONS.add(call)
        return call  # type: ignore[return-value]

    return wrap


def forget_all() -> None:
    """Forget the results of all functions.

    Examples
    --------
    >>> forget_all()
    """
    for function in list(_FUNCTIONS):
        function.cache_clear()


def _numbers(result: Any) -> int:
    """Numbers in a result that is an array, or in the arrays that it has as fields."""
    if isinstance(result, np.ndarray):
        return result.size
    if not is_dataclass(result):
        return 0
    parts = (getattr(result, field.name) for field in fields(result))
    return sum(part.size for part in parts if isinstance(part, np.ndarray))


def _key(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Hashable | None:
    """What tells calls apart; None where that cannot be said, or would take too long."""
    parts = [*enumerate(args), *sorted(kwargs.items())]
    key: list[Hashable] = []
    for place, value in parts:
        if isinstance(value, np.ndarray) and value.dtype == np.float64:
            if value.size > _MOST_NUMBERS:
                return None
            content = hashlib.blake2b(value.tobytes(), digest_size=16).digest()
            key.append((place, value.shape, content))
        elif isinstance(value, _PLAIN):
            key.append((place, type(value), value))
        else:
            return None
    return tuple(key)
