"""Results of named units of work, kept so that a restarted fit computes only what is missing."""

from __future__ import annotations

import threading
from typing import Any

from s2mam.exceptions import ModelFileError
from s2mam.persistence.checkpoint import Checkpoint
from s2mam.persistence.tree import copy_tree

__all__ = ["UnitStore"]


class UnitStore:
    """Finished units by name, on disk after each one.

    Parameters
    ----------
    checkpoint : Checkpoint or None
        Where the units are kept. An existing file is read at once, so a checkpoint of another
        fit is refused before any work is done. With None nothing is kept at all.

    Notes
    -----
    Every `put` writes all units again: meant for tens of results, not for thousands.
    Threads may share a store; processes may not.

    Examples
    --------
    >>> import tempfile
    >>> from s2mam.persistence.checkpoint import fingerprint
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path, mark = f"{folder}/fit.ckpt", fingerprint("data")
    ...     UnitStore(Checkpoint(path, mark)).put("fold 0", {"score": 0.5})
    ...     restarted = UnitStore(Checkpoint(path, mark))
    ...     restarted.get("fold 0"), restarted.get("fold 1")
    ({'score': 0.5}, None)
    """

    def __init__(self, checkpoint: Checkpoint | None = None) -> None:
        self._checkpoint = checkpoint
        self._lock = threading.Lock()
        self._units: dict[str, Any] = {}
        saved = None if checkpoint is None else checkpoint.load()
        if saved is not None:
            self._units = _require_units(saved)

    def get(self, name: str) -> Any | None:
        """Return a copy of a unit's state, or None when it has to be computed.

        Parameters
        ----------
        name : str
        """
        with self._lock:
            return copy_tree(self._units.get(name))

    def put(self, name: str, state: Any) -> None:
        """Keep the state of a finished unit and write it to disk.

        When the disk refuses, the units stay in memory and the next `put` tries again.

        Parameters
        ----------
        name : str
        state : state tree
            Copied, so later changes to its arrays do not reach the store.
        """
        if self._checkpoint is None:
            return
        with self._lock:
            self._units[name] = copy_tree(state)
            self._checkpoint.save({"units": self._units})


def _require_units(saved: Any) -> dict[str, Any]:
    units = saved.get("units") if isinstance(saved, dict) else None
    if not isinstance(units, dict):
        raise ModelFileError("The checkpoint holds no units of work; give another path.")
    return units
