"""Run a protocol cell by cell, in parallel, and go on where an earlier run was stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, closing

from joblib import Parallel, delayed

from s2mam.exceptions import InvalidInputError, MissingDependencyError
from s2mam.experiments.cells import Record, Work, plan, run_cell
from s2mam.experiments.code_mark import code_mark
from s2mam.experiments.problem import check_sources
from s2mam.experiments.progress import Advance, silent
from s2mam.experiments.protocol import Protocol
from s2mam.experiments.store import CellStore
from s2mam.experiments.systems import find_system
from s2mam.experiments.tables import check_folder
from s2mam.intake.notices import warn_user
from s2mam.training.backend import read_device

__all__ = ["run_protocol"]


def run_protocol(
    protocol: Protocol,
    store: CellStore,
    *,
    n_jobs: int | None = None,
    data_home: str | os.PathLike[str] | None = None,
    retry_failed: bool = False,
    rerun: Collection[str] = (),
    device: str | None = None,
    progress: Callable[[int, str], AbstractContextManager[Advance]] = silent,
) -> list[Record]:
    """Compute what is missing in the store and return all records of the protocol.

    Every finished cell is written at once, by this process; the workers write nothing, so any
    joblib backend that can give back results one by one will do, also on other machines::

        with joblib.parallel_config(backend="dask"):
            run_protocol(protocol, store, n_jobs=-1)

    Parameters
    ----------
    protocol : Protocol
    store : CellStore
        Cells found in it are not computed again.
    n_jobs : int or None
        Cells computed side by side; the outcome does not depend on it.
    data_home : path, optional
        Folder of data sets.
    retry_failed : bool
        Compute cells again whose system failed.
    rerun : collection of str
        Systems whose cells are computed again where another state of the code computed them; the
        new cell takes the place of the old one. A run that was stopped goes on where it was.
    device : str, optional
        Where networks are trained, such as "cuda"; the record of such a cell says so, since random
        numbers and so results differ between devices.
    progress : callable
        `s2mam.experiments.progress.watch`, for example.

    Returns
    -------
    list of dict
        In the order of the protocol. A failed cell holds "error". Cells of a system that needs a
        package that is not installed are left out, with a warning, unless the store has them.

    Examples
    --------
    >>> import tempfile
    >>> from s2mam.experiments.protocol import Labels, Rows, Setting, Source
    >>> moons = Source("generator", "make_moons")
    >>> setting = Setting("moons", "classification", moons, Rows(40, 40), Labels(per_class=2))
    >>> protocol = Protocol("try", "A try", (setting,), ("null",), repeats=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     records = run_protocol(protocol, CellStore(f"{folder}/cells.jsonl"))
    >>> [sorted(record["scores"]) for record in records]
    [['test', 'unlabeled'], ['test', 'unlabeled'], ['test', 'unlabeled']]
    """
    check_sources(protocol, data_home)
    systems = {name: find_system(name) for name in protocol.systems}
    works = plan(protocol, systems, data_home, device)
    done = store.records()
    unknown = [name for name in rerun if name not in protocol.systems]
    if unknown:
        raise InvalidInputError(f"rerun names systems that are not run: {', '.join(unknown)}.")
    missing = [
        work
        for work in works
        if work.cell not in done
        or (retry_failed and "error" in done[work.cell])
        or (work.cell.system in rerun and done[work.cell]["code"] != code_mark())
    ]
    able = _able(missing)
    if any(work.device for work in able):
        read_device(device)  # one error now rather than one in every cell
    if able:
        check_folder(store.path.parent)
        _compute(able, store, n_jobs, progress)
    done = store.records()
    return [done[work.cell] for work in works if work.cell in done]


def _able(missing: list[Work]) -> list[Work]:
    """Cells whose system can run here; a warning, or an error if none can, names the others."""
    forms = {(work.cell.system, work.setting.task): work.system for work in missing}
    found = {name: system.lacking(task) for (name, task), system in forms.items()}
    lacking = {name: packages for name, packages in found.items() if packages}
    if not lacking:
        return missing
    extras = ",".join(sorted({packages[0] for packages in lacking.values()}))
    message = (
        f"{', '.join(lacking)} cannot run without {extras}; install it with: "
        f"pip install 's2mam[{extras}]'."
    )
    able = [work for work in missing if work.cell.system not in lacking]
    if not able:
        raise MissingDependencyError(message)
    warn_user(f"Left out of the study: {message}")
    return able


def _compute(
    missing: list[Work],
    store: CellStore,
    n_jobs: int | None,
    progress: Callable[[int, str], AbstractContextManager[Advance]],
) -> None:
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    results = parallel(delayed(_named_cell)(work) for work in missing)
    # Closed even when interrupted, so that no worker goes on behind our back.
    with closing(results), progress(len(missing), missing[0].protocol.name) as advance:
        for name, record in results:
            if record is not None:
                store.append(record)
            advance(name)


def _named_cell(work: Work) -> tuple[str, Record | None]:
    cell = work.cell
    return f"{cell.system} on {cell.setting} #{cell.repeat}", run_cell(work)
