"""One measurement in a process of its own: prints seconds, peak memory and accuracy as JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from benchmarks.scale.rows import BLOCK, fresh_rows, make_block
from joblib.externals.loky import get_reusable_executor


def main(arguments: list[str]) -> None:
    """Read the case from the command line, measure it, print the answer."""
    case = json.loads(arguments[0])
    answer = METHODS[case["method"]](case)
    print(json.dumps(answer | {"peak_mb": _status("VmHWM")}))


def streamed(case: dict[str, Any]) -> dict[str, Any]:
    """The default estimator on the path of the file."""
    from joblib import parallel_config

    from s2mam import S2MAMClassifier

    y = np.load(case["labels"])
    model = S2MAMClassifier(n_features_to_select=case["informative"], random_state=0)
    return _timed(case, model, Path(case["rows"]), y, parallel_config(n_jobs=case["jobs"]))


def base(case: dict[str, Any]) -> dict[str, Any]:
    """The base model on the path: its graph is summed over all rows and columns."""
    from joblib import parallel_config

    from s2mam import ManifoldAdditiveClassifier

    y = np.load(case["labels"])
    return _timed(
        case,
        ManifoldAdditiveClassifier(),
        Path(case["rows"]),
        y,
        parallel_config(n_jobs=case["jobs"]),
    )


def spreading(case: dict[str, Any]) -> dict[str, Any]:
    """scikit-learn's label spreading on a neighbour graph, all rows in memory."""
    from contextlib import nullcontext

    from sklearn.semi_supervised import LabelSpreading

    X, y = np.load(case["rows"]), np.load(case["labels"])
    model = LabelSpreading(kernel="knn", n_neighbors=10, n_jobs=case["jobs"])
    return _timed(case, model, X, y, nullcontext())


def boosting(case: dict[str, Any]) -> dict[str, Any]:
    """Gradient boosting on the labelled rows alone."""
    from contextlib import nullcontext

    from sklearn.ensemble import HistGradientBoostingClassifier

    y = np.load(case["labels"])
    kept = np.flatnonzero(y >= 0)
    X = np.array(np.load(case["rows"], mmap_mode="r")[kept])
    model = HistGradientBoostingClassifier(random_state=0)
    return _timed(case, model, X, y[kept], nullcontext())


def explainable(case: dict[str, Any]) -> dict[str, Any]:
    """The explainable boosting machine on the labelled rows, in its own environment."""
    from benchmarks.common.ebm import ebm
    from benchmarks.common.methods import Task

    y = np.load(case["labels"])
    kept = np.flatnonzero(y >= 0)
    X = np.array(np.load(case["rows"], mmap_mode="r")[kept])
    X_new, y_new = fresh_rows(case["p"], case["informative"], 5000)
    began = time.perf_counter()
    outcome = ebm()(Task(X, y[kept], X_new, "classification", 0))
    return {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": outcome.cpu,
        "accuracy": float(np.mean(outcome.test == y_new)),
        "fit_mb": float("nan"),
        "labeled": int(kept.size),
    }


def on_dask(case: dict[str, Any]) -> dict[str, Any]:
    """The default estimator on a Dask array whose blocks are made on the workers."""
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster

    from s2mam import S2MAMClassifier
    from s2mam.scale.executors import sum_blocks
    from s2mam.scale.opening import open_rows
    from s2mam.scale.survey import SurveyPlan

    n, p, informative = case["n"], case["p"], case["informative"]
    y = np.load(case["labels"])
    make = dask.delayed(_table, pure=True)
    parts = [
        da.from_delayed(make(k, informative, p), (min(BLOCK, n - s), p), np.float32)
        for k, s in enumerate(range(0, n, BLOCK))
    ]
    cluster = LocalCluster(
        n_workers=case["workers"], threads_per_worker=1, dashboard_address=None, processes=True
    )
    with cluster, Client(cluster) as client:
        X = da.concatenate(parts).persist()
        X.sum().compute()
        from contextlib import nullcontext

        plan = SurveyPlan(0, "auto", True, 5000, 2300, n)
        sum_blocks(open_rows(X, y), plan)  # workers import the package on their first task
        began = time.perf_counter()
        sum_blocks(open_rows(X, y), plan)
        survey = time.perf_counter() - began
        model = S2MAMClassifier(n_features_to_select=informative, random_state=0)
        answer = _timed(case, model, X, y, nullcontext())
        passes = _graph_pass(model, X, y)
        del client
    return answer | {"survey_seconds": survey, "pass_seconds": passes}


def _graph_pass(model: Any, X: Any, y: np.ndarray) -> float:
    """Seconds of one pass that sums the graph over all columns."""
    from s2mam.scale.anchors import build_anchors
    from s2mam.scale.encoding import ColumnEncoder
    from s2mam.scale.executors import sum_blocks
    from s2mam.scale.features import feature_map
    from s2mam.scale.graph_sums import GraphPass
    from s2mam.scale.opening import open_rows

    part = model._model.parts[0]
    p = part.design.n_columns
    encoder = ColumnEncoder(part.reader, np.arange(p), clip=True)
    sample = np.asarray(np.load(X, mmap_mode="r")[:2000] if isinstance(X, Path) else X[:2000])
    graph = build_anchors(
        encoder,
        np.ones(p),
        encoder.encode(sample),
        n_anchors=200,
        bandwidth=None,
        seed=0,
    )
    plan = GraphPass(encoder, feature_map(part.design, encoder), graph)
    began = time.perf_counter()
    sum_blocks(open_rows(X, y), plan)
    return time.perf_counter() - began


def _table(number: int, informative: int, p: int) -> np.ndarray:
    return make_block(number, BLOCK, p, informative)[0]


def _timed(case: dict[str, Any], model: Any, X: Any, y: np.ndarray, context: Any) -> dict[str, Any]:
    before = _status("VmHWM")
    wall, cpu = time.perf_counter(), _cpu_seconds()
    with context:
        model.fit(X, y)
    seconds = time.perf_counter() - wall
    get_reusable_executor().shutdown(wait=True)  # workers count once they are gone
    cpu = _cpu_seconds() - cpu
    peak = _status("VmHWM")
    X_new, y_new = fresh_rows(case["p"], case["informative"], 5000)
    accuracy = float(np.mean(np.asarray(model.predict(X_new)) == y_new))
    return {
        "seconds": seconds,
        "cpu_seconds": cpu,
        "accuracy": accuracy,
        "fit_mb": peak - before,
        "labeled": int(np.count_nonzero(np.asarray(y) >= 0)),
    }


def _cpu_seconds() -> float:
    """Processor time of this process and of its workers that have ended."""
    own, workers = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + workers.ru_utime + workers.ru_stime


def _status(name: str) -> float:
    """Peak (VmHWM) or present (VmRSS) memory of this process in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 1024
    return float("nan")


def passes(case: dict[str, Any]) -> dict[str, Any]:
    """Processor time of each pass by one thread, in microseconds a row."""
    from s2mam import S2MAMClassifier
    from s2mam.estimators.blockwise import model_evaluator
    from s2mam.scale.executors import sum_blocks
    from s2mam.scale.opening import open_rows
    from s2mam.scale.survey import SurveyPlan

    n, y = case["n"], np.load(case["labels"])
    rows = Path(case["rows"])
    model = S2MAMClassifier(n_features_to_select=case["informative"], random_state=0)
    model.fit(np.array(np.load(rows, mmap_mode="r")[:5000]), y[:5000])
    evaluator = model_evaluator(model._model)
    table = np.array(np.load(rows, mmap_mode="r")[:20_000])
    works = {
        "survey": (
            n,
            lambda: sum_blocks(open_rows(rows, y), SurveyPlan(0, "auto", True, 5000, 2300, n)),
        ),
        "graph": (n, lambda: _graph_pass(model, rows, y)),
        "decide": (len(table), lambda: evaluator.decide(table)),
    }
    found = {}
    for name, (count, work) in works.items():
        began = time.process_time()
        work()
        found[name] = 1e6 * (time.process_time() - began) / count
    return {"us_per_row": found, "features": int(model._model.parts[0].design.offsets[-1])}


METHODS = {
    "passes": passes,
    "s2mam": streamed,
    "base": base,
    "label_spreading": spreading,
    "hist_boosting": boosting,
    "ebm": explainable,
    "dask": on_dask,
}

if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    main(sys.argv[1:])
