"""The studies by name, and smaller forms of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Final

from s2mam.exceptions import InvalidInputError
from s2mam.experiments.further import ablation, uci
from s2mam.experiments.paper import ON_ONE_SCALE, adni, agedb, celeba, coil20, figure1, table2
from s2mam.experiments.protocol import Protocol

__all__ = ["PROTOCOLS", "make_protocol", "shorten", "unscaled"]

# What --quick keeps: cheap, and enough to see every part of a table.
_QUICK_SYSTEMS: Final = ("null", "S2MAM (oracle mask)", "base f_z", "S2MAM")
PROTOCOLS: Final[dict[str, Callable[[], Protocol]]] = {
    "table2": table2,
    "adni": adni,
    "coil20": coil20,
    "celeba": celeba,
    "agedb": agedb,
    "uci": uci,
    "figure1": figure1,
    "ablation": ablation,
}


def make_protocol(name: str) -> Protocol:
    """A study of the paper by name.

    Parameters
    ----------
    name : str

    Examples
    --------
    >>> make_protocol("table2").repeats
    100
    """
    if name not in PROTOCOLS:
        raise InvalidInputError(f"There is no study {name!r}; there are {', '.join(PROTOCOLS)}.")
    return PROTOCOLS[name]()


def unscaled(protocol: Protocol) -> Protocol:
    """The same study with columns as they come, under a name of its own.

    Parameters
    ----------
    protocol : Protocol

    Examples
    --------
    >>> study = unscaled(make_protocol("table2"))
    >>> study.name, {setting.scale for setting in study.settings}
    ('table2_raw', {None})
    """
    return replace(
        protocol,
        name=f"{protocol.name}_raw",
        title=f"{protocol.title}, columns as they are",
        settings=tuple(replace(setting, scale=None) for setting in protocol.settings),
        systems=tuple(name for name in protocol.systems if name not in ON_ONE_SCALE),
        notes=tuple(note for note in protocol.notes if note not in ON_ONE_SCALE),
    )


def shorten(
    protocol: Protocol,
    *,
    quick: bool = False,
    repeats: int | None = None,
    systems: Sequence[str] | None = None,
    settings: str | None = None,
    time_limit: float | None = None,
) -> Protocol:
    """A smaller form of a protocol.

    Parameters
    ----------
    protocol : Protocol
    quick : bool
        Two repeats of a few cheap systems on the first two settings; what else is given wins.
    repeats : int, optional
    systems : sequence of str, optional
    settings : str, optional
        Only settings whose name matches this pattern, such as ``code_*``.
    time_limit : float, optional
        Most CPU seconds of a cell.

    Examples
    --------
    >>> short = shorten(make_protocol("table2"), quick=True)
    >>> short.repeats, short.systems, len(short.settings)
    (2, ('null', 'S2MAM (oracle mask)', 'base f_z', 'S2MAM'), 2)
    """
    kept = protocol.settings
    if settings is not None:
        kept = tuple(setting for setting in kept if fnmatchcase(setting.name, settings))
        if not kept:
            names = ", ".join(setting.name for setting in protocol.settings)
            raise InvalidInputError(f"No setting matches {settings!r}; there are: {names}.")
    elif quick:
        kept = kept[:2]
    chosen = protocol.systems if systems is None else tuple(systems)
    if quick and systems is None:
        chosen = _QUICK_SYSTEMS
    return replace(
        protocol,
        settings=kept,
        systems=chosen,
        repeats=repeats or (2 if quick else protocol.repeats),
        time_limit=protocol.time_limit if time_limit is None else time_limit,
    )
