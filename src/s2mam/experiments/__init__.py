"""Studies: protocols as data, one resumable runner, the paper's tables and theorems."""

from s2mam.experiments.protocol import Corruption, Labels, Protocol, Rows, Setting, Source
from s2mam.experiments.runner import run_protocol
from s2mam.experiments.store import CellStore
from s2mam.experiments.systems import System, all_systems, register_system
from s2mam.experiments.tuning import Tuned

__all__ = [
    "CellStore",
    "Corruption",
    "Labels",
    "Protocol",
    "Rows",
    "Setting",
    "Source",
    "System",
    "Tuned",
    "all_systems",
    "register_system",
    "run_protocol",
]
