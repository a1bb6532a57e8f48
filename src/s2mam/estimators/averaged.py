"""The default learner behind the estimators: the average over masks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from s2mam._typing import FloatArray, IntArray
from s2mam.bases.curves import LazyCurves, column_chunks
from s2mam.bilevel.averaging import (
    AveragedModel,
    AverageOptions,
    LabeledRows,
    Store,
    average_members,
)
from s2mam.bilevel.mask_member import MaskSettings
from s2mam.bilevel.members import MemberSettings
from s2mam.bilevel.views import View, build_far_view, build_rough_view, build_view
from s2mam.bilevel.watch import Watch
from s2mam.estimators.calibration import calibrate
from s2mam.estimators.far_values import squeeze
from s2mam.estimators.fitted import Fitted
from s2mam.estimators.model import AdditiveModel, AdditivePart
from s2mam.estimators.rows import TrainingRows
from s2mam.exceptions import DegenerateGraphWarning
from s2mam.graphs import Laplacian, automatic_kind, build_graph
from s2mam.graphs.diagnostics import degeneracy_message
from s2mam.intake import TableReader
from s2mam.intake.notices import warn_user
from s2mam.masks.dependence import column_dependence
from s2mam.masks.mask_prior import size_prior

__all__ = ["AverageSettings", "fit_average"]

# Kernel length in spreads of a column, and the longer one that half of a curve has in the first
# view: most curves are a bend, and few labels are better spent on it than on wiggles.
_LENGTH, _LONGER = 1.5, (4.5,)
# Where no column is likely by itself, those with at least this share of the largest contribution
# are named.
_MAIN_SHARE = 0.5
# Prior log-odds and prior weight of a column that depends on no other while others do.
_INDEPENDENT_ODDS, _INDEPENDENT_WEIGHT = -3.0, 0.1


@dataclass(frozen=True)
class AverageSettings:
    """Settings of the average over masks.

    Attributes
    ----------
    budget : int or None
        Number of columns asked for.
    use_graph : bool
        Whether unlabelled rows may shape the function through graphs.
    graph_kind, bandwidth
        Of the graph over the columns.
    basis : str
        See :func:`s2mam.bases.build_design`.
    max_iter : int or None
        Jumps of the mask sampler per view.
    n_jobs, seed, store, watch
        See :func:`s2mam.bilevel.averaging.average_members`.
    """

    budget: int | None
    use_graph: bool
    graph_kind: str
    bandwidth: float | str
    max_iter: int | None
    n_jobs: int | None
    seed: int
    store: Store | None
    watch: Watch
    basis: str = "kernel"


def fit_average(rows: TrainingRows, settings: AverageSettings) -> Fitted:
    """Fit the averaged model.

    Parameters
    ----------
    rows : TrainingRows
        The rows.
    settings : AverageSettings
        The settings.

    Returns
    -------
    Fitted
    """
    # On the second scale columns enter masks in one piece: where the parts of a column mislead the
    # search or the average, the whole often does not.
    views = [
        build_view(
            table,
            rows.kinds,
            length=_LENGTH,
            longer=_LONGER if index == 0 else (),
            whole=index > 0,
            basis=settings.basis,
            seed=settings.seed,
            n_labeled=rows.n_labeled,
            all_rows=settings.use_graph and index == 0,
        )
        for index, table in enumerate(rows.tables)
    ]
    views.append(
        build_rough_view(
            rows.tables[-1], rows.kinds, basis=settings.basis, n_labeled=rows.n_labeled
        )
    )
    readers = [*rows.readers, rows.readers[-1]]  # the rough view reads the table as the last one
    far = squeeze(rows.readers[0], rows.tables[0]) if rows.classes is None else None
    if far is not None:
        readers.append(far[0])
        views.append(build_far_view(far[1], rows.kinds, n_labeled=rows.n_labeled))
    p = len(rows.kinds)
    rng = np.random.default_rng([settings.seed, 3])
    dependence = column_dependence(views[0].table, rng)
    target, center, spread = _targets(rows)
    odds, weights = _column_prior(dependence)
    members = MemberSettings(
        masks=MaskSettings(size_prior(p, settings.budget), odds, weights, settings.budget),
        column_graph=_column_graph(views[0], dependence, rows, settings),
        regression=rows.classes is None,
    )
    options = AverageOptions(n_jobs=settings.n_jobs)
    if settings.max_iter is not None:
        options = AverageOptions(
            steps=settings.max_iter,
            fold_steps=max(1, settings.max_iter // 4),
            n_jobs=settings.n_jobs,
        )
    codes: IntArray | None = None if rows.classes is None else rows.target
    averaged = average_members(
        views,
        LabeledRows(rows.labeled, target, rows.weights, codes),
        members,
        options,
        seed=settings.seed,
        store=settings.store,
        watch=settings.watch,
    )
    model = _to_model(readers, views, averaged)
    if codes is None:
        model = model.scaled(spread, center)
    else:
        model = model.scaled(*_calibration(averaged.held_out, codes, rows.weights))
    shares = _contribution_shares(views, averaged)
    return _publish(model, averaged, dependence, shares, settings.budget)


def _column_prior(dependence: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Prior log-odds and prior weights of the columns from their dependence on each other.

    Where independent columns are in the majority, each of them is less likely still, so that all of
    them together weigh at most a tenth of the dependent ones.
    """
    independent = 1.0 - dependence
    share = min(1.0, float(dependence.sum()) / max(float(independent.sum()), 1e-12))
    odds: FloatArray = (_INDEPENDENT_ODDS + np.log(share)) * independent
    weights: FloatArray = dependence + _INDEPENDENT_WEIGHT * share * independent
    return odds, weights


def _targets(rows: TrainingRows) -> tuple[FloatArray, float, float]:
    """Targets (l, k) of unit scale, and what puts predictions back on the user's scale."""
    if rows.classes is None:
        share = rows.weights / rows.weights.sum()
        center = float(share @ rows.target)
        spread = float(np.sqrt(share @ (rows.target - center) ** 2)) or 1.0
        return ((rows.target - center) / spread)[:, None], center, spread
    one_hot = np.eye(rows.classes.size)[rows.target]
    if rows.classes.size == 2:
        return 2.0 * one_hot[:, 1:] - 1.0, 0.0, 1.0
    return one_hot, 0.0, 1.0


def _calibration(
    held_out: FloatArray | None, codes: IntArray, weights: FloatArray
) -> tuple[float, float]:
    """Slope and shift from the rows that were held out; a stopped fit may not have got to all."""
    if held_out is None or not np.isnan(held_out).any():
        return calibrate(held_out, codes, weights)
    known = ~np.isnan(held_out[:, 0])
    return calibrate(held_out[known], codes[known], weights[known])


def _column_graph(
    view: View, dependence: FloatArray, rows: TrainingRows, settings: AverageSettings
) -> Laplacian | None:
    n = view.table.shape[0]
    if not settings.use_graph or n - rows.n_labeled < 5 or not np.ptp(view.atoms.straight):
        return None
    kind = settings.graph_kind
    if kind == "auto":
        kind = automatic_kind(n, dense=False)
    graph = build_graph(
        view.table,
        dependence,
        kinds=rows.kinds,
        kind=kind,
        bandwidth=settings.bandwidth,
        n_neighbors=min(10, n - 1),
        warn=False,
        seed=settings.seed,
    )
    if graph.degenerate is not None and not isinstance(settings.bandwidth, str):
        warn_user(degeneracy_message(graph.degenerate, graph.bandwidth), DegenerateGraphWarning)
    return graph


def _to_model(
    readers: list[TableReader], views: list[View], averaged: AveragedModel
) -> AdditiveModel:
    parts = []
    intercept = np.zeros(averaged.fits[0].intercept.size)
    for reader, view, fit in zip(readers, views, averaged.fits, strict=True):
        coef = view.atoms.coefficients(view.design, fit.straight, fit.curved)
        parts.append(AdditivePart(reader, view.design.without_rows(), coef))
        intercept = intercept + fit.intercept
    return AdditiveModel(tuple(parts), intercept, clip=True)


def _contribution_shares(views: list[View], averaged: AveragedModel) -> FloatArray:
    """Share of each column in the variance of the decision over all rows."""
    n, p = views[0].table.shape
    shares = np.zeros(p)
    outputs = averaged.fits[0].intercept.size
    for columns in column_chunks(p, n * 8):
        bends = [_curves_of(view, columns) for view in views]
        for at, j in enumerate(columns):
            part = np.zeros((n, outputs))
            for view, fit, curved in zip(views, averaged.fits, bends, strict=True):
                part += np.outer(view.atoms.straight[:, j], fit.straight[j])
                part += curved[at] @ fit.curved[j]
            shares[j] = part.var(axis=0).sum()
    total = float(shares.sum())
    return shares / total if total > 0 else shares


def _curves_of(view: View, columns: IntArray) -> FloatArray:
    curved = view.atoms.curved
    if isinstance(curved, LazyCurves):
        return curved.of_columns(columns)
    return curved[columns[0] : columns[-1] + 1]


def _publish(
    model: AdditiveModel,
    averaged: AveragedModel,
    dependence: FloatArray,
    shares: FloatArray,
    budget: int | None,
) -> Fitted:
    probabilities = np.clip(averaged.probabilities, 0.0, 1.0)  # a mean of ones may round above
    if budget is None:
        support = probabilities > 0.5
        if not support.any():
            # No column is likely on its own: name those that the prediction rests on most.
            support = shares >= _MAIN_SHARE * shares.max()
    else:
        support = np.zeros(probabilities.size, dtype=bool)
        support[np.argsort(-probabilities, kind="stable")[:budget]] = True
    history = {
        "criterion": (-averaged.path[:, 0]).tolist(),
        "budget": averaged.path[:, 1].tolist(),
    }
    weights: dict[str, float] = {}
    for name, weight in zip(averaged.names, averaged.weights, strict=True):
        weights[name] = weights.get(name, 0.0) + float(weight)
    chosen: dict[str, Any] = {
        "member_weights": weights,
        "dependence": dependence,
        "contribution_shares": shares,
    }
    reason = averaged.stop_reason or "max_iter"
    return Fitted(model, probabilities, support, history, reason, chosen)
