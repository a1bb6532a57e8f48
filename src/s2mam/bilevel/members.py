"""The additive models that are averaged, all fitted to the same labelled rows.

- *masks*: the posterior average over hard masks, one per view;
- *sharp_masks*: the same by a power of the posterior, for numbers: the few best masks alone;
- *relevance*: the expected mask after one or a few steps from "all columns alike", per view, and
  straight lines of all columns alike;
- *rough*: the same with curves that have kinks and steps, in a view of its own;
- *rough_masks*: rough curves of the columns that the masks believe in, for numbers;
- *common*: one curve for all columns;
- *lines*: straight lines of few columns, for numbers, and through values that are far out;
- *self_training*: lines of all columns, fitted to all rows with the classes they give them;
- *graph*: labels spread along a graph over all rows, then the additive model refitted to all rows;
  one graph uses the columns that depend on each other, the other the learned contributions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from s2mam._typing import FloatArray, IntArray
from s2mam.bilevel.common_curve import common_curve_fits
from s2mam.bilevel.mask_member import MaskSettings, StartMask, find_masks, sample_masks
from s2mam.bilevel.refitting import refit_to_all
from s2mam.bilevel.self_training import self_trained_lines
from s2mam.bilevel.views import View
from s2mam.graphs.build import build_graph
from s2mam.graphs.laplacian import Laplacian
from s2mam.graphs.propagation import propagate
from s2mam.masks.labeled_atoms import AtomFit, LabeledAtoms, labeled_atoms
from s2mam.masks.relevance import relevance_path

__all__ = ["MemberFit", "MemberSettings", "fit_members", "search_masks"]

# (noise, steps) of the relevance members: strong and weak signals, dense and sparser masks. Few
# classes do not bear a strong signal in few columns.
RELEVANCE = {
    "numbers": ((0.3, 1), (0.3, 4), (2.0, 1), (2.0, 4)),
    "classes": ((0.3, 1), (2.0, 1), (2.0, 4)),
}
# The same for the rough members.
_ROUGH = {"numbers": ((0.5, 4), (2.0, 1), (2.0, 4)), "classes": ((2.0, 0), (2.0, 1))}
# The same from the mask probabilities, for numbers, and the least that a column starts with: masks
# find columns better than relevance does, but their curves have no steps. Classes lose by it.
_ROUGH_MASKS, _UNLIKELY = ((0.5, 2), (2.0, 0)), 1e-6
# Noise of the members that are lines of all columns alike: tables where every column says a little
# have nothing to choose and no labels to spare for curves.
_LINES = ((0.1, 0), (1.0, 0))
# Lines of few columns, for numbers: where the truth is a line in a few of them, masks spend labels
# on curves. Classes say too little to choose columns by.
_SPARSE_LINES = ((0.3, 8), (2.0, 8))
# Both through values that are far out: there the tails carry the signal, or nothing does.
_FAR_LINES = ((0.1, 0), (0.3, 8), (2.0, 8))
# The rows may mislead about the columns: the first view believes them, the others only a little,
# and held-out labels decide between them.
_PRIOR_STRENGTH = (1.0, 0.3)
# Noise of the members with one curve for all columns.
_COMMON = (0.3, 2.0)
# The relevance weights that the graph members use as the mask of the refit.
_GRAPH_NOISE, _GRAPH_STEPS = 2.0, 1
# Ridge of the refit to all rows, as a share of the mean eigenvalue.
_REFIT_RIDGE = 0.02
# Masks and relevance are learned from at most so many labelled rows (their cost is cubic); the
# graph members refit the function to all of them.
_MAX_LABELED = 400
# Kinds of graphs that were chosen for their cost, which then holds for both graphs.
_FACTORED = ("anchors", "nystrom", "fourier")
# Contributions are compared in at most so many random directions of so many columns.
_SKETCH, _SKETCH_COLUMNS = 128, 200


@dataclass(frozen=True)
class MemberSettings:
    """What the members need beside the rows.

    Attributes
    ----------
    masks : MaskSettings
        Prior of masks and columns.
    column_graph : Laplacian or None
        Graph over all rows from the columns; None switches both graph members off.
    regression : bool
        Targets are numbers, not class contrasts.
    n_neighbors, alpha
        Of the graphs and the spreading.
    """

    masks: MaskSettings
    column_graph: Laplacian | None
    regression: bool
    n_neighbors: int = 10
    alpha: float = 0.95

    @property
    def task(self) -> str:
        """What the targets are: "numbers" or "classes"."""
        return "numbers" if self.regression else "classes"

    def prior(self, view: int) -> MaskSettings:
        """Prior of the columns as one view believes it."""
        strength = _PRIOR_STRENGTH[min(view, 1)]
        masks = self.masks
        return replace(masks, odds=strength * masks.odds, weights=masks.weights**strength)


@dataclass(frozen=True)
class MemberFit:
    """One fitted member.

    Attributes
    ----------
    name : str
        "masks", "sharp_masks", "relevance", "lines", "rough", "rough_masks", "common",
        "self_training" or "graph".
    view : int
        The view its coefficients belong to.
    fit : AtomFit
        The additive model.
    probabilities : (p,) array or None
        Mask probabilities, for "masks".
    path : (steps, 2) array or None
        Log-posterior and size along the run, for "masks".
    evidence : float
        Log-evidence of the masks, for "masks" and "sharp_masks"; else zero.
    """

    name: str
    view: int
    fit: AtomFit
    probabilities: FloatArray | None = None
    path: FloatArray | None = None
    evidence: float = 0.0


def search_masks(
    views: Sequence[View],
    rows: IntArray,
    target: FloatArray,
    weights: FloatArray,
    settings: MemberSettings,
    *,
    thorough: bool,
    rng: np.random.Generator,
) -> list[StartMask]:
    """Modes of the mask posterior given the labelled rows, in all views.

    Parameters
    ----------
    views, rows, target, weights, settings, rng
        As in `fit_members`.
    thorough : bool
        Whether to start from many places.

    Returns
    -------
    list of StartMask
    """
    few = _thin(rows.size, rng)
    found: list[StartMask] = []
    for index, view in enumerate(views):
        if view.role != "masks":
            continue
        straight, curved = view.atoms.straight, view.atoms.curved
        atoms = labeled_atoms(straight, curved, rows[few], target[few], weights[few])
        prior, deep = settings.prior(index), settings.regression
        found.extend(find_masks(atoms, prior, thorough=thorough, deep=deep))
    return found


def fit_members(
    views: Sequence[View],
    rows: IntArray,
    target: FloatArray,
    weights: FloatArray,
    settings: MemberSettings,
    *,
    pool: Sequence[StartMask],
    steps: int,
    rng: np.random.Generator,
) -> list[MemberFit]:
    """Fit every member to the given labelled rows.

    Parameters
    ----------
    views : sequence of View
        The views; the first one carries the graph members.
    rows : (l,) array of int
        Labelled rows.
    target : (l, k) array
        Their targets.
    weights : (l,) array
        Their weights, as numbers of copies.
    settings : MemberSettings
        Priors and graphs.
    pool : sequence of StartMask
        Masks the sampler may start from, see `search_masks`.
    steps : int
        Jumps of the mask sampler per view.
    rng : Generator
        Source of all randomness.

    Returns
    -------
    list of MemberFit
        In an order that does not depend on the rows.
    """
    members: list[MemberFit] = []
    few = _thin(rows.size, rng)
    for index, view in enumerate(views):
        prior = settings.prior(index)
        straight, curved = view.atoms.straight, view.atoms.curved
        atoms = labeled_atoms(straight, curved, rows[few], target[few], weights[few])
        if view.role == "rough":
            members.extend(_relevance_members(atoms, "rough", index, prior, _ROUGH[settings.task]))
            if settings.regression:
                by_masks = replace(prior, weights=_mean_probabilities(members))
                members.extend(
                    _relevance_members(atoms, "rough_masks", index, by_masks, _ROUGH_MASKS)
                )
            continue
        if view.role == "far":
            members.extend(_relevance_members(atoms, "lines", index, prior, _FAR_LINES, 0.0))
            continue
        members.extend(_mask_members(atoms, index, prior, settings.regression, pool, steps, rng))
        kept = RELEVANCE[settings.task]
        members.extend(_relevance_members(atoms, "relevance", index, prior, kept))
        if index == 0:
            members.extend(_relevance_members(atoms, "relevance", index, prior, _LINES, 0.0))
            members.extend(_common_members(atoms, view, index, prior))
            if settings.regression:
                sparse = _relevance_members(atoms, "lines", index, prior, _SPARSE_LINES, 0.0)
                members.extend(sparse)
    if settings.column_graph is not None:
        if not settings.regression:
            believed = settings.masks.weights
            lines = self_trained_lines(views[0].atoms, believed, rows, target, weights)
            members.append(MemberFit("self_training", 0, lines))
        members.extend(_graph_members(views[0], rows, target, weights, settings, rng))
    return members


def _mask_members(
    atoms: LabeledAtoms,
    index: int,
    prior: MaskSettings,
    sharp: bool,
    pool: Sequence[StartMask],
    steps: int,
    rng: np.random.Generator,
) -> list[MemberFit]:
    """The average over masks, and the sharp one where it is asked for."""
    average = sample_masks(atoms, prior, pool, steps=steps, rng=rng, sharp=sharp)
    path = np.column_stack([average.log_posterior, average.size])
    evidence = average.evidence
    members = [MemberFit("masks", index, average.fit, average.probabilities, path, evidence)]
    if average.sharp is not None:
        members.append(MemberFit("sharp_masks", index, average.sharp, evidence=evidence))
    return members


def _mean_probabilities(members: Sequence[MemberFit]) -> FloatArray:
    """Mask probabilities, averaged over the views, as weights of columns."""
    known = [one.probabilities for one in members if one.probabilities is not None]
    mean: FloatArray = np.mean(known, axis=0)
    return np.maximum(mean, _UNLIKELY)


def _relevance_members(
    atoms: LabeledAtoms,
    name: str,
    index: int,
    settings: MaskSettings,
    kept: Sequence[tuple[float, int]],
    curve_share: float = 0.3,
) -> list[MemberFit]:
    """One member per noise and number of steps in ``kept``; lines alone without curve share."""
    members = []
    p = atoms.n_columns
    for noise in dict.fromkeys(noise for noise, _ in kept):
        keep = [steps for other, steps in kept if other == noise]
        path = relevance_path(
            atoms, settings.weights, noise=noise, keep=keep, curve_share=curve_share
        )
        for steps in keep:
            weights, dual = path[steps]
            fit = atoms.expand(weights[:p], weights[p:], dual)
            members.append(MemberFit(name, index, fit))
    return members


def _common_members(
    atoms: LabeledAtoms, view: View, index: int, prior: MaskSettings
) -> list[MemberFit]:
    """Members with one curve for all columns."""
    common = view.atoms.common
    assert common is not None  # the first view has columns in parts
    fits = common_curve_fits(atoms, common, prior.weights, _COMMON)
    return [MemberFit("common", index, fit) for fit in fits]


def _graph_members(
    view: View,
    rows: IntArray,
    target: FloatArray,
    weights: FloatArray,
    settings: MemberSettings,
    rng: np.random.Generator,
) -> list[MemberFit]:
    straight, curved = view.atoms.straight, view.atoms.curved
    few = _thin(rows.size, rng)
    atoms = labeled_atoms(straight, curved, rows[few], target[few], weights[few])
    p = atoms.n_columns
    path = relevance_path(atoms, settings.masks.weights, noise=_GRAPH_NOISE, keep=[_GRAPH_STEPS])
    relevance, dual = path[_GRAPH_STEPS]
    supervised = atoms.expand(relevance[:p], relevance[p:], dual)
    contributions = _contribution_sketch(view, supervised, rng)
    assert settings.column_graph is not None
    # Contributions have few directions: the dense kinds gain nothing there over neighbours.
    kind = settings.column_graph.kind if settings.column_graph.kind in _FACTORED else "neighbors"
    contribution_graph = build_graph(
        contributions, kind=kind, n_neighbors=settings.n_neighbors, warn=False
    )
    spreads = [
        _spread_labels(graph, rows, target, weights, settings)
        for graph in (settings.column_graph, contribution_graph)
    ]
    fits = refit_to_all(view.atoms, relevance, spreads, ridge=_REFIT_RIDGE)
    return [MemberFit("graph", 0, fit) for fit in fits]


def _spread_labels(
    graph: Laplacian,
    rows: IntArray,
    target: FloatArray,
    weights: FloatArray,
    settings: MemberSettings,
) -> tuple[FloatArray, FloatArray]:
    """Targets and counts of all rows: unlabelled ones count once where a label reaches them."""
    mean = (weights / weights.sum()) @ target
    seeds = np.zeros((graph.n, target.shape[1] + 1))
    np.add.at(seeds, rows, np.column_stack([weights[:, None] * (target - mean), weights]))
    spread = propagate(graph, seeds, alpha=settings.alpha)
    values, mass = spread[:, :-1], spread[:, -1]
    reached = (mass > 1e-8 * max(float(mass.max()), 1e-300)).astype(np.float64)
    if settings.regression:
        values = values / np.where(reached > 0, mass, 1.0)[:, None]
    else:
        # Only the side of the boundary counts: near and far rows of a cluster are equally sure.
        size = np.linalg.norm(values, axis=1, keepdims=True)
        typical = float(np.average(np.linalg.norm(target - mean, axis=1), weights=weights))
        values = typical * values / np.where(size > 1e-300, size, 1.0)
    values = np.where(reached[:, None] > 0, values, 0.0)
    values[rows] = target - mean
    reached[rows] = 0.0
    np.add.at(reached, rows, weights)
    return values + mean, reached


def _contribution_sketch(view: View, fit: AtomFit, rng: np.random.Generator) -> FloatArray:
    """Rows in the space of what the columns contribute to the decision."""
    size = np.square(fit.straight).sum(axis=1) + np.square(fit.curved).sum(axis=(1, 2))
    columns = np.argsort(-size, kind="stable")[:_SKETCH_COLUMNS]
    straight, curved = view.atoms.straight, view.atoms.curved
    k = fit.straight.shape[1]
    project = columns.size * k > 2 * _SKETCH
    sketch = np.zeros((straight.shape[0], _SKETCH if project else columns.size * k))
    for position, j in enumerate(columns):
        part = np.outer(straight[:, j], fit.straight[j]) + curved[j] @ fit.curved[j]
        if project:
            sketch += part @ (rng.standard_normal((k, _SKETCH)) / np.sqrt(_SKETCH))
        else:
            sketch[:, position * k : (position + 1) * k] = part
    return sketch


def _thin(count: int, rng: np.random.Generator) -> IntArray:
    """Positions of the labelled rows that masks and relevance are learned from."""
    if count <= _MAX_LABELED:
        return np.arange(count)
    return np.sort(rng.choice(count, _MAX_LABELED, replace=False))
