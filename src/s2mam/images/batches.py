"""Finished batches on disk: a run that was stopped goes on with the first one that is missing."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from s2mam._typing import FloatArray

__all__ = ["BatchFolder", "embed_batches"]


class BatchFolder:
    """Batches of one embedding of one set of images.

    Parameters
    ----------
    root : path
        Holds one folder for each embedding and set of images, named by a checksum of both: what is
        there is never mixed with something else.
    facts : mapping
        What the features depend on, as JSON.
    """

    def __init__(self, root: str | os.PathLike[str], facts: Mapping[str, Any]) -> None:
        text = json.dumps(facts, sort_keys=True)
        self.path = Path(root) / hashlib.sha256(text.encode()).hexdigest()[:16]
        self.path.mkdir(parents=True, exist_ok=True)
        if not (self.path / "facts.json").exists():
            self._replace("facts.json", lambda stream: stream.write(text.encode()))

    def load(self, number: int, rows: int) -> FloatArray | None:
        """A finished batch, or None; a file that cannot be read counts as missing.

        Parameters
        ----------
        number : int
        rows : int
            Rows that it should have.
        """
        try:
            found = np.load(self._file(number), allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return None
        return found if found.ndim == 2 and len(found) == rows else None

    def save(self, number: int, features: FloatArray) -> None:
        """Keep a batch; the file is there in full or not at all.

        Parameters
        ----------
        number : int
        features : (b, d) array
        """
        self._replace(self._file(number).name, lambda stream: np.save(stream, features))

    def _file(self, number: int) -> Path:
        return self.path / f"batch-{number:06d}.npy"

    def _replace(self, name: str, write: Callable[[Any], Any]) -> None:
        handle, temporary = tempfile.mkstemp(dir=self.path, prefix=f".{name}-")
        try:
            with os.fdopen(handle, "wb") as stream:
                write(stream)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, self.path / name)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def embed_batches(
    count: int,
    batch_size: int,
    embed: Callable[[int, int], FloatArray],
    folder: BatchFolder | None,
) -> FloatArray:
    """Features of all images, batch by batch.

    Parameters
    ----------
    count : int
        Number of images.
    batch_size : int
    embed : callable
        From first and last (excluded) image to features (b, d).
    folder : BatchFolder or None
        Where finished batches are, and go.

    Returns
    -------
    (count, d) array

    Examples
    --------
    >>> embed_batches(3, 2, lambda i, j: np.arange(i, j)[:, None] * 1.0, None).ravel()
    array([0., 1., 2.])
    """
    batches = []
    for number, start in enumerate(range(0, count, batch_size)):
        stop = min(start + batch_size, count)
        features = None if folder is None else folder.load(number, stop - start)
        if features is None:
            features = embed(start, stop)
            if folder is not None:
                folder.save(number, features)
        batches.append(features)
    return np.concatenate(batches)
