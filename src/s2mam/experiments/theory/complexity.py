"""Time and memory of a fit against rows, columns and selected columns."""

from __future__ import annotations

import gc
import time
import tracemalloc
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from threadpoolctl import threadpool_limits

from s2mam.bilevel.paper import PAPER
from s2mam.datasets import hide_labels, make_additive_regression
from s2mam.estimators import ManifoldAdditiveRegressor, S2MAMRegressor
from s2mam.experiments.theory.rates import fit_power
from s2mam.experiments.theory.report import Curve, Report

__all__ = ["GRIDS", "complexity", "measure_fit"]

#: Sizes along each line; the others stay at `_CENTER`.
GRIDS: Mapping[str, Sequence[int]] = {
    "n": (200, 400, 800, 1600),
    "p": (20, 40, 80, 160),
    "C": (2, 4, 8, 16),
}
_CENTER = {"n": 200, "p": 40, "C": 4}
_N_LABELED = 50
_PAPER_ITERATIONS = 10
_FOURIER = "S2MAM-F (PAPER), 10 iterations"
MODELS = ("base f_z", "S2MAM", "S2MAM (PAPER), 10 iterations", _FOURIER)
_TEXT = (
    "Additive regression with 50 labels; beside the size that varies, n = {n} rows, p = {p} "
    "columns and C = {C} selected columns. CPU seconds of one fit on one core and the peak of the "
    "memory that Python and numpy took for it (a second fit, traced); powers fitted over the "
    "sizes. The paper states O((l + u)^2) for the graph, and O((l + u) D) with D random features "
    "instead. The base model has no C."
)


def measure_fit(model: str, n: int, p: int, budget: int, seed: int) -> tuple[float, float]:
    """CPU seconds and peak megabytes of a fit.

    Parameters
    ----------
    model : str
        One of `MODELS`.
    n, p, budget, seed : int
    """
    data = make_additive_regression(n, n_uninformative=p - 8, n_noisy=0, random_state=seed)
    y = hide_labels(data.y, n_labeled=_N_LABELED, random_state=seed)
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")
        began = time.process_time()
        _estimator(model, budget, seed).fit(data.X, y)
        seconds = time.process_time() - began
        gc.collect()
        tracemalloc.start()
        try:
            _estimator(model, budget, seed).fit(data.X, y)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    return seconds, peak / 2**20


def complexity(
    *,
    grids: Mapping[str, Sequence[int]] = GRIDS,
    models: Sequence[str] = MODELS,
    repeats: int = 3,
    seed: int = 0,
) -> Report:
    """Measure fits along three lines: more rows, more columns, more selected columns.

    Parameters
    ----------
    grids : dict of str to sequence of int
        Sizes of "n", "p" and "C"; p is at least 8.
    models : sequence of str
        Of `MODELS`.
    repeats : int
        Fits per point; the fastest and smallest count, as other work only adds to both.
    seed : int

    Returns
    -------
    Report
    """
    summary: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    curves: list[Curve] = []
    for model in models:
        for name, sizes in grids.items():
            if model == "base f_z" and name == "C":
                continue
            found = []
            for size in sizes:
                point = {**_CENTER, name: size}
                runs = [
                    measure_fit(model, point["n"], point["p"], point["C"], seed + k)
                    for k in range(repeats)
                ]
                found.append([min(values) for values in zip(*runs, strict=True)])
                rows.append({"model": model, **point, "seconds": found[-1][0], "MiB": found[-1][1]})
            seconds, memory = ([float(pair[k]) for pair in found] for k in (0, 1))
            curves.append(Curve(f"CPU seconds against {name}", model, sizes, seconds))
            curves.append(Curve(f"peak MiB against {name}", model, sizes, memory))
            summary.append(
                {
                    "model": model,
                    "along": f"{name} = {sizes[0]} .. {sizes[-1]}",
                    "seconds": f"{seconds[0]:.2f} .. {seconds[-1]:.2f}",
                    "power of seconds": f"{fit_power(sizes, seconds).exponent:.2f}",
                    "MiB": f"{memory[0]:.1f} .. {memory[-1]:.1f}",
                    "power of MiB": f"{fit_power(sizes, memory).exponent:.2f}",
                }
            )
    text = _TEXT.format(**_CENTER)
    return Report("complexity", "Time and memory of a fit", text, summary, rows, curves)


def _estimator(model: str, budget: int, seed: int) -> Any:
    if model == "base f_z":
        return ManifoldAdditiveRegressor()
    if model == "S2MAM":
        return S2MAMRegressor(n_features_to_select=budget, random_state=seed)
    settings = {**PAPER, "max_iter": _PAPER_ITERATIONS, "n_features_to_select": budget}
    if model == _FOURIER:
        settings = {**settings, "basis": "fourier", "graph": "fourier"}
    return S2MAMRegressor(**settings, random_state=seed)
