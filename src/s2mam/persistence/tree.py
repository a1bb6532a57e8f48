"""State trees as json plus a list of arrays, and back.

Everything that json cannot say is a dict with one key that starts with ``$``:
``$array`` (number of the member), ``$objects`` (shape and items of an object array), ``$float``
(the bits of nan and the infinities), ``$scalar`` (dtype and bytes of a numpy scalar) and
``$dict`` (pairs of a dict with a key that starts with ``$`` itself).
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from s2mam._typing import AnyArray
from s2mam.exceptions import InvalidInputError
from s2mam.persistence.limits import MAX_ARRAYS, MAX_DEPTH, MAX_INT_BITS, Refusal
from s2mam.persistence.npy import SCALAR_DTYPE, STORABLE_DTYPE, shape_is_possible

__all__ = ["copy_tree", "decode_tree", "encode_tree"]

_HEX: Final = re.compile(r"(?:[0-9a-f]{2})+")


def encode_tree(tree: Any) -> tuple[Any, list[AnyArray]]:
    """Split a state into a json tree and its arrays.

    Parameters
    ----------
    tree : nested dict, list and tuple
        Leaves are str, int, float, bool, None, numpy scalars or numpy arrays.

    Returns
    -------
    node : json tree
    arrays : list of ndarray
        Not copied.

    Examples
    --------
    >>> encode_tree({"a": [1.5, float("inf")], "b": np.zeros(2)})
    ({'a': [1.5, {'$float': '7ff0000000000000'}], 'b': {'$array': 0}}, [array([0., 0.])])
    """
    encoder = _Encoder()
    node = encoder.encode(tree, "state", 0)
    return node, encoder.arrays


def decode_tree(node: Any, arrays: Sequence[AnyArray]) -> Any:
    """Join what `encode_tree` split; every array has to be used exactly once."""
    decoder = _Decoder(arrays)
    tree = decoder.decode(node, 0)
    if decoder.used != set(range(len(arrays))):
        raise Refusal("an array belongs to no entry of the state")
    return tree


def copy_tree(tree: Any) -> Any:
    """Return the tree that a file would give back, without the file."""
    node, arrays = encode_tree(tree)
    return decode_tree(node, [np.array(array, order="K") for array in arrays])


class _Encoder:
    def __init__(self) -> None:
        self.arrays: list[AnyArray] = []

    def encode(self, node: Any, where: str, depth: int) -> Any:
        if isinstance(node, np.ndarray):
            return self._array(node, where)
        if not isinstance(node, dict | list | tuple):
            return _encode_leaf(node, where)
        if depth >= MAX_DEPTH:
            raise InvalidInputError(
                f"The state is nested more than {MAX_DEPTH} levels deep; flatten it."
            )
        if isinstance(node, dict):
            return self._dict(node, where, depth)
        return [self.encode(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(node)]

    def _dict(self, node: dict[Any, Any], where: str, depth: int) -> Any:
        for key in node:
            if type(key) is not str:
                raise InvalidInputError(f"{where} has the key {key!r}; keys have to be str.")
        pairs = [(k, self.encode(v, f"{where}[{k!r}]", depth + 1)) for k, v in node.items()]
        if any(key.startswith("$") for key in node):
            return {"$dict": [list(pair) for pair in pairs]}
        return dict(pairs)

    def _array(self, array: AnyArray, where: str) -> Any:
        if type(array) not in (np.ndarray, np.memmap):
            raise _cannot_store(where, f"a {type(array).__name__}")
        if not shape_is_possible(array.shape, array.itemsize):
            raise _cannot_store(where, f"an array of shape {array.shape}")
        if array.dtype == object:
            items = [_encode_leaf(item, where) for item in array.ravel().tolist()]
            return {"$objects": [list(array.shape), items]}
        if not STORABLE_DTYPE.fullmatch(array.dtype.str):
            raise _cannot_store(where, f"an array of dtype {array.dtype}")
        if len(self.arrays) >= MAX_ARRAYS:
            raise InvalidInputError(
                f"The state holds more than {MAX_ARRAYS} arrays; join some of them."
            )
        self.arrays.append(array)
        return {"$array": len(self.arrays) - 1}


def _encode_leaf(leaf: Any, where: str) -> Any:
    kind = type(leaf)
    if leaf is None or kind is bool or kind is str:
        return leaf
    if kind is float:
        return leaf if math.isfinite(leaf) else {"$float": struct.pack(">d", leaf).hex()}
    if kind is int:
        if leaf.bit_length() > MAX_INT_BITS:
            raise _cannot_store(where, f"an integer of more than {MAX_INT_BITS} bits")
        return leaf
    if kind is np.str_:
        return str(leaf)
    if isinstance(leaf, np.generic) and SCALAR_DTYPE.fullmatch(leaf.dtype.str):
        return {"$scalar": [leaf.dtype.str, leaf.tobytes().hex()]}
    raise _cannot_store(where, f"a {kind.__name__}")


def _cannot_store(where: str, what: str) -> InvalidInputError:
    return InvalidInputError(
        f"{where} holds {what}, which a model file cannot store; "
        "use str, int, float, bool, None, or arrays of numbers, booleans or text."
    )


class _Decoder:
    def __init__(self, arrays: Sequence[AnyArray]) -> None:
        self.arrays = arrays
        self.used: set[int] = set()

    def decode(self, node: Any, depth: int) -> Any:
        if not isinstance(node, dict | list):
            return _check_leaf(node)
        if depth > MAX_DEPTH:
            raise Refusal("its state is nested too deeply")
        if isinstance(node, list):
            return [self.decode(item, depth + 1) for item in node]
        tag = _tag(node)
        if tag == "$array":
            return self._array(node[tag])
        if tag not in (None, "$dict"):
            return _decode_value(tag, node[tag])
        pairs = node.items() if tag is None else _pairs(node[tag])
        return {key: self.decode(value, depth + 1) for key, value in pairs}

    def _array(self, number: Any) -> AnyArray:
        if type(number) is not int or not 0 <= number < len(self.arrays) or number in self.used:
            raise Refusal("its state names an array that is not there")
        self.used.add(number)
        return self.arrays[number]


def _tag(node: dict[str, Any]) -> str | None:
    if not any(key.startswith("$") for key in node):
        return None
    if len(node) != 1:
        raise Refusal("its state has a malformed entry")
    return next(iter(node))


def _pairs(pairs: Any) -> list[tuple[str, Any]]:
    pairs = pairs if isinstance(pairs, list) else [None]
    for pair in pairs:
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)):
            raise Refusal("its state has a malformed dict")
    if len({key for key, _ in pairs}) != len(pairs):
        raise Refusal("its state repeats a key")
    return [(key, value) for key, value in pairs]


def _check_leaf(leaf: Any) -> Any:
    """Refuse numbers such as 1e999, which json reads as infinite."""
    if isinstance(leaf, float) and not math.isfinite(leaf):
        raise Refusal("its state has a number that is too large")
    return leaf


def _decode_value(tag: str | None, value: Any) -> Any:
    if tag == "$float":
        return float(_scalar(">f8", value))
    if tag not in ("$scalar", "$objects") or not isinstance(value, list) or len(value) != 2:
        raise Refusal("its state has a value of an unknown type")
    return _scalar(*value) if tag == "$scalar" else _objects(*value)


def _scalar(dtype: Any, digits: Any) -> Any:
    if not (isinstance(dtype, str) and SCALAR_DTYPE.fullmatch(dtype)):
        raise Refusal("its state has a scalar of a dtype that is not allowed")
    kind = np.dtype(dtype)
    if not (
        isinstance(digits, str) and _HEX.fullmatch(digits) and len(digits) == 2 * kind.itemsize
    ):
        raise Refusal("its state has a malformed scalar")
    if kind.kind == "b" and digits not in ("00", "01"):
        raise Refusal("its state has a boolean that is neither true nor false")
    return np.frombuffer(bytes.fromhex(digits), dtype=kind)[0]


def _objects(shape: Any, items: Any) -> AnyArray:
    shape_ok = isinstance(shape, list) and all(type(size) is int for size in shape)
    if not shape_ok or not isinstance(items, list):
        raise Refusal("its state has a malformed object array")
    if not shape_is_possible(shape, np.dtype(object).itemsize) or math.prod(shape) != len(items):
        raise Refusal("its state has an object array of the wrong shape")
    array: AnyArray = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = _decode_item(item)
    return array.reshape(shape)


def _decode_item(item: Any) -> Any:
    if not isinstance(item, dict | list):
        return _check_leaf(item)
    if isinstance(item, dict):
        tag = _tag(item)
        if tag is not None and tag != "$objects":
            return _decode_value(tag, item[tag])
    raise Refusal("its state has an object array of something else than plain values")
