"""Decision curves on two moons, without and with a noisy column (Figure 1)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from s2mam._typing import FloatArray
from s2mam.exceptions import MissingDependencyError
from s2mam.experiments.problem import Problem, draw_problem, draw_seeds
from s2mam.experiments.protocol import Protocol
from s2mam.experiments.systems import System, find_system

__all__ = ["draw_curves"]

# As in the paper's figure; untuned, as one label a class leaves nothing to tune by, LapSVM is
# spoiled without the noisy column, too.
_SHOWN = ("LapSVM (moons)", "S2MAM")
_RESOLUTION = 80


def draw_curves(
    protocol: Protocol, path: str | os.PathLike[str], systems: Sequence[str] | None = None
) -> Path:
    """Draw where each system parts the classes, one row per system and one column per setting.

    The plane is that of the first two columns; a third one is held at its median.

    Parameters
    ----------
    protocol : Protocol
        Of two moons; its first repeat is drawn.
    path : path
        Picture to write.
    systems : sequence of str, optional
        By default LapSVM, with settings for moons, and S2MAM, as far as the protocol names them.

    Returns
    -------
    Path
    """
    plt = _pyplot()
    names = systems or [name for name in _SHOWN if name in protocol.systems] or ["S2MAM"]
    chosen = [find_system(name) for name in names]
    figure, axes = plt.subplots(
        len(chosen),
        len(protocol.settings),
        figsize=(4 * len(protocol.settings), 3 * len(chosen)),
        squeeze=False,
        sharex=True,
        sharey=True,
    )
    seeds = draw_seeds(protocol.seed, 0)
    for k, setting in enumerate(protocol.settings):
        problem = draw_problem(setting, seeds)
        for row, system in enumerate(chosen):
            model = _fitted(system, problem, seeds.fit, protocol.budget, setting.scale)
            accuracy = np.mean(model.predict(problem.X_test) == problem.y_test)
            _panel(axes[row, k], model, problem)
            axes[row, k].set_title(f"{system.name}, {setting.name}: {100 * accuracy:.0f} % on test")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return Path(path)


def _fitted(
    system: System, problem: Problem, seed: int, budget: int | None, scale: str | None
) -> Any:
    from s2mam.experiments.tuning import Tuned

    model = system.build("classification", seed=seed, scale=scale, budget=budget)
    grid = system.tuning_grid("classification")
    if grid:
        model = Tuned(model, grid, random_state=seed)
    return model.fit(problem.X, problem.y)


def _panel(axis: Any, model: Any, problem: Problem) -> None:
    X, hidden = problem.X, problem.hidden
    low, high = X[:, :2].min(axis=0) - 0.3, X[:, :2].max(axis=0) + 0.3
    first, second = (np.linspace(a, b, _RESOLUTION) for a, b in zip(low, high, strict=True))
    plane = np.column_stack([part.ravel() for part in np.meshgrid(first, second)])
    rows = np.tile(np.median(X, axis=0), (plane.shape[0], 1))
    rows[:, :2] = plane
    surface = _surface(model, rows).reshape(_RESOLUTION, _RESOLUTION)
    spread = float(np.abs(surface).max()) or 1.0
    axis.contourf(
        first, second, surface, levels=20, cmap="RdBu_r", alpha=0.5, vmin=-spread, vmax=spread
    )
    if surface.min() < 0 < surface.max():
        axis.contour(first, second, surface, levels=[0.0], colors="black", linewidths=1.5)
    axis.scatter(*X[hidden, :2].T, c="0.45", s=8)
    axis.scatter(*X[~hidden, :2].T, c=problem.y[~hidden], cmap="bwr", s=90, marker="D", ec="black")


def _surface(model: Any, rows: FloatArray) -> FloatArray:
    """Decision values, or signs for a model that gives none."""
    inner = getattr(model, "best_estimator_", model)
    if hasattr(inner, "decision_function"):
        return np.asarray(inner.decision_function(rows), dtype=np.float64)
    return np.where(np.asarray(inner.predict(rows)) == 1, 1.0, -1.0)


def _pyplot() -> Any:
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingDependencyError(
            "Pictures need matplotlib; install it with: pip install 's2mam[plot]'."
        ) from error
    return plt
