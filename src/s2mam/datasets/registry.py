"""What is known about each data set: shape, source, terms, checksum, where to fetch it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias

from s2mam.datasets.routes import all_routes
from s2mam.exceptions import InvalidInputError

Task: TypeAlias = Literal["classification", "regression"]
Kind: TypeAlias = Literal["table", "scikit-learn", "generated", "folder"]


@dataclass(frozen=True)
class DatasetInfo:
    """Facts about one data set.

    Parameters
    ----------
    name : str
        Name for `load`.
    task : {"classification", "regression"}
        What the target asks for.
    kind : {"table", "scikit-learn", "generated", "folder"}
        Where `load` finds it: a file or the internet, scikit-learn, a generator of this package, a
        folder in its owner's layout.
    n_rows, n_columns : int
        Shape of the table.
    target : str
        Name of the target.
    n_classes : int or None
        Number of classes.
    source : str
        Who made the data.
    licence : str
        Its licence, in a word.
    terms : str
        What may be done with it.
    note : str
        What a user should know before using it.
    origin : str
        Official place, or the public copy the checksum was computed from, after conversion.
    uci_id, openml_id : int or None
        Identifiers in the two collections.
    openml_name : str or None
        Name at OpenML, compared when fetched.
    sha256 : str or None
        Checksum of ``data.npz``.
    sensitive : tuple of str
        Columns left out unless asked for.
    informative : tuple of str
        Columns known to matter; empty when not known.
    paper : int or None
        Number among the 16 data sets of the paper.

    Examples
    --------
    >>> from s2mam.datasets import info
    >>> facts = info("ionosphere")
    >>> facts.task, facts.n_rows, facts.n_columns, facts.n_classes
    ('classification', 351, 34, 2)
    """

    name: str
    task: Task
    kind: Kind
    n_rows: int
    n_columns: int
    target: str
    n_classes: int | None
    source: str
    licence: str
    terms: str
    note: str
    origin: str
    uci_id: int | None
    openml_id: int | None
    openml_name: str | None
    sha256: str | None
    sensitive: tuple[str, ...]
    informative: tuple[str, ...]
    paper: int | None

    @property
    def unverified(self) -> tuple[str, ...]:
        """Sites whose file has no known checksum; its shape is all that is checked there.

        Examples
        --------
        >>> from s2mam.datasets import info
        >>> info("wine_quality").unverified, info("boston").unverified
        (('uci',), ())
        """
        routes = all_routes().get(self.name, ())
        return tuple(route.site for route in routes if route.checksum is None)


@cache
def registry() -> dict[str, DatasetInfo]:
    """All known data sets by name.

    Examples
    --------
    >>> registry()["boston"].n_rows
    506
    """
    text = files("s2mam.datasets").joinpath("registry.json").read_text(encoding="utf-8")
    entries = json.loads(text)
    for entry in entries.values():
        for field in ("sensitive", "informative"):
            entry[field] = tuple(entry[field])
    return {name: DatasetInfo(name=name, **entry) for name, entry in entries.items()}


def lookup(name: str) -> DatasetInfo:
    """Facts about one data set; an unknown name is an error that lists the known ones."""
    known = registry()
    if not isinstance(name, str) or name not in known:
        names = ", ".join(sorted(known))
        raise InvalidInputError(f"Unknown data set {name!r}; known are: {names}.")
    return known[name]
