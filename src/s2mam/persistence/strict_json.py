"""Json without the extensions of Python's module: no NaN, no repeated keys, no surprises."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from s2mam.persistence.limits import Refusal

__all__ = ["dump_json", "load_json"]


def dump_json(tree: Any) -> bytes:
    """Encode to ASCII with one spelling per tree, so that equal trees give equal bytes."""
    return json.dumps(tree, allow_nan=False, separators=(",", ":")).encode("ascii")


def load_json(raw: bytes, member: str) -> Any:
    """Decode what `dump_json` wrote; everything odd is a `Refusal` that names the member."""
    try:
        return json.loads(
            raw.decode("ascii"),
            object_pairs_hook=_unique_keys,
            parse_constant=_refuse_constant,
        )
    except RecursionError as error:
        raise Refusal(f"{member} is nested too deeply") from error
    except ValueError as error:
        raise Refusal(f"{member} is not valid json") from error


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("repeated key")
    return result


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not json")
