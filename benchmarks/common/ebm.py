"""Explainable boosting machine of interpret, in a virtual environment of its own.

The environment lies in ``~/.cache/s2mam-bench/ebm`` or in the folder that the environment variable
S2MAM_BENCH_ENVS names, and is made on first use.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from benchmarks.common.environment import single_thread
from benchmarks.common.methods import Method, Outcome, Task
from benchmarks.common.peers import standardized

_WORKER = Path(__file__).with_name("ebm_worker.py")
_PACKAGE = "interpret-core>=0.6"


def interpreter() -> Path:
    """Python of the environment; only one process makes it, the others wait."""
    default = Path.home() / ".cache" / "s2mam-bench"
    folder = Path(os.environ.get("S2MAM_BENCH_ENVS", default)) / "ebm"
    ready = folder / ".ready"
    python = folder / "bin" / "python"
    if ready.exists():
        return python
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "ebm.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            install = [str(python), "-m", "pip", "install", "--quiet", _PACKAGE]
            subprocess.run(install, check=True, stdout=sys.stderr)
            ready.touch()
    return python


def ebm(*, pairs: bool = True) -> Method:
    """The method with interpret's defaults, or additive: without pairs of columns."""
    return lambda task: _fit(standardized(task), pairs)


def _fit(task: Task, pairs: bool) -> Outcome:
    """Fit on the labelled rows; the worker measures its own processor time."""
    rest = task.X[~task.labeled]
    with tempfile.TemporaryDirectory() as folder:
        given, answer = Path(folder) / "given.npz", Path(folder) / "answer.npz"
        np.savez(
            given,
            X=task.X[task.labeled],
            y=task.y[task.labeled],
            X_new=np.vstack([task.X_test, rest]),
            classification=task.is_classification,
            seed=task.seed,
            pairs=pairs,
        )
        command = [interpreter(), _WORKER, given, answer]
        environment = {**os.environ, **single_thread()}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"ebm worker: {done.stderr.strip().splitlines()[-1]}")
        with np.load(answer) as result:
            values, rows = result["values"], len(task.X_test)
            known = result["probabilities"][:rows] if task.is_classification else None
            return Outcome(
                test=values[:rows],
                unlabeled=values[rows:],
                cpu=float(result["cpu"]),
                scale="standard",
                test_probabilities=known,
                ranking=result["importance"],
            )
