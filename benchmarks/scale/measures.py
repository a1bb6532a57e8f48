"""What a child measures of itself: seconds, memory, accuracy."""

from __future__ import annotations

import resource
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.scale.rows import fresh_rows
from joblib.externals.loky import get_reusable_executor


def timed(
    case: dict[str, Any],
    model: Any,
    X: Any,
    y: np.ndarray,
    context: AbstractContextManager[Any] | None = None,
) -> dict[str, Any]:
    """Fit, then score on fresh rows."""
    labeled = int(np.count_nonzero(np.asarray(y) >= 0))
    spent = clocked(model, X, y, context)
    return score(case, model) | spent | {"labeled": labeled}


def clocked(
    model: Any, X: Any, y: np.ndarray, context: AbstractContextManager[Any] | None = None
) -> dict[str, Any]:
    """Fit; seconds, processor seconds and memory that it took."""
    before = peak_mb()
    wall, cpu = time.perf_counter(), _cpu_seconds()
    with context or nullcontext():
        model.fit(X, y)
    seconds = time.perf_counter() - wall
    get_reusable_executor().shutdown(wait=True)  # workers count once they are gone
    return {
        "seconds": seconds,
        "cpu_seconds": _cpu_seconds() - cpu,
        "fit_mb": peak_mb() - before,
    }


def score(case: dict[str, Any], model: Any) -> dict[str, Any]:
    """Accuracy on fresh rows."""
    X_new, y_new = fresh_rows(case["p"], case["informative"], 5000)
    return {"accuracy": float(np.mean(np.asarray(model.predict(X_new)) == y_new))}


def graph_plan(model: Any, sample: np.ndarray, *, clip: bool) -> Any:
    """The pass that sums the graph over all columns and features of a model, with 200 anchors."""
    from s2mam.scale.anchors import build_anchors
    from s2mam.scale.encoding import ColumnEncoder
    from s2mam.scale.features import feature_map
    from s2mam.scale.graph_sums import GraphPass

    part = model._model.parts[0]
    p = part.design.n_columns
    encoder = ColumnEncoder(part.reader, np.arange(p), clip=clip)
    graph = build_anchors(
        encoder, np.ones(p), encoder.encode(sample), n_anchors=200, bandwidth=None, seed=0
    )
    return GraphPass(encoder, feature_map(part.design, encoder), graph)


def peak_mb() -> float:
    """Most memory that this process ever had."""
    return status_mb("VmHWM")


def status_mb(name: str) -> float:
    """One figure of the system about this process, in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 1024
    return float("nan")


def _cpu_seconds() -> float:
    """Processor time of this process and of its workers that have ended."""
    own, workers = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + workers.ru_utime + workers.ru_stime
