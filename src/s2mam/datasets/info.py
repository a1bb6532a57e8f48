"""What data sets there are, and what is known about them, without loading any."""

from __future__ import annotations

from s2mam.datasets.registry import DatasetInfo, Task, lookup, registry
from s2mam.exceptions import InvalidInputError


def info(name: str) -> DatasetInfo:
    """Source, licence, task and shape of a data set.

    Parameters
    ----------
    name : str
        One of `list_datasets`.

    Returns
    -------
    DatasetInfo

    Examples
    --------
    >>> facts = info("ionosphere")
    >>> facts.task, facts.n_rows, facts.n_columns, facts.licence
    ('classification', 351, 34, 'CC BY 4.0 (as UCI states)')
    """
    return lookup(name)


def list_datasets(task: Task | None = None, *, paper: bool = False) -> list[str]:
    """Names of the known data sets.

    Parameters
    ----------
    task : {"classification", "regression"}, optional
        Only those with this task.
    paper : bool, default=False
        Only the 16 data sets of the paper.

    Returns
    -------
    list of str
        Sorted.

    Examples
    --------
    >>> "auto_mpg" in list_datasets("regression")
    True
    >>> len(list_datasets(paper=True))
    16
    """
    if task not in (None, "classification", "regression"):
        raise InvalidInputError(f"task must be 'classification' or 'regression', got {task!r}.")
    return sorted(
        name
        for name, facts in registry().items()
        if task in (None, facts.task) and (not paper or facts.paper is not None)
    )
