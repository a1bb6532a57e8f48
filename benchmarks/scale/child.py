"""One measurement in a process of its own: prints seconds, peak memory and accuracy as JSON."""

from __future__ import annotations

import json
import pickle
import resource
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from benchmarks.scale.measures import graph_plan, peak_mb, timed
from benchmarks.scale.on_dask import compare_workers, limited_workers
from benchmarks.scale.rows import fresh_rows
from benchmarks.scale.wide import fit_wide


def main(arguments: list[str]) -> None:
    """Read the case from the command line, measure it, print the answer."""
    case = json.loads(arguments[0])
    answer = METHODS[case["method"]](case)
    print(json.dumps(answer | {"peak_mb": peak_mb()}))


def streamed(case: dict[str, Any]) -> dict[str, Any]:
    """The default estimator on the path of the file."""
    from joblib import parallel_config

    from s2mam import S2MAMClassifier

    y = np.load(case["labels"])
    model = S2MAMClassifier(n_features_to_select=case["informative"], random_state=0)
    return timed(case, model, Path(case["rows"]), y, parallel_config(n_jobs=case["jobs"]))


def base(case: dict[str, Any]) -> dict[str, Any]:
    """The base model on the path: its graph is summed over all rows and columns."""
    from joblib import parallel_config

    from s2mam import ManifoldAdditiveClassifier

    y = np.load(case["labels"])
    return timed(
        case,
        ManifoldAdditiveClassifier(),
        Path(case["rows"]),
        y,
        parallel_config(n_jobs=case["jobs"]),
    )


def spreading(case: dict[str, Any]) -> dict[str, Any]:
    """scikit-learn's label spreading on a neighbour graph, all rows in memory."""
    from sklearn.semi_supervised import LabelSpreading

    X, y = np.load(case["rows"]), np.load(case["labels"])
    model = LabelSpreading(kernel="knn", n_neighbors=10, n_jobs=case["jobs"])
    return timed(case, model, X, y)


def boosting(case: dict[str, Any]) -> dict[str, Any]:
    """Gradient boosting on the labelled rows alone."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    y = np.load(case["labels"])
    kept = np.flatnonzero(y >= 0)
    X = np.array(np.load(case["rows"], mmap_mode="r")[kept])
    model = HistGradientBoostingClassifier(random_state=0)
    return timed(case, model, X, y[kept])


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
        "fit_mb": None,  # of another process, which imports more than it needs
        "labeled": int(kept.size),
    }


def limited(case: dict[str, Any]) -> dict[str, Any]:
    """The default fit of a file in a process whose address space is smaller than the file."""
    from s2mam import S2MAMClassifier

    y = np.load(case["labels"])
    limit = case["limit_mb"] * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        np.load(case["rows"])
    except MemoryError:
        whole = "MemoryError"
    else:
        whole = "fits"
    model = S2MAMClassifier(n_features_to_select=case["informative"], random_state=0)
    return timed(case, model, Path(case["rows"]), y) | {"whole": whole}


def passes(case: dict[str, Any]) -> dict[str, Any]:
    """Processor time of each pass by one thread, a row, and the size of what a block sums up to."""
    from s2mam import ManifoldAdditiveClassifier, S2MAMClassifier
    from s2mam.estimators.blockwise import model_evaluator
    from s2mam.scale.executors import sum_blocks
    from s2mam.scale.opening import open_rows
    from s2mam.scale.survey import SurveyPlan

    n, y = case["n"], np.load(case["labels"])
    rows = Path(case["rows"])
    table = np.array(np.load(rows, mmap_mode="r")[:20_000])
    model = S2MAMClassifier(n_features_to_select=case["informative"], random_state=0)
    evaluator = model_evaluator(model.fit(table[:5000], y[:5000])._model)
    # The rows that a streamed fit of the base model holds; its features are made from them.
    held = np.union1d(np.flatnonzero(y >= 0)[:2000], np.arange(5000))
    base = ManifoldAdditiveClassifier(sparsity=0.02, manifold=0.0)
    base.fit(np.array(np.load(rows, mmap_mode="r")[held]), y[held])
    plans = {
        "survey": SurveyPlan(0, "auto", True, 5000, 2300, n),
        "graph": graph_plan(base, table[:2000], clip=False),
    }
    found, sizes = {}, {}
    for name, plan in plans.items():
        began = time.process_time()
        sum_blocks(open_rows(rows, y), plan)
        found[name] = 1e6 * (time.process_time() - began) / n
        first = next(iter(open_rows(rows, y).blocks()))
        sizes[name] = len(pickle.dumps(plan(first), protocol=5))
    began = time.process_time()
    evaluator.decide(table)
    found["decide"] = 1e6 * (time.process_time() - began) / len(table)
    features = int(base._model.parts[0].design.offsets[-1])
    return {"us_per_row": found, "sum_bytes": sizes, "features": features}


METHODS = {
    "passes": passes,
    "s2mam": streamed,
    "base": base,
    "label_spreading": spreading,
    "hist_boosting": boosting,
    "ebm": explainable,
    "limited": limited,
    "dask": compare_workers,
    "dask_limited": limited_workers,
    "wide": fit_wide,
    "wide_lasso": fit_wide,
}

if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    main(sys.argv[1:])
