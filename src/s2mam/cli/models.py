"""Model files on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from s2mam.exceptions import InvalidInputError

__all__ = ["ModelFile", "is_model_file", "load_model"]

ModelFile = Annotated[
    Path, typer.Argument(exists=True, dir_okay=False, help="Model file of s2mam fit.")
]


def load_model(path: Path, table: Path | None = None) -> Any:
    """Load a model.

    Parameters
    ----------
    path : Path
    table : Path, optional
        The table that goes with it, to see whether the two were swapped.
    """
    from s2mam.persistence import load

    if table is not None and not is_model_file(path) and is_model_file(table):
        raise InvalidInputError(f"The model comes first: give {table} before {path}.")
    if path.is_file() and not is_model_file(path):
        raise InvalidInputError(f"{path} is not a model file; s2mam fit writes them.")
    return load(path)


def is_model_file(path: Path) -> bool:
    """Whether a file starts as a model does: a zip whose first member is the header."""
    if str(path) == "-" or not path.is_file():
        return False
    with path.open("rb") as stream:
        start = stream.read(64)
    return start.startswith(b"PK\x03\x04") and b"header.json" in start
