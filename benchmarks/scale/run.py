"""How time and memory grow with the rows, beside peers; each fit in a process of its own.

    python benchmarks/scale/run.py [cpu] [--rows 10000 100000 1000000] [--methods ebm] [--quick]
    S2MAM_DATA_HOME=<folder> python benchmarks/scale/run.py accuracy [--seeds 3]
    python benchmarks/scale/run.py dask
    python benchmarks/scale/run.py limits
    python benchmarks/scale/run.py wide [--seeds 3]
    python benchmarks/scale/run.py gpu

Rows have 100 normal columns (--columns), 10 of which make up the class; 2,000 rows (or 2 % of them,
where that is fewer) carry a label. Files are .npy of single precision, read from the path. Seconds
are wall clock with two workers; memory is the peak of the process less its peak before the fit, so
what the fit itself adds. Accuracy is on 5,000 fresh rows. Exponents are slopes of log seconds over
log rows, and over log columns; those of processor seconds do not mind a busy machine.

``dask`` compares one worker with two (processes of one thread each) on rows that they make before
the clock starts: the pass that sums the graph over all columns, best of three. The processor
seconds of the workers say how the work was shared whatever else the machine did: the gain is at
most those of one worker over the largest share of two. ``limits`` fits a file that is larger than
the memory: in a process whose address space is limited (RLIMIT_AS), and on Dask workers that are
killed when they hold more than their limit.

``accuracy`` compares the streamed fit with the fit of all rows in memory, up to 20,000 of them, on
2,000 fresh rows (accuracy, or R2 of numbers), and the processor seconds of both. Its seeds start at
10; splits by seeds 0 and 1 of the same tables were looked at when sample sizes were chosen.
``wide`` has 500 rows, 100 of them labelled, and 2,000 to 20,000 columns, 4 of which matter: normal
numbers, or counts in a sparse table (5 % stored); beside it scikit-learn's lasso with
cross-validation on the labels. ``gpu`` needs torch with CUDA and the dependencies of s2mam, nothing
else.
Writes ``results.json`` and ``results.md`` beside this file, and keeps the part that was not run.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from benchmarks.common.environment import run_facts, single_thread
from benchmarks.scale.rows import BLOCK, write_file
from benchmarks.scale.tables import page
from benchmarks.scale.wide import ROWS

HERE = Path(__file__).parent
INFORMATIVE = 10
ORDER = ("s2mam", "base", "hist_boosting", "ebm", "label_spreading")
FACTS = ("commit", "source", "machine", "versions")
CLOCKS = ("seconds", "cpu_seconds")


def main() -> int:
    """Run what was asked for and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "part",
        nargs="?",
        choices=("cpu", "dask", "limits", "wide", "gpu", "accuracy", "tables"),
        default="cpu",
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--seeds", type=int, default=3, help="of accuracy and wide (3)")
    parser.add_argument("--most", type=int, default=20_000, help="rows of the accuracy (20000)")
    parser.add_argument("--columns", type=int, default=100, help="columns of a row (100)")
    parser.add_argument("--widths", type=int, nargs="+", default=[25, 50, 100, 200])
    parser.add_argument("--quick", action="store_true", help="few rows; results apart")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds a fit may take (900)")
    parser.add_argument(
        "--methods", nargs="+", help="measure these alone, by rows; the other figures are kept"
    )
    parser.add_argument("--folder", type=Path, help="where files of rows go (temporary folder)")
    options = parser.parse_args()
    store = Path(tempfile.gettempdir()) / "s2mam-scale" if options.quick else HERE
    store.mkdir(parents=True, exist_ok=True)
    if options.quick:
        options.rows, options.columns, options.widths = [2_000, 8_000], 25, [25, 50]
    path = store / "results.json"
    results = json.loads(path.read_text()) if path.exists() else {}

    def save(found: dict[str, Any]) -> None:
        """Write what there is so far: a run that is stopped keeps its figures."""
        facts = {name: run_facts("scale", str(__doc__))[name] for name in FACTS}
        if options.part == "cpu":
            made = {(row["method"], row["commit"]) for row in found["rows"] + found["columns"]}
            kept = sorted(pair for pair in made if pair[1] != facts["commit"])
            if kept:
                facts["note"] = ", ".join(f"{method} at commit {at}" for method, at in kept)
        results[options.part] = found | {"facts": facts}
        path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")

    if options.part == "gpu":
        from benchmarks.scale.gpu import measure_gpu

        save(measure_gpu(quick=options.quick))
    elif options.part == "accuracy":
        from benchmarks.scale.accuracy import measure_accuracy

        most = 2_000 if options.quick else options.most
        seeds = 1 if options.quick else options.seeds
        found: list[dict[str, Any]] = []
        for row in measure_accuracy(most, seeds, (50, 2000)):
            found.append(row)
            save({"rows": found})
    elif options.part != "tables":
        if options.part == "cpu":
            measure_cpu(options, save, results.get("cpu", {}))
        else:
            {"dask": measure_dask, "limits": measure_limits, "wide": measure_wide}[options.part](
                options, save
            )
    path.with_suffix(".md").write_text(page(results, str(__doc__)), encoding="utf-8")
    return 0


def measure_cpu(
    options: argparse.Namespace,
    save: Callable[[dict[str, Any]], None],
    earlier: dict[str, Any],
) -> None:
    """Everything that needs no accelerator; rows of methods that are not run are kept."""
    whole = not options.methods
    found: dict[str, Any] = {"rows": [], "columns": []} | earlier
    methods = options.methods or _methods()
    if whole:
        found["columns"] = []
    found["rows"] = [
        row for row in found["rows"] if row["method"] not in methods or row["n"] not in options.rows
    ]
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for n in options.rows:
            files = _files(Path(folder), n, options.columns)
            for method in [name for name in methods if name in ORDER]:
                if _hopeless(found["rows"], method, n, options.limit):
                    continue
                case = {"method": method, "n": n, "p": options.columns, "jobs": 2, **files}
                found["rows"].append(_measured(case, options.limit) | _commit())
                size = Path(files["rows"]).stat().st_size / 2**20
                found["file_mb"] = max(found.get("file_mb", 0.0), size)
                save(found)
        if whole:
            _measure_columns(options, Path(folder), found)
        if whole or "passes" in methods:
            found["passes"] = _measure_passes(options, Path(folder))
    found["exponents"] = {
        f"{method}, {axis}": [_exponent(found[part], method, key, of) for of in CLOCKS]
        for part, axis, key in (("rows", "rows", "n"), ("columns", "columns", "p"))
        for method in ("s2mam", "base", "label_spreading")
    }
    found["rows"].sort(key=lambda row: (row["n"], ORDER.index(row["method"])))
    save(found)


def _commit() -> dict[str, str]:
    """What a row was measured at: rows of one table may be of several runs."""
    return {"commit": run_facts("scale", str(__doc__))["commit"]}


def _measure_columns(options: argparse.Namespace, folder: Path, found: dict[str, Any]) -> None:
    """Fits of tables with more and fewer columns."""
    n = min(100_000, sorted(options.rows)[len(options.rows) // 2])
    for p in options.widths:
        files = _files(folder, n, p)
        for method in ("s2mam", "base"):
            case = {"method": method, "n": n, "p": p, "jobs": 2, **files}
            found["columns"].append(_measured(case, options.limit) | _commit())


def _measure_passes(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """The time of each pass by itself."""
    n = min(100_000, sorted(options.rows)[len(options.rows) // 2])
    files = _files(folder, n, options.columns)
    return _measured({"method": "passes", "n": n, "p": options.columns, **files}, options.limit)


def measure_dask(options: argparse.Namespace, save: Callable[[dict[str, Any]], None]) -> None:
    """One worker against two."""
    n = 20 * BLOCK if not options.quick else 2 * BLOCK
    found: dict[str, Any] = {"rows": []}
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        files = _files(Path(folder), n, options.columns)
        for workers in (1, 2):
            case = {"method": "dask", "n": n, "p": options.columns, "workers": workers, **files}
            found["rows"].append(_measured(case, options.limit))
            save(found)


def measure_limits(options: argparse.Namespace, save: Callable[[dict[str, Any]], None]) -> None:
    """Files that are larger than the memory."""
    n, alone, worker = (4_000_000, 1_400, 600) if not options.quick else (40_000, 1_400, 600)
    found: dict[str, Any] = {"rows": []}
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        files = _files(Path(folder), n, options.columns)
        found["file_mb"] = Path(files["rows"]).stat().st_size / 2**20
        for method, workers, limit in (("limited", 1, alone), ("dask_limited", 2, worker)):
            case = {"method": method, "n": n, "p": options.columns, "workers": workers, **files}
            row = _measured(case | {"limit_mb": limit}, options.limit)
            found["rows"].append(row | {"limit_mb": limit})
            save(found)


def measure_wide(options: argparse.Namespace, save: Callable[[dict[str, Any]], None]) -> None:
    """Many columns, dense and sparse."""
    widths, seeds = ((2_000, 5_000, 20_000), options.seeds) if not options.quick else ((300,), 1)
    found: dict[str, Any] = {"rows": []}
    for seed in range(seeds):
        for p in widths:
            for kind in ("dense", "sparse"):
                for method in ("wide", "wide_lasso"):
                    case = {"method": method, "n": ROWS, "p": p, "kind": kind, "seed": seed}
                    row = _measured(case, options.limit)
                    found["rows"].append(row | {"kind": kind, "seed": seed})
                    save(found)


def _methods() -> list[str]:
    """Our fits and the peers; the explainable boosting machine where its environment is there."""
    place = Path(os.environ.get("S2MAM_BENCH_ENVS", Path.home() / ".cache" / "s2mam-bench"))
    made = (place / "ebm" / ".ready").exists()
    return [method for method in ORDER if made or method != "ebm"]


def _files(folder: Path, n: int, p: int) -> dict[str, Any]:
    """Rows and labels on disk; one pair of files at a time, they are large."""
    rows, labels = folder / "rows.npy", folder / "labels.npy"
    y = write_file(rows, n, p, INFORMATIVE, min(0.02, 2000 / n))
    np.save(labels, y)
    return {"rows": str(rows), "labels": str(labels), "informative": INFORMATIVE}


def _hopeless(done: list[dict[str, Any]], method: str, n: int, limit: float) -> bool:
    """Whether a method failed with fewer rows, or would by its growth so far."""
    mine = [row for row in done if row["method"] == method]
    if method != "label_spreading" or not mine:
        return False
    last = mine[-1]
    return "failure" in last or last["seconds"] * (n / last["n"]) ** 1.8 > 4 * limit


def _measured(case: dict[str, Any], limit: float) -> dict[str, Any]:
    command = [sys.executable, str(HERE / "child.py"), json.dumps(case)]
    row = {key: case[key] for key in ("method", "n", "p")} | {
        "workers": case.get("workers", case.get("jobs"))
    }
    # A group of its own: a child that takes too long ends with the processes it started.
    child = subprocess.Popen(
        command,
        env={**os.environ, **single_thread()},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        output, errors = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        row["failure"] = f"not done after {limit:g} s"
    else:
        if child.returncode == 0:
            row |= json.loads(output.splitlines()[-1])
        else:
            killed = child.returncode < 0
            reason = errors.strip().splitlines()[-1:] or ["unknown"]
            row["failure"] = f"killed by signal {-child.returncode}" if killed else reason[0]
    print(json.dumps(row), flush=True)
    return row


def _exponent(rows: list[dict[str, Any]], method: str, key: str, clock: str) -> float | None:
    """Slope of log seconds over log size, where there are two sizes at least."""
    mine = [row for row in rows if row["method"] == method and "seconds" in row]
    if len(mine) < 2:
        return None
    sizes = np.log([row[key] for row in mine])
    return float(np.polyfit(sizes, np.log([row[clock] for row in mine]), 1)[0])


if __name__ == "__main__":
    sys.exit(main())
