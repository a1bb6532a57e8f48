"""Checkpoints of a running fit: saved atomically, refused when they belong to another fit."""

from __future__ import annotations

import hashlib
import os
from typing import Any, Final

import numpy as np
import scipy
import sklearn

from s2mam._version import __version__
from s2mam.exceptions import CheckpointMismatchError, ModelFileError, S2MAMWarning
from s2mam.intake.notices import warn_user
from s2mam.persistence.atomic import remove_leftovers
from s2mam.persistence.format import read_state, write_state
from s2mam.persistence.npy import ArraySpec, raw_bytes
from s2mam.persistence.strict_json import dump_json
from s2mam.persistence.tree import encode_tree

__all__ = ["CHECKPOINT_KIND", "Checkpoint", "fingerprint"]

CHECKPOINT_KIND: Final = "Checkpoint"
_KEYS: Final = {"fingerprint", "package_version", "state"}


def fingerprint(*parts: Any) -> str:
    """Hash data and parameters, together with the versions that decide about the bits.

    Parameters
    ----------
    *parts : state trees
        Arrays and json-like values, as for `write_state`. The order of dict keys and the
        memory order of arrays do not count; dtypes, shapes and all values do.

    Returns
    -------
    str
        64 hexadecimal digits. They change with the releases of s2mam, numpy, scipy and
        scikit-learn, since only the same releases promise to go on with the same bits.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.zeros((3, 2))
    >>> fingerprint(X, {"tol": 1e-6}) == fingerprint(X.copy(), {"tol": 1e-6})
    True
    >>> fingerprint(X, {"tol": 1e-6}) == fingerprint(X + 1, {"tol": 1e-6})
    False
    """
    versions = [__version__, np.__version__, scipy.__version__, sklearn.__version__]
    node, arrays = encode_tree(_sorted_keys([versions, list(parts)]))
    digest = hashlib.sha256(dump_json(node))
    for array in arrays:
        spec = ArraySpec(array.dtype.str, array.shape, "C")
        digest.update(spec.prefix)
        digest.update(raw_bytes(array, spec))
    return digest.hexdigest()


def _sorted_keys(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _sorted_keys(tree[key]) for key in sorted(tree, key=repr)}
    if isinstance(tree, list | tuple):
        return [_sorted_keys(item) for item in tree]
    return tree


class Checkpoint:
    """The last saved state of one fit, in one file.

    Parameters
    ----------
    path : str or path-like
        File to write; its folder has to exist.
    fingerprint : str
        Identifies the fit; see :func:`fingerprint`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoint = Checkpoint(f"{folder}/fit.ckpt", fingerprint("data", {"seed": 0}))
    ...     before = checkpoint.load()
    ...     saved = checkpoint.save({"t": 3})
    ...     before, saved, checkpoint.load()
    (None, True, {'t': 3})
    """

    def __init__(self, path: str | os.PathLike[str], fingerprint: str) -> None:
        self.path = os.fspath(path)
        self.fingerprint = fingerprint
        self._saved_before = False
        self._warned = False

    def save(self, state: Any) -> bool:
        """Replace the file by one with this state.

        A full or read-only disk does not end the fit: the first failure gives one warning,
        the old file stays readable, and later calls try again in silence.

        Parameters
        ----------
        state : state tree

        Returns
        -------
        bool
            Whether the state is on disk.
        """
        content = {
            "fingerprint": self.fingerprint,
            "package_version": __version__,
            "state": state,
        }
        try:
            write_state(self.path, CHECKPOINT_KIND, content)
        except OSError as error:
            self._warn(error)
            return False
        if not self._saved_before:
            remove_leftovers(self.path)
            self._saved_before = True
        return True

    def load(self) -> Any | None:
        """Return the saved state, or None when there is no file.

        Raises
        ------
        CheckpointMismatchError
            When the file belongs to other data, other parameters or other versions.
        ModelFileError
            When the file is damaged or not a checkpoint.
        """
        try:
            kind, content = read_state(self.path)
        except FileNotFoundError:
            return None
        if kind != CHECKPOINT_KIND or not isinstance(content, dict) or set(content) != _KEYS:
            raise ModelFileError(
                f"{self.path!r} is not a checkpoint but a file of kind {kind!r}; "
                "give the checkpoint another path."
            )
        if content["fingerprint"] != self.fingerprint:
            raise CheckpointMismatchError(
                f"The checkpoint {self.path!r} (of s2mam {content['package_version']}) belongs to "
                "other data, other parameters or other package versions; delete it or give "
                "another path to start anew."
            )
        return content["state"]

    def _warn(self, error: OSError) -> None:
        if self._warned:
            return
        self._warned = True
        warn_user(
            f"The checkpoint {self.path!r} could not be written "
            f"({error.strerror or error}); the fit goes on, and an earlier checkpoint stays as "
            "it is.",
            S2MAMWarning,
        )
