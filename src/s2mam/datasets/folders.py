"""Checks that the folder-shaped data sets share; messages say where the data comes from."""

from __future__ import annotations

import os
from pathlib import Path

from s2mam.datasets.registry import lookup
from s2mam.exceptions import InvalidInputError


def existing_folder(folder: str | os.PathLike[str], name: str, *inside: str) -> Path:
    """The folder, or the first of the folders `inside` that it has.

    Parameters
    ----------
    folder : path
        What the user gave.
    name : str
        The data set, for the message.
    *inside : str
        Names that the folder may have inside it in the official layout.

    Returns
    -------
    Path
    """
    path = Path(folder)
    if not path.is_dir():
        raise InvalidInputError(f"There is no folder {path} {obtain(name)}")
    return next((path / sub for sub in inside if (path / sub).is_dir()), path)


def find_file(folder: Path, name: str, *patterns: str) -> Path:
    """The file of a folder that fits the first pattern which any file fits.

    Names are compared without regard to case; of several, the last in the alphabet is taken, which
    is the newest where names end in a date.
    """
    files = sorted(entry for entry in folder.iterdir() if entry.is_file())
    for pattern in patterns:
        found = [file for file in files if Path(file.name.lower()).match(pattern.lower())]
        if found:
            return found[-1]
    wanted = " or ".join(repr(pattern) for pattern in patterns)
    raise InvalidInputError(f"There is no file {wanted} in {folder} {obtain(name)}")


def obtain(name: str) -> str:
    """Where a data set can be had, to end a sentence with."""
    facts = lookup(name)
    return f"(the data set {name!r} is to be had from {facts.origin}; {facts.terms})."
