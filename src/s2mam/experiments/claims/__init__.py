"""What the paper claims, as numbers: one file per table."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from s2mam.exceptions import InvalidInputError

__all__ = ["Claim", "read_claims"]


@dataclass(frozen=True)
class Claim:
    """A figure of the paper.

    Attributes
    ----------
    mean, sd : float
    minutes : float or None
        Training time, where the paper gives it.
    """

    mean: float
    sd: float
    minutes: float | None


@cache
def read_claims(name: str) -> dict[tuple[str, str, str], Claim]:
    """Claims of a table by setting, system and part ("test" or "unlabeled").

    Parameters
    ----------
    name : {"table2", "adni", "images", "agedb", ""}
        The empty name has no claims.

    Examples
    --------
    >>> read_claims("table2")["pu0_pn0", "S2MAM", "test"]
    Claim(mean=90.309, sd=3.409, minutes=None)
    """
    if not name:
        return {}
    path = files("s2mam.experiments.claims").joinpath(f"{name}.csv")
    if not path.is_file():
        raise InvalidInputError(f"There are no claims called {name!r}.")
    claims = {}
    for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
        minutes = float(row["minutes"]) if row["minutes"] else None
        key = (row["setting"], row["system"], row["part"])
        claims[key] = Claim(float(row["mean"]), float(row["sd"]), minutes)
    return claims
