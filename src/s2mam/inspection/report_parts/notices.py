"""What a reader should know about the data before trusting the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from s2mam._typing import BoolArray, FloatArray, IntArray
from s2mam.inspection.leaks import counts_rows, filled_with_target, repeats_target
from s2mam.inspection.report_parts.facts import TableFacts
from s2mam.inspection.report_parts.markup import (
    Markup,
    count,
    join,
    name,
    names,
    number,
    percent,
)

__all__ = ["Notice", "data_notices"]

_FEW_LABELS = 30
_FEW_PER_CLASS = 5
_MOSTLY_MISSING = 0.5
_IMBALANCE = 5.0
_SAME = 0.95
_OUTSIDE = 0.2


@dataclass(frozen=True)
class Notice:
    """Something to know.

    Attributes
    ----------
    title : str
        In a few words.
    text : Markup
        One or two sentences, with names.
    serious : bool
        Whether it may change what the reader concludes.
    """

    title: str
    text: Markup
    serious: bool = True


def data_notices(facts: TableFacts, support: BoolArray) -> list[Notice]:
    """Look for what often goes wrong; serious ones first.

    Parameters
    ----------
    facts : TableFacts
        The table and the target.
    support : ndarray of bool, shape (p,)
        Columns that the model kept.

    Returns
    -------
    list of Notice
    """
    checks = (
        *(_leaks, _labels, _classes, _constant, _missing),
        *(_identifiers, _copies, _twins, _reach),
    )
    found = [notice for check in checks for notice in check(facts, support)]
    return sorted(found, key=lambda notice: not notice.serious)


def _leaks(facts: TableFacts, support: BoolArray) -> list[Notice]:
    found = []
    same = repeats_target(facts.values, facts.labeled, facts.target.y)
    if same:
        lead = f"In all {facts.target.n_labeled} labelled rows these say the same as the target: "
        text = [lead, names([facts.names[j] for j in same]), ". "]
        text.append("If they are made from it, leave them out: the scores mean nothing with them.")
        found.append(Notice("Columns that repeat the target", join(text)))
    only = [j for j in filled_with_target(facts.values, facts.labeled) if j not in same]
    if only:
        text = ["Filled where the target is known and nowhere else: "]
        text += [names([facts.names[j] for j in only]), ". New rows will not have them either."]
        found.append(Notice("Columns known only with the target", join(text)))
    return found


def _labels(facts: TableFacts, support: BoolArray) -> list[Notice]:
    found = []
    n = facts.target.n_labeled
    if n < _FEW_LABELS:
        text = "Junk can pass for signal by chance, and the scores are rough."
        found.append(Notice("Few labels", join([f"{count(n, 'labelled row')}. ", text])))
    if len(facts.columns) > n:
        text = f"{len(facts.columns)} columns, {count(n, 'label')}; the selection leans on priors."
        found.append(Notice("More columns than labels", Markup(text), serious=False))
    if facts.target.classes is None and np.ptp(facts.target.y) == 0.0:
        text = f"All labels equal {number(facts.target.y[0])}; there is nothing to explain."
        found.append(Notice("The target is constant", Markup(text)))
    return found


def _classes(facts: TableFacts, support: BoolArray) -> list[Notice]:
    counts = facts.class_counts()
    if not counts:
        return []
    if len(counts) == 1:
        text = join(["All labels are ", name(counts[0][0]), "; there is nothing to tell apart."])
        return [Notice("One class only", text)]
    found = []
    few = [label for label, n in counts if n < _FEW_PER_CLASS]
    if few:
        text = join([f"Fewer than {_FEW_PER_CLASS} labels of class ", names(few), "."])
        found.append(Notice("Classes with few labels", text))
    most, least = max(counts, key=lambda c: c[1]), min(counts, key=lambda c: c[1])
    if most[1] >= _IMBALANCE * least[1]:
        parts = [name(most[0]), f" has {most[1]} labels and ", name(least[0]), f" {least[1]}"]
        text = join([*parts, "; read the balanced accuracy, not the accuracy."])
        found.append(Notice("Unequal classes", text))
    return found


def _constant(facts: TableFacts, support: BoolArray) -> list[Notice]:
    flat = [column.name for column in facts.columns if column.kind == "constant"]
    if not flat:
        return []
    return [Notice("Constant columns", join(["Never used: ", names(flat), "."]), serious=False)]


def _missing(facts: TableFacts, support: BoolArray) -> list[Notice]:
    gaps = [column for column in facts.columns if column.n_missing]
    if not gaps:
        return []
    share = facts.missing_share
    cells = f"{percent(share)} of all cells, " if share >= 0.005 else ""
    text = (
        f"{cells}in {count(len(gaps), 'column')}. A missing value makes its column add a constant."
    )
    found = [Notice("Missing values", Markup(text), serious=False)]
    mostly = [c.name for c in gaps if c.n_missing >= _MOSTLY_MISSING * facts.n_rows]
    if mostly:
        text = join(["Half of the values or more are missing in ", names(mostly), "."])
        found.append(Notice("Mostly missing", text))
    return found


def _identifiers(facts: TableFacts, support: BoolArray) -> list[Notice]:
    unique = [
        column.name
        for column in facts.columns
        if column.kind == "categorical" and column.n_distinct > max(20, 0.5 * facts.n_rows)
    ]
    found = []
    if unique:
        text = join(
            ["Nearly a category per row, like an identifier: ", names(unique), ". Leave it out."]
        )
        found.append(Notice("Categories that hardly repeat", text))
    counting = [j for j in counts_rows(facts.values) if facts.columns[j].kind == "numeric"]
    if counting:
        text = join(
            ["Goes from row to row by the same step: ", names([facts.names[j] for j in counting])]
        )
        text = join([text, ". If it only numbers the rows, leave it out."])
        found.append(Notice("Row numbers", text, serious=bool(support[counting].any())))
    return found


def _copies(facts: TableFacts, support: BoolArray) -> list[Notice]:
    found = []
    n_copies = facts.n_rows - int(facts.row_groups.max()) - 1
    if n_copies:
        text = f"{n_copies} of {facts.n_rows} rows equal an earlier row in all columns."
        found.append(Notice("Duplicate rows", Markup(text), serious=n_copies > facts.n_rows / 10))
    groups = facts.row_groups[facts.labeled]
    pairs = {(group, value) for group, value in zip(groups, facts.target.y, strict=True)}
    twice = len(groups) - len(set(groups.tolist()))
    if twice:
        text = f"{twice} labelled rows equal another one; the scores on held-out rows flatter."
        found.append(Notice("Duplicate labelled rows", Markup(text)))
    torn = len(pairs) - len(set(groups.tolist()))
    if torn:
        text = f"{torn} labels contradict another one on an equal row."
        found.append(Notice("Contradicting labels", Markup(text)))
    return found


def _twins(facts: TableFacts, support: BoolArray) -> list[Notice]:
    """Columns that say nearly the same as one that was kept."""
    numeric = np.array([column.kind == "numeric" for column in facts.columns])
    kept, left = np.flatnonzero(support & numeric), np.flatnonzero(~support & numeric)
    if not len(kept) or facts.n_rows < 3:
        return []
    found = []
    outside = _like_pairs(facts, kept, left)
    if outside:
        text = join(["Not kept, but not proved useless: ", outside, "."])
        found.append(Notice("Columns that say the same", text))
    inside = _like_pairs(facts, kept, kept)
    if inside:
        text = join(["How the effect is shared is arbitrary: ", inside, "."])
        found.append(Notice("Kept columns that say the same", text))
    return found


def _like_pairs(facts: TableFacts, a: IntArray, b: IntArray, most: int = 5) -> Markup | None:
    """Pairs of columns that say nearly the same, in words."""
    if not len(b):
        return None
    close = np.argwhere(np.abs(_correlation(facts.values[:, a], facts.values[:, b])) > _SAME)
    pairs = [(a[i], b[j]) for i, j in close if not (a is b and i >= j)]
    shown = [
        join([names([facts.names[other]]), " (like ", names([facts.names[one]]), ")"])
        for one, other in pairs[:most]
    ]
    if len(pairs) > most:
        shown.append(Markup(f"{len(pairs) - most} more pairs"))
    return join(shown, ", ") if shown else None


def _correlation(a: FloatArray, b: FloatArray) -> FloatArray:
    """Pearson's, missing values at the mean."""
    standard = []
    for block in (a, b):
        centered = np.nan_to_num(block - np.nanmean(block, axis=0))
        scale = np.sqrt((centered**2).sum(axis=0))
        standard.append(centered / np.where(scale > 0.0, scale, 1.0))
    product: FloatArray = standard[0].T @ standard[1]
    return product


def _reach(facts: TableFacts, support: BoolArray) -> list[Notice]:
    """Kept columns whose labelled rows do not cover the unlabelled ones."""
    if facts.labeled.all():
        return []
    outside: list[tuple[Any, float]] = []
    for j in np.flatnonzero(support):
        if facts.columns[j].kind != "numeric":
            continue
        with_label = facts.values[facts.labeled, j]
        without = facts.values[~facts.labeled, j]
        with_label, without = with_label[~np.isnan(with_label)], without[~np.isnan(without)]
        if len(with_label) and len(without):
            out = np.mean((without < with_label.min()) | (without > with_label.max()))
            if out > _OUTSIDE:
                outside.append((facts.names[j], float(out)))
    if not outside:
        return []
    listed = join([join([names([c]), f" ({percent(share)})"]) for c, share in outside[:5]], ", ")
    lead = "Unlabelled rows lie outside the range of the labelled ones in "
    text = join([lead, listed, "; no label supports the curve out there."])
    return [Notice("Labels do not cover the rows", text)]
