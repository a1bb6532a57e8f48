"""Names on the command line: lists with commas, patterns, and near names for typing errors."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from s2mam.exceptions import InvalidInputError

__all__ = ["choose", "near", "quoted", "shown", "some", "split_names"]

_WIDEST = 60
# A part of a name of this length is hardly there by chance.
_ENOUGH = 3


def split_names(given: Iterable[str] | None, known: Iterable[str] = ()) -> list[str]:
    """Names from options such as ``a,b``; a known name with a comma in it stays whole.

    Examples
    --------
    >>> split_names(["a, b", "c,d"], known=["c,d"])
    ['a', 'b', 'c,d']
    """
    whole = set(known)
    names: list[str] = []
    for text in given or ():
        parts = [text] if text in whole else [part.strip() for part in text.split(",")]
        names += [part for part in parts if part]
    return list(dict.fromkeys(names))


def choose(option: str, given: Iterable[str] | None, known: Sequence[str]) -> list[str]:
    """Columns that an option names, in the order of the table; ``*`` and ``?`` are patterns.

    Parameters
    ----------
    option : str
        For the message.
    given : iterable of str or None
        What the user wrote.
    known : sequence of str
        The columns.

    Examples
    --------
    >>> choose("--drop", ["x*"], ["x1", "y", "x2"])
    ['x1', 'x2']
    """
    chosen: set[str] = set()
    for name in split_names(given, known):
        matches = {name} if name in known else {one for one in known if fnmatchcase(one, name)}
        if not matches:
            raise InvalidInputError(
                f"{option} names {name!r}, but there is no such column; {near(name, known)}"
            )
        chosen |= matches
    return [name for name in known if name in chosen]


def near(name: str, known: Sequence[str], *, what: str = "there are") -> str:
    """Half a sentence with the names most like one that is not there.

    Examples
    --------
    >>> near("clas", ["class", "age"])
    "did you mean 'class'?"
    >>> near("z", ["class", "age"])
    'there are class, age.'
    >>> near("crimes", ["Violent crimes / pop.", "age"])
    "did you mean 'Violent crimes / pop.'?"
    """
    lower = {one.lower().strip(): one for one in reversed(known)}
    asked = name.lower().strip()
    found = get_close_matches(asked, lower, n=3, cutoff=0.6)
    if not found and len(asked) >= _ENOUGH:
        found = [one for one in reversed(lower) if asked in one][:3]
    if found:
        return f"did you mean {' or '.join(repr(lower[one]) for one in found)}?"
    return f"{what} {some(known)}."


def quoted(name: str) -> str:
    """A name as one writes it in a shell.

    Examples
    --------
    >>> quoted("age"), quoted("age (years)")
    ('age', "'age (years)'")
    """
    return shlex.quote(name)


def some(names: Sequence[str], most: int = 10) -> str:
    """The first names of a list.

    Examples
    --------
    >>> some(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    first = ", ".join(map(shown, names[:most]))
    return first if len(names) <= most else f"{first} and {len(names) - most} more"


def shown(name: object) -> str:
    """A name in a line for people: no line breaks, no control signs, not endless.

    Examples
    --------
    >>> shown("size\\n(m)"), shown("\\x1b[31mred"), len(shown("x" * 500))
    ('size (m)', '\\\\x1b[31mred', 60)
    """
    text = " ".join(str(name).split())
    text = "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"
