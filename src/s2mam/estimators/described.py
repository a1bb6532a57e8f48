"""What a verbose fit says before it starts: its rows, and what "auto" stands for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from s2mam.bases import resolve_basis
from s2mam.estimators.rows import TrainingRows
from s2mam.graphs import automatic_kind

__all__ = ["describe_auto", "describe_base"]


def describe_auto(estimator: Any, rows: TrainingRows, meanings: Mapping[str, str]) -> str:
    """One line on the rows and on the parameters that are left to "auto".

    Parameters
    ----------
    estimator : estimator
    rows : TrainingRows
    meanings : mapping of str to str
        What "auto" stands for, by parameter.

    Returns
    -------
    str
    """
    n, p = rows.tables[0].shape
    names = ("robust" if reader.scale is True else str(reader.scale) for reader in rows.readers)
    automatic = [
        f"{name}: {meaning}"
        for name, meaning in meanings.items()
        # A parameter may be an array, which has no single answer to "==".
        if isinstance(value := getattr(estimator, name), str) and value == "auto"
    ]
    text = f"{rows.n_labeled} labelled of {n} rows, {p} columns; scale: {' and '.join(names)}"
    return f"{text}; auto: {', '.join(automatic)}" if automatic else text


def describe_base(estimator: Any, rows: TrainingRows, *, streamed: bool = False) -> str:
    """The line of the base model; streamed rows always have a graph of anchors."""
    n = rows.tables[0].shape[0]
    meanings = {
        "basis": resolve_basis("auto", n),
        "graph": "anchors" if streamed else automatic_kind(n),
        "bandwidth": "by the distances",
        "solver": "bcd",
        "sparsity": "by leave-one-out",
        "manifold": "by leave-one-out",
    }
    return describe_auto(estimator, rows, meanings)
