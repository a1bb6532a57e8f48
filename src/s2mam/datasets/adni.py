"""ADNI tables, as the LONI archive gives them, joined into one row a person.

The paper predicts "Fluency" and "ADAS" from 326 variables of 795 persons and names no column. The
reading here: variables are the FreeSurfer measures of regions (columns ST<number><kind>, about that
many in one table of UCSF); ADAS is the 13-item total; Fluency is category fluency, animals.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from sklearn.utils import Bunch

from s2mam._typing import AnyArray, BoolArray, FloatArray, IntArray
from s2mam.datasets.folders import existing_folder, find_file, obtain
from s2mam.datasets.tables import Table, read_delimited
from s2mam.exceptions import InvalidInputError

_REGION = re.compile(r"ST\d+(CV|SV|TA|TS|SA|HS)$")
_PAPER_SCORES = {"Fluency": "CATANIMSC", "ADAS": "ADAS13"}
# Brain and body, no test score: the targets are test scores.
_MERGE_COLUMNS = (
    *("AGE", "PTGENDER", "PTEDUCAT", "APOE4", "FDG", "AV45", "ABETA", "TAU", "PTAU"),
    *("Ventricles", "Hippocampus", "WholeBrain", "Entorhinal", "Fusiform", "MidTemp", "ICV"),
)
# The first scan is taken at the screening visit, and each protocol has its own code for it.
_SAME_VISIT = {"bl": ("bl", "m00", "v03", "sc", "scmri", "v01", "v02")}
_NOT_MEASURED = -4.0
_NOT_ANSWERED = -1.0


@dataclass(frozen=True)
class _Visit:
    """One table at one visit: the row of each person."""

    path: Path
    table: Table
    rows: dict[int, int]

    def numbers(self, column: str, persons: Sequence[int]) -> FloatArray:
        values = _without_signs(self.table, column)
        picked = np.array([self.rows.get(person, -1) for person in persons])
        return np.where(picked >= 0, values[picked], np.nan)


def load_adni(
    folder: str | os.PathLike[str],
    target: str | Sequence[str] = ("Fluency", "ADAS"),
    *,
    features: Literal["freesurfer", "merge"] = "freesurfer",
    visit: str = "bl",
    freesurfer: str = "UCSFFSX_*.csv",
    max_missing: float = 0.2,
    impute: bool = True,
) -> Bunch:
    """ADNI from the tables in a folder, one row a person.

    Parameters
    ----------
    folder : path
        Folder with ``ADNIMERGE.csv``; for `features` "freesurfer" also the UCSF FreeSurfer table,
        for fluency ``NEUROBAT.csv``. A date after the name is fine.
    target : str or sequence of str, default=("Fluency", "ADAS")
        "Fluency" (column CATANIMSC of NEUROBAT), "ADAS" (ADAS13 of ADNIMERGE), a column of
        ADNIMERGE such as ADAS11 or MMSE, or CATVEGESC of NEUROBAT.
    features : {"freesurfer", "merge"}, default="freesurfer"
        Columns ST... of the FreeSurfer table (volumes, areas, thickness of regions), or the
        demographic, genetic, fluid and imaging columns of ADNIMERGE.
    visit : str, default="bl"
        Visit code; "bl" includes the screening visit, when the first scan is made.
    freesurfer : str, default="UCSFFSX_*.csv"
        Name or pattern of the FreeSurfer table. The default is that of ADNI 1, whose size fits the
        paper; UCSFFSX51_*.csv and UCSFFSX6_*.csv are made by other versions and not comparable.
    max_missing : float, default=0.2
        Leave out persons with at least this share of missing predictors, and columns without any
        value.
    impute : bool, default=True
        Fill other gaps with the mean of the column, as in the paper; they stay NaN otherwise.

    Returns
    -------
    Bunch
        X, y (one column a target, NaN where a person lacks it, when several are asked for),
        feature_names, target_names, person (RID), diagnosis (DX_bl).

    Examples
    --------
    >>> data = load_adni("ADNI", "MMSE", features="merge")  # doctest: +SKIP
    >>> X, y = data.X, data.y  # doctest: +SKIP
    """
    place = existing_folder(folder, "adni")
    merge = _read_visit(find_file(place, "adni", "ADNIMERGE*.csv"), visit)
    if features == "freesurfer":
        source = _read_visit(find_file(place, "adni", freesurfer), visit)
        columns = [name for name in source.table.names if _REGION.match(name)]
        _need(source, columns or ["ST..."])
    elif features == "merge":
        source, columns = merge, list(_MERGE_COLUMNS)
    else:
        raise InvalidInputError(f"features must be 'freesurfer' or 'merge', got {features!r}.")
    _need(source, columns)
    _need(merge, ["DX_bl"])
    targets = [target] if isinstance(target, str) else list(target)
    if not targets:
        raise InvalidInputError("target=[] names no score; name one or several, such as 'ADAS'.")
    persons = sorted(merge.rows.keys() & source.rows.keys())
    scores = np.column_stack([_scores(place, name, merge, visit, persons) for name in targets])
    X = np.column_stack([source.numbers(column, persons) for column in columns])
    if features == "freesurfer":
        X = np.where(np.isin(X, _NOT_MEASURED), np.nan, X)
    rows, some = _usable(X, scores, targets, max_missing)
    X = X[np.ix_(rows, some)]
    diagnosis = merge.table.texts("DX_bl")
    person = np.array(persons)[rows]
    return Bunch(
        X=np.where(np.isnan(X), np.nanmean(X, axis=0), X) if impute else X,
        y=scores[rows, 0] if isinstance(target, str) else scores[rows],
        feature_names=[columns[j] for j in some],
        target_names=targets,
        person=person,
        diagnosis=np.array([diagnosis[merge.rows[rid]] for rid in person]),
    )


def _usable(
    X: FloatArray, scores: FloatArray, targets: list[str], max_missing: float
) -> tuple[IntArray, IntArray]:
    """Persons with a score and few gaps, and columns with values for them."""
    some = np.flatnonzero((~np.isnan(X)).any(axis=0))
    gaps = np.isnan(X[:, some]).sum(axis=1)
    rows = np.flatnonzero((~np.isnan(scores)).any(axis=1) & (gaps < max_missing * len(some)))
    if not len(rows):
        raise InvalidInputError(
            f"No person has {' or '.join(targets)} and fewer than {max_missing:.0%} missing "
            "predictors; check the visit, or raise max_missing."
        )
    return rows, some[(~np.isnan(X[np.ix_(rows, some)])).any(axis=0)]


def _scores(place: Path, target: str, merge: _Visit, visit: str, persons: list[int]) -> FloatArray:
    column = _PAPER_SCORES.get(target, target)
    if not column.startswith("CAT"):
        _need(merge, [column])
        return merge.numbers(column, persons)
    tests = _read_visit(find_file(place, "adni", "NEUROBAT*.csv"), visit)
    _need(tests, [column])
    y = tests.numbers(column, persons)
    # ADNIMERGE leaves gaps empty; the tables of single tests write codes.
    return np.where(np.isin(y, (_NOT_MEASURED, _NOT_ANSWERED)), np.nan, y)


def _read_visit(path: Path, visit: str) -> _Visit:
    """Rows of one visit, the best visit code and then the first row for each person."""
    table = read_delimited(path.read_bytes())
    whole = _Visit(path, table, {})
    code = "VISCODE2" if "VISCODE2" in table.names else "VISCODE"
    _need(whole, ["RID", code])
    order = _SAME_VISIT.get(visit, (visit,))
    codes = table.texts(code)
    usable = np.isin(codes, order) & ~_failed(table)
    if not usable.any():
        raise InvalidInputError(
            f"{path.name} has no rows with {code} {visit!r}; it has {_some(codes)}."
        )
    ranks = sorted((order.index(codes[row]), int(row)) for row in np.flatnonzero(usable))
    people = table.numbers("RID")
    rows: dict[int, int] = {}
    for _, row in ranks:
        rows.setdefault(int(people[row]), row)
    return _Visit(path, table, rows)


def _failed(table: Table) -> BoolArray:
    """Scans whose quality check failed."""
    if "OVERALLQC" not in table.names:
        return np.zeros(len(table.columns[0]), dtype=bool)
    return np.isin(table.texts("OVERALLQC"), "Fail")


def _without_signs(table: Table, column: str) -> FloatArray:
    """Numbers; fluid measures beyond the range of the test are written >1700 or <8."""
    values = table.column(column)
    if values.dtype.kind != "U" or not np.any(
        np.char.find(values, "<") + np.char.find(values, ">") > -2
    ):
        return table.numbers(column)
    return Table([column], [np.char.lstrip(values, "<>")]).numbers(column)


def _need(visit: _Visit, columns: Iterable[str]) -> None:
    absent = [column for column in columns if column not in visit.table.names]
    if absent:
        raise InvalidInputError(
            f"{visit.path.name} has no column {', '.join(map(repr, absent))} {obtain('adni')}"
        )


def _some(codes: AnyArray) -> str:
    return ", ".join(repr(str(code)) for code in np.unique(codes)[:10])
