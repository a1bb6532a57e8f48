"""The picture of the demo: which columns, and the shape of each one's effect."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from s2mam._demo.example import Example
from s2mam.exceptions import MissingDependencyError
from s2mam.inspection import ComponentDisplay, MaskDisplay, component_curves

if TYPE_CHECKING:
    from s2mam.estimators import S2MAMClassifier

__all__ = ["draw"]

_PANELS = 6


def draw(model: S2MAMClassifier, example: Example, path: str | os.PathLike[str]) -> list[str]:
    """Draw mask probabilities and the component functions of the columns that matter most.

    Parameters
    ----------
    model : S2MAMClassifier
        Fitted on the example.
    example : Example
        Its rows.
    path : str or path-like
        File to write; its ending says the format.

    Returns
    -------
    list of str
        The columns whose functions are shown: selected ones first, then by effect.

    Raises
    ------
    MissingDependencyError
        Without matplotlib.
    """
    try:
        from matplotlib.figure import Figure  # without pyplot: no screen is needed
    except ImportError as error:
        raise MissingDependencyError(
            "The picture needs matplotlib; install it with: pip install 's2mam[plot]'."
        ) from error
    curves = component_curves(
        model, example.X, columns=range(example.real.size), feature_names=example.names
    )
    effects = np.array([curve.effect for curve in curves])
    order = np.lexsort((-effects, ~model.support_))[:_PANELS]
    display = ComponentDisplay(
        [curves[j] for j in order], np.array([f"cultivar {c + 1}" for c in model.classes_])
    )
    figure = Figure(figsize=(11.0, 5.0), layout="constrained")
    grid = figure.add_gridspec(2, 4, width_ratios=(1.15, 1, 1, 1))
    first = figure.add_subplot(grid[0, 1])
    panels = [first]
    for k in range(1, _PANELS):
        panels.append(figure.add_subplot(grid[k // 3, 1 + k % 3], sharey=first))
    MaskDisplay.from_estimator(
        model, feature_names=example.names, max_columns=16, ax=figure.add_subplot(grid[:, 0])
    )
    display.plot(ax=panels)
    legend = first.get_legend()
    if legend is not None:
        legend.remove()  # one for the whole figure takes its place
    figure.legend(
        *first.get_legend_handles_labels(),
        loc="outside upper right",
        ncols=3,
        frameon=False,
        fontsize="small",
        handlelength=2.6,
    )
    for axis in (panels[0], panels[3]):
        axis.set_ylabel("adds to the score of the cultivar", fontsize="small")
    figure.suptitle(_title(example), fontsize="medium", x=0.01, horizontalalignment="left")
    figure.savefig(path, dpi=100)
    return [curve.name for curve in display.curves]


def _title(example: Example) -> str:
    n_real = int(example.real.sum())
    return (
        f"{int(example.labeled.sum())} labelled wines among {len(example.y)}, "
        f"{n_real} measurements and {example.real.size - n_real} junk columns"
    )
