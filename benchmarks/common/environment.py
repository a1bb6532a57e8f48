"""What a run depends on: versions, machine, threads."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_PACKAGES = ("s2mam", "numpy", "scipy", "scikit-learn")


def single_thread() -> dict[str, str]:
    """Environment variables that give every numerical library one thread."""
    libraries = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA")
    return {f"{name}_NUM_THREADS": "1" for name in libraries}


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that decide the figures."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def source_digest() -> str:
    """Short checksum of the package's source: tells apart results of different states of it."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "src").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:10]


def commit() -> str:
    """Short name of the commit that is checked out, or "unknown" outside a repository.

    A copy without a repository can be told by the environment variable S2MAM_BENCH_COMMIT.
    """
    if known := os.environ.get("S2MAM_BENCH_COMMIT"):
        return known
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return answer.stdout.strip()


def run_facts(study: str, protocol: str) -> dict[str, Any]:
    """The line that rows of one run refer to; its name is a checksum of its content."""
    facts = {
        "study": study,
        "protocol": protocol,
        "versions": versions(),
        "commit": commit(),
        "source": source_digest(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
    }
    name = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:6]
    return {"run": name, **facts}
