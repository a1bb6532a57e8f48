"""Work in other processes: spawned, killed, without room on the disk, with warnings as errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
_FOLDER = tempfile.TemporaryDirectory()


def scratch(name: str) -> Path:
    """A path in a folder that goes with this process."""
    return Path(_FOLDER.name) / name.replace(" ", "_")


def decisions(pair: tuple[Any, Any]) -> Any:
    """Decisions of a model; at the top of a module, so that a spawned process finds it."""
    from trust_models import decide

    return decide(*pair)


def python(code: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter that can import the helpers of this folder."""
    preamble = f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
    return subprocess.run(
        [sys.executable, "-c", preamble + code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


_BAD_DISK = """
import json, os, resource, signal, sys, warnings
from pathlib import Path
import numpy as np
from trust_models import make, table
from s2mam.exceptions import S2MAMWarning

folder, trouble = Path(sys.argv[1]), sys.argv[2]
"".encode("cp437")  # zip files want it, and the folder of Python may be closed to others
X, _, y = table("regression")
whole = make("posterior", "regression").fit(X, y).predict(X)
path = folder / "fit.ckpt"
stop = lambda progress: progress["done"] >= 3
make("posterior", "regression", checkpoint=path, callbacks=[stop]).fit(X, y)
before = path.read_bytes()
if trouble == "full":
    # As on a full disk, every write beyond the limit fails.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, resource.RLIM_INFINITY))
else:
    path.chmod(0o444)
    folder.chmod(0o555)
    if os.geteuid() == 0:
        os.setuid(65534)  # the superuser may write anywhere
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    found = make("posterior", "regression", checkpoint=path).fit(X, y).predict(X)
told = [str(one.message) for one in caught if one.category is S2MAMWarning]
print(json.dumps({
    "warnings": len(told),
    "message": told[0] if told else "",
    "old_checkpoint_intact": path.read_bytes() == before,
    "same_bits": bool(np.array_equal(found, whole)),
    "left_behind": sorted(set(os.listdir(folder)) - {"fit.ckpt"}),
}))
"""


def fit_on_a_bad_disk(folder: Path, trouble: str) -> dict[str, Any]:
    """Resume a fit where its checkpoint can be read and not written.

    Parameters
    ----------
    folder : Path
        To make.
    trouble : {"full", "read-only"}
    """
    folder.mkdir()
    for parent in folder.parents:  # another user has to get there
        if parent.owner() == "root" and parent != Path("/tmp") and "pytest" in str(parent):
            parent.chmod(0o755)
    done = python(_BAD_DISK, folder, trouble)
    folder.chmod(0o755)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


_QUIET = """
import warnings
import numpy as np
import s2mam, s2mam.inspection
from trust_models import BASELINES, OURS, TASKS, assert_finite, make, table

for task in TASKS:
    for name in (*OURS, "LapRLS", "SpAM", "COREG" if task == "regression" else "LapSVM"):
        for n_labeled in (12, 36):
            X, _, y = table(task, n_labeled=n_labeled)
            X[::7, 1] = np.nan
            X[:, 3] = 1.0
            assert_finite(make(name, task).fit(X, y), X)
print("quiet")
"""


def run_with_warnings_as_errors() -> subprocess.CompletedProcess[str]:
    """Fits of our estimators and some baselines under ``python -W error``."""
    return python(_QUIET, PYTHONWARNINGS="error")


_KILLED = """
import os, sys
import numpy as np
from trust_models import make, table

learner, task, checkpoint, out = sys.argv[1:5]
X, _, y = table(task)
print("go", flush=True)
model = make(learner, task, checkpoint=checkpoint or None, max_iter=int(sys.argv[5])).fit(X, y)
answer = model.transduction_ if task == "regression" else model.decision_function(X)
np.save(out + ".new.npy", answer)
os.replace(out + ".new.npy", out)  # whole or not there: the kill may come during this, too
"""


def fit_until_killed(
    learner: str, task: str, checkpoint: Path | str, out: Path, max_iter: int, after: float | None
) -> tuple[int, float]:
    """Fit in another process and kill it so many seconds into the fit; exit code and seconds."""
    preamble = f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
    command = [sys.executable, "-c", preamble + _KILLED, learner, task, str(checkpoint), str(out)]
    with subprocess.Popen(
        [*command, str(max_iter)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "go\n", process.stderr.read()
        began = time.monotonic()
        try:
            process.wait(timeout=after)
        except subprocess.TimeoutExpired:
            process.kill()
        _, err = process.communicate()
        assert process.returncode in (0, -9), err
        return process.returncode, time.monotonic() - began


def saved(path: Path) -> Any:
    """The array that a finished child wrote."""
    return np.load(path)
