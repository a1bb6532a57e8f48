"""Excess risk on additive regression against the numbers of labelled and unlabelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from s2mam.datasets import hide_labels, make_additive_regression
from s2mam.estimators import ManifoldAdditiveRegressor, S2MAMRegressor
from s2mam.experiments.summary import moments
from s2mam.experiments.theory.rates import best_theta, fit_power
from s2mam.experiments.theory.report import Curve, Report

__all__ = ["MODELS", "excess_risk", "generalization"]

# The Gaussian kernel has all derivatives; r = 1/2 is the most regular target of the theorem.
_REGULARITY, _SMOOTHNESS = 0.5, float("inf")
_N_TEST = 2000
MODELS = ("base f_z, theorem's penalties", "base f_z", "S2MAM")


def excess_risk(model: str, n_labeled: int, n_unlabeled: int, n_junk: int, seed: int) -> float:
    """Mean squared distance to the regression function on new rows, over its variance.

    Parameters
    ----------
    model : str
        One of `MODELS`.
    n_labeled, n_unlabeled : int
        Training rows.
    n_junk : int
        Junk columns beside the eight informative ones.
    seed : int
    """
    n = n_labeled + n_unlabeled
    data = make_additive_regression(
        n + _N_TEST, n_uninformative=n_junk, n_noisy=0, random_state=seed
    )
    y = hide_labels(data.y[:n], n_labeled=n_labeled, random_state=seed)
    center, spread = float(np.nanmean(y)), float(np.nanstd(y))
    fitted = _estimator(model, n, seed).fit(data.X[:n], (y - center) / spread)
    predicted = fitted.predict(data.X[n:]) * spread + center
    clean = data.y_clean[n:]
    return float(np.mean((predicted - clean) ** 2) / clean.var())


def generalization(
    *,
    labeled: Sequence[int] = (25, 50, 100, 200, 400),
    unlabeled: Sequence[int] = (50, 100, 200, 400, 800),
    models: Sequence[str] = MODELS,
    n_junk: int = 12,
    repeats: int = 10,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Report:
    """Measure the excess risk along two lines: more labelled rows, more unlabelled rows.

    Parameters
    ----------
    labeled, unlabeled : sequence of int
        Sizes along each line; the other size stays at the middle one.
    models : sequence of str
        Of `MODELS`.
    n_junk, repeats, seed : int
    n_jobs : int or None
        Fits side by side.

    Returns
    -------
    Report
    """
    middle = labeled[len(labeled) // 2], unlabeled[len(unlabeled) // 2]
    lines = {
        "l": [(size, middle[1]) for size in labeled],
        "u": [(middle[0], size) for size in unlabeled],
    }
    points = sorted(
        {(model, *sizes) for model in models for ends in lines.values() for sizes in ends}
    )
    works = [(*point, repeat) for point in points for repeat in range(repeats)]
    risks = Parallel(n_jobs=n_jobs)(
        delayed(excess_risk)(model, few, more, n_junk, seed + repeat)
        for model, few, more, repeat in works
    )
    found = {
        point: moments(risks[k * repeats : (k + 1) * repeats]) for k, point in enumerate(points)
    }
    rows = [
        {"model": model, "l": few, "u": more, "excess_risk": value.mean, "sd": value.sd}
        for (model, few, more), value in found.items()
    ]
    summary, curves = [], []
    for model in models:
        for name, sizes in lines.items():
            x = [float(few if name == "l" else more) for few, more in sizes]
            y = [found[model, few, more].mean for few, more in sizes]
            power = fit_power(x, y)
            curves.append(Curve(f"excess risk against {name}", model, x, y))
            summary.append(_summary_row(model, name, sizes, y, power.exponent, power.error))
    return Report(
        "generalization", "Excess risk on additive regression", _text(), summary, rows, curves
    )


def _summary_row(
    model: str, name: str, sizes: list[tuple[int, int]], risks: list[float], *power: float
) -> dict[str, Any]:
    other = f"u = {sizes[0][1]}" if name == "l" else f"l = {sizes[0][0]}"
    ends = [size[0 if name == "l" else 1] for size in (sizes[0], sizes[-1])]
    return {
        "model": model,
        "along": f"{name} = {ends[0]} .. {ends[1]}, {other}",
        "risk at the start": risks[0],
        "at the end": risks[-1],
        "power of the size": f"{power[0]:.2f}",
        "its error": f"{power[1]:.2f}",
    }


def _estimator(model: str, n: int, seed: int) -> Any:
    if model == "S2MAM":
        return S2MAMRegressor(random_state=seed)
    if model == "base f_z":
        return ManifoldAdditiveRegressor()
    delta, _ = best_theta(_REGULARITY, _SMOOTHNESS)
    sparsity = n**-delta
    return ManifoldAdditiveRegressor(sparsity=sparsity, manifold=sparsity ** (1 - _REGULARITY))


def _text() -> str:
    delta, theta = best_theta(_REGULARITY, _SMOOTHNESS)
    return (
        "Mean squared distance to the true regression function on new rows, divided by its "
        "variance. The paper bounds it by a constant times p ((l + u)^-Theta + l^-1/2), with "
        "Theta = min{Delta r, 1 + Delta (r - 1), Delta (5r/2 - 3/2) + 1/2, 2 / (2 + zeta), "
        f"3/2 - Delta r, 1/2}}. For r = 1/2 and the Gaussian kernel (zeta = 0) it is largest at "
        f"Delta = {delta:.2f}: Theta = {theta:.2f}. So the bound falls with l as l^-1/2 at best, "
        "and stops falling with u once l^-1/2 is the larger term; measured powers of l below -0.5 "
        "are faster than the bound. 'theorem's penalties' are lambda_1 = (l + u)^-Delta and "
        "lambda_2 = lambda_1^(1 - r); the other models choose theirs from the labels."
    )
