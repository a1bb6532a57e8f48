"""Warnings of columns that give the target away, before a model is fitted to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2mam.cli.console import Console
from s2mam.cli.names import quoted, some
from s2mam.cli.target import Target

__all__ = ["warn_of_leaks"]


def warn_of_leaks(X: Any, labels: Target, categories: list[str], console: Console) -> None:
    """Say which columns repeat the target, or are filled only where it is known.

    Parameters
    ----------
    X : pandas.DataFrame
        The columns to learn from.
    labels : Target
    categories : list of str
        Columns of numbers that are categories.
    console : Console
    """
    import pandas as pd

    from s2mam.inspection.leaks import filled_with_target, repeats_target
    from s2mam.intake import TableReader

    values = TableReader(scale=None, categorical=categories or "auto").fit_transform(X)
    labeled = labels.y.notna().to_numpy()
    known = labels.y[labeled]
    y = pd.factorize(known)[0] if labels.classification else known.to_numpy(dtype=np.float64)
    same = [str(X.columns[j]) for j in repeats_target(values, labeled, y)]
    if same:
        _warn(console, same, f"the same as the target in all {labels.n_labeled} labelled rows")
    only = [str(X.columns[j]) for j in filled_with_target(values, labeled)]
    only = [name for name in only if name not in same]
    if only:
        _warn(console, only, "something where the target is known, and nowhere else")


def _warn(console: Console, names: list[str], what: str) -> None:
    one = len(names) == 1
    shown = some([repr(name) for name in names], 5)
    drop = " ".join(f"--drop {quoted(name)}" for name in names[:5])
    console.warn(
        f"{'column' if one else 'columns'} {shown} {'says' if one else 'say'} {what}; if "
        f"{'it is' if one else 'they are'} made from it, say {drop}."
    )
