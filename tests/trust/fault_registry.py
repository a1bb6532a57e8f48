"""Rows of the fault table, and the checks that hold them to their promise."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from s2mam.exceptions import ConvergenceWarning

#: Row of the table -> family ("ours", "baselines", "command line", "package") -> check.
ROWS: dict[str, dict[str, Callable[..., None]]] = {}


def fault(row: str, *families: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Enter a check under its row; checks of estimators take a name and a task."""

    def enter(check: Callable[..., None]) -> Callable[..., None]:
        for family in families:
            assert family not in ROWS.setdefault(row, {}), (row, family)
            ROWS[row][family] = check
        return check

    return enter


def hold(check: Callable[[str, str], None], models: Iterable[tuple[str, str]]) -> None:
    """Run a check on many estimators; all that fail are named in one error.

    A warning that the check does not expect is a failure, but for solvers that say how far they
    got.
    """
    broken: list[str] = []
    for name, task in models:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                check(name, task)
            except (Exception, pytest.fail.Exception) as error:
                broken.append(f"{name}, {task}: {type(error).__name__}: {str(error)[:300]}")
    assert not broken, "\n" + "\n".join(broken)


def refuses(kind: type[BaseException], *words: str, call: Callable[[], Any]) -> None:
    """The call raises an error of this very kind whose message has these words."""
    with pytest.raises(kind) as raised:
        call()
    missing = [word for word in words if word not in str(raised.value)]
    assert not missing, f"{missing} not in {raised.value}"
