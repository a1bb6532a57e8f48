"""The list of all baselines, by the name the paper prints."""

from __future__ import annotations

from importlib import import_module

from s2mam.baselines.base import Baseline, BaselineClassifier
from s2mam.exceptions import InvalidInputError

__all__ = ["all_baselines"]

# Modules with baselines; each lists its public classes in __all__.
_MODULES = (
    "lasso",
    "l1_svm",
    "spam",
    "csam",
    "tspam",
    "lap_rls",
    "lap_svm",
    "fme",
    "rlsr",
    "awssl",
    "rgl",
    "sale",
    "rer",
    "culp",
    "coreg",
    "pbcs",
    "borsos",
    "dan",
    "np_match",
    "flexmatch",
    "semireward",
    "vae",
    "m2",
    "ssdkl",
    "plf",
)


def all_baselines(task: str | None = None) -> dict[str, type[Baseline]]:
    """Classes of the systems the paper compares with.

    Parameters
    ----------
    task : {"regression", "classification"}, optional
        Only the classes for this task, under the plain name of the paper; otherwise all, and the
        name of a system that has a class per task ends in the task.

    Returns
    -------
    dict of str to class
        Each class says its `task`, whether it is `inductive` and `selects_columns`, and which
        optional packages a fit `requires`; the classes are listed without these, too.

    Examples
    --------
    >>> sorted(all_baselines("regression"))[:4]
    ['AVAE', 'AWSSL', 'Borsos', 'COREG']
    >>> all_baselines("classification")["LapSVM"].inductive
    True
    """
    if task not in (None, "regression", "classification"):
        raise InvalidInputError(
            f"task must be 'regression', 'classification' or None, not {task!r}."
        )
    found = {kind: _of_task(kind) for kind in ("regression", "classification")}
    if task is not None:
        return found[task]
    both = found["regression"].keys() & found["classification"].keys()
    return {
        f"{name} ({kind})" if name in both else name: cls
        for kind, classes in found.items()
        for name, cls in classes.items()
    }


def _of_task(task: str) -> dict[str, type[Baseline]]:
    classes: dict[str, type[Baseline]] = {}
    for module in _MODULES:
        loaded = import_module(f"s2mam.baselines.{module}")
        for name in loaded.__all__:
            cls = getattr(loaded, name)
            if issubclass(cls, BaselineClassifier) == (task == "classification"):
                classes[cls.paper_name] = cls
    return classes
