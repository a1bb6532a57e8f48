"""Model files without pickle, and checkpoints that survive a kill.

A file holds json and plain numpy arrays only: no code runs when it is loaded.
"""

from s2mam.persistence.checkpoint import Checkpoint, fingerprint
from s2mam.persistence.format import read_state, write_state
from s2mam.persistence.models import load, save
from s2mam.persistence.units import UnitStore

__all__ = [
    "Checkpoint",
    "UnitStore",
    "fingerprint",
    "load",
    "read_state",
    "save",
    "write_state",
]
