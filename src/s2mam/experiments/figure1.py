"""Decision curves and surfaces on two moons, without and with a noisy column (Figure 1)."""

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
from s2mam.inspection.isosurface import level_surface

__all__ = ["draw_curves", "draw_surfaces"]

# As in the paper's figure; untuned, as one label a class leaves nothing to tune by, LapSVM is
# spoiled without the noisy column, too.
_SHOWN = ("LapSVM (moons)", "S2MAM")
# In space: on columns as they are LapSVM knows little but the rows themselves, and has no surface.
_SHOWN_IN_SPACE = ("LapSVM (moons, scaled)", "S2MAM")
_RESOLUTION = 80
# Values along each of three axes.
_NODES = 24


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
    chosen = _chosen(protocol, systems, _SHOWN)
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


def draw_surfaces(
    protocol: Protocol, path: str | os.PathLike[str], systems: Sequence[str] | None = None
) -> Path | None:
    """Draw the surface that parts the classes over three columns, the noisy one among them.

    A system that does not use the noisy column has a surface that stands upright along its axis.

    Parameters
    ----------
    protocol, path, systems
        As for :func:`draw_curves`; by default the columns of LapSVM are scaled.

    Returns
    -------
    Path or None
        None when no setting has a third column.
    """
    plt = _pyplot()
    seeds = draw_seeds(protocol.seed, 0)
    drawn = [(setting, draw_problem(setting, seeds)) for setting in protocol.settings]
    noisy = [(setting, problem) for setting, problem in drawn if problem.X.shape[1] == 3]
    if not noisy:
        return None
    setting, problem = noisy[0]
    chosen = _chosen(protocol, systems, _SHOWN_IN_SPACE)
    figure, axes = plt.subplots(
        1,
        len(chosen),
        figsize=(4.4 * len(chosen), 4.2),
        squeeze=False,
        subplot_kw={"projection": "3d"},
    )
    for axis, system in zip(axes[0], chosen, strict=True):
        model = _fitted(system, problem, seeds.fit, protocol.budget, setting.scale)
        _space(axis, model, problem)
        axis.set_title(f"{system.name}, {setting.name}")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return Path(path)


def _chosen(
    protocol: Protocol, systems: Sequence[str] | None, usual: Sequence[str]
) -> list[System]:
    names = systems or [name for name in usual if name in protocol.systems] or ["S2MAM"]
    return [find_system(name) for name in names]


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


def _space(axis: Any, model: Any, problem: Problem) -> None:
    X, hidden = problem.X, problem.hidden
    ends = zip(X.min(axis=0), X.max(axis=0), strict=True)
    grids = tuple(np.linspace(low, high, _NODES) for low, high in ends)
    nodes = np.column_stack([part.ravel() for part in np.meshgrid(*grids, indexing="ij")])
    triangles = level_surface(grids, _surface(model, nodes).reshape(3 * (_NODES,)), 0.0)
    if len(triangles):
        corners = np.arange(3 * len(triangles)).reshape(-1, 3)
        x, y, z = triangles.reshape(-1, 3).T
        axis.plot_trisurf(x, y, z, triangles=corners, color="C7", alpha=0.45, linewidth=0)
    axis.scatter(*X[hidden].T, c="0.45", s=6, alpha=0.6)
    axis.scatter(*X[~hidden].T, c=problem.y[~hidden], cmap="bwr", s=90, marker="D", ec="black")
    axis.set(xlabel="x1", ylabel="x2", zlabel="X_n")


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
