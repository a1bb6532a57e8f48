"""Model states with one thing wrong in each: valid files that describe no model."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np


def leaves(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all entries, containers included."""
    if path:
        yield path
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        if isinstance(value, dict | list) and value:
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key)


def changed(tree: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy of the tree with another value at a path."""
    copied = copy.deepcopy(tree)
    node = copied
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return copied


def without(tree: Any, path: tuple[Any, ...]) -> Any:
    """A copy of the tree without the entry at a path."""
    copied = copy.deepcopy(tree)
    node = copied
    for key in path[:-1]:
        node = node[key]
    del node[path[-1]]
    return copied


def value_at(tree: Any, path: tuple[Any, ...]) -> Any:
    """The entry at a path."""
    for key in path:
        tree = tree[key]
    return tree


def wrong_arrays(array: Any) -> Iterator[tuple[str, Any]]:
    """The array with a wrong shape, size or type."""
    yield "ravelled twice", np.concatenate([array.ravel(), array.ravel()])
    yield "empty", array[:0]
    yield "one more axis", array[None]
    yield "a number", 3.5
    yield "text", np.full(array.shape, "word")
    yield "objects", np.full(array.shape, None, dtype=object)
    yield "complex", np.full(array.shape, 1j)
    if array.shape and array.shape[0] > 1:
        yield "shorter", array[:-1]
    if array.ndim == 2:
        yield "turned", np.ascontiguousarray(array.T)
        yield "narrower", array[:, :-1]
    if array.dtype.kind in "iu":
        yield "huge numbers", np.full(array.shape, 2**40)
        yield "negative", -array - 1
    if array.dtype.kind == "f":
        yield "not finite", np.full(array.shape, np.nan)


def wrong_values(value: Any) -> Iterator[tuple[str, Any]]:
    """Something of another kind."""
    if isinstance(value, np.ndarray):
        yield from wrong_arrays(value)
        return
    for name, other in (("none", None), ("text", "word"), ("list", [1, "a"]), ("dict", {"a": 1})):
        if type(other) is not type(value) or repr(value) != repr(other):
            yield name, other
    yield "number", -7
    yield "an array", np.zeros((2, 3))


def wrong_states(state: Any, roots: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Every wrong state below some keys of the root, with a description."""
    for path in leaves(state):
        if path[0] not in roots:
            continue
        yield f"{path} missing", without(state, path)
        for name, value in wrong_values(value_at(state, path)):
            yield f"{path}: {name}", changed(state, path, value)
