"""Fits on rows that are read block by block: learn from a sample, correct by sums over all rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from s2mam._typing import FloatArray, IntArray
from s2mam.bases.design import Design
from s2mam.estimators.blockwise import by_blocks, model_evaluator
from s2mam.estimators.calibration import calibrate
from s2mam.estimators.fitted import Fitted
from s2mam.estimators.model import AdditiveModel, AdditivePart
from s2mam.estimators.progress import FitWatch
from s2mam.estimators.rows import TrainingRows, read_rows
from s2mam.estimators.single import SingleSettings, build_lower, refit
from s2mam.exceptions import InvalidInputError
from s2mam.scale.anchors import build_anchors
from s2mam.scale.blocks import RowSource
from s2mam.scale.encoding import ColumnEncoder
from s2mam.scale.executors import sum_blocks
from s2mam.scale.features import feature_map
from s2mam.scale.graph_sums import GraphPass
from s2mam.scale.lower import streamed_level
from s2mam.scale.moments import LabelCoder, MomentPass
from s2mam.scale.opening import is_dask, is_path, open_rows
from s2mam.scale.options import current_options
from s2mam.scale.refit import Correction, fit_correction
from s2mam.scale.sampling import RowSample
from s2mam.scale.survey import Survey, SurveyPlan, correct_ranges
from s2mam.scale.tables import is_tensor, to_host

__all__ = ["Stream", "open_stream"]

# Labelled rows beyond those of the search, below which there is nothing to correct with.
_FEWEST = 200
# Of these, at most so many are held in memory to calibrate the scale of classes.
_CALIBRATION = 2_000
_FOLDS = 5
# Columns with less probability than this take no part in the correction.
_UNLIKELY = 1e-3


@dataclass(frozen=True)
class Stream:
    """Rows of a fit that are read block by block.

    Attributes
    ----------
    source : RowSource
    survey : Survey
        What the first pass found.
    rows : TrainingRows
        The sampled rows, as any fit reads them.
    searched : array of int
        Numbers of the labelled rows among them, sorted.
    spare : RowSample
        Labelled rows that are held but not among them.
    unlabeled
        The user's marker.
    seed : int
    n_jobs : int or None
    """

    source: RowSource
    survey: Survey
    rows: TrainingRows
    searched: IntArray
    spare: RowSample
    unlabeled: Any
    seed: int
    n_jobs: int | None

    @property
    def n_unseen(self) -> int:
        """Labelled rows that the sample left out."""
        return self.survey.n_labeled - int(self.searched.size)

    def describe(self, learned: str = "masks") -> str:
        """One line on what is read how."""
        n, labels = self.survey.n_rows, self.survey.n_labeled
        return (
            f"streamed: {n} rows, {labels} labelled; {learned} are learned from "
            f"{self.searched.size} labelled and {self.survey.unlabeled.size} unlabelled ones"
        )

    def predict(self, estimator: Any, X: Any) -> Any:
        """Predictions of the training rows: at once where they are in memory, else when asked."""
        if is_path(X) or isinstance(X, RowSource) or is_dask(X):
            return by_blocks(estimator, "predict", X)
        values = estimator.predict(X)
        return to_host(values) if is_tensor(values) else values

    def correct(self, fitted: Fitted, budget: int | None, watch: FitWatch) -> Fitted:
        """The fitted model corrected by the labelled rows that the sample left out."""
        for reader in self.rows.readers:
            correct_ranges(reader, self.survey.ranges)
        model = fitted.model
        if self.n_unseen < _FEWEST or not isinstance(model, AdditiveModel):
            return fitted
        columns = _columns(fitted, model.parts[0], budget)
        if not columns.size:
            return fitted
        plan, correction = self._correction(model, columns, fitted.probabilities)
        watch.say(
            f"corrected by {self.n_unseen} more labelled rows: held-out error "
            f"{correction.before:.4g} -> {correction.held_out:.4g}, ridge {correction.ridge:g}"
        )
        corrected = _corrected(model, columns, correction)
        if self.rows.classes is not None:
            corrected = corrected.scaled(*self._calibration(plan, correction))
        chosen = fitted.chosen | {
            "ridge": correction.ridge,
            "held_out_error": correction.held_out,
            "sample_error": correction.before,
        }
        return replace(fitted, model=corrected, chosen=chosen)

    def fit_base(self, settings: SingleSettings, watch: FitWatch) -> Fitted:
        """The base model: labelled rows in memory, a graph over all rows, then the correction."""
        rows = self.rows
        if settings.graph.kind not in ("auto", "anchors"):
            raise InvalidInputError(
                f"graph={settings.graph.kind!r} needs all rows at once, but these are streamed; "
                "use 'auto' or 'anchors'."
            )
        lower = build_lower(rows, settings)
        size = int(lower.design.offsets[-1])
        if settings.manifold != 0.0 and size <= current_options().max_features:
            form = self._roughness(lower.design, settings)
            lower = streamed_level(lower, form, self.survey.n_rows)
        else:
            if settings.manifold != 0.0:
                watch.say(f"no graph: {size} features are more than max_features of scale_options")
            settings = replace(settings, manifold=0.0)
        everything = np.ones(len(rows.kinds), dtype=bool)
        fitted = refit(rows, lower, everything, everything.astype(float), {}, "gap", settings)
        fitted = replace(fitted, probabilities=fitted.support.astype(np.float64))
        return self.correct(fitted, None, watch)

    def _roughness(self, design: Design, settings: SingleSettings) -> FloatArray:
        """F'LF over all rows, by the graph of all columns; one pass."""
        reader = self.rows.readers[0]
        columns = np.flatnonzero(design.ranks > 0)
        encoder = ColumnEncoder(reader, columns, clip=False)
        bandwidth = settings.graph.bandwidth
        graph = build_anchors(
            encoder,
            np.ones(columns.size),
            self.rows.tables[0][:, columns].T,
            n_anchors=current_options().anchors,
            bandwidth=None if isinstance(bandwidth, str) else bandwidth,
            seed=self.seed,
        )
        features = feature_map(design, encoder)
        sums = sum_blocks(self.source, GraphPass(encoder, features, graph), n_jobs=self.n_jobs)
        # As many neighbours' worth of weight as the graphs in memory have.
        return settings.graph.n_neighbors / 2.0 * sums.quadratic(features)

    def _correction(
        self, model: AdditiveModel, columns: IntArray, probabilities: FloatArray
    ) -> tuple[MomentPass, Correction]:
        part = model.parts[0]
        encoder = ColumnEncoder(part.reader, columns, clip=model.clip)
        features = feature_map(part.design, encoder)
        plan = MomentPass(
            encoder=encoder,
            features=features,
            known=model_evaluator(model),
            coder=LabelCoder(self.rows.classes),
            unlabeled=self.unlabeled,
            learned_from=self.searched,
            n_folds=_FOLDS,
            seed=self.seed,
        )
        moments = sum_blocks(self.source, plan, n_jobs=self.n_jobs)
        variances = np.repeat(np.maximum(probabilities[columns], 0.01), part.design.ranks[columns])
        return plan, fit_correction(moments, features, variances)

    def _calibration(self, plan: MomentPass, correction: Correction) -> tuple[float, float]:
        """Slope and shift from held rows, each decided by a fit that did not see it."""
        spare = self.spare
        assert spare.target is not None
        decisions = correction.decide_held_out(
            plan.entries(_on_host(spare.table), spare.target), plan.folds(spare.rows)
        )
        weights = np.ones(spare.size) if spare.weights is None else spare.weights
        codes = plan.coder.codes(spare.target)
        return calibrate(decisions, codes, np.asarray(weights, dtype=np.float64))


def open_stream(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    classification: bool,
    scales: Any,
    seed: int,
    n_labeled: int | None = None,
) -> Stream:
    """Read rows once: count, find labels, draw samples.

    Parameters
    ----------
    estimator, X, y, sample_weight, classification, scales
        As in :func:`s2mam.estimators.rows.read_rows`; X and y may be anything that
        :func:`s2mam.scale.open_rows` takes.
    seed : int
        Of the samples.
    n_labeled : int, optional
        Most labelled rows in the sample.

    Returns
    -------
    Stream
    """
    options = current_options()
    source = open_rows(X, y, sample_weight)
    limit = options.labeled_rows if n_labeled is None else n_labeled
    n_jobs = getattr(estimator, "n_jobs", None)
    plan = SurveyPlan(
        seed=seed,
        unlabeled=estimator.unlabeled,
        classes=classification,
        n_sample=options.sample_rows,
        n_labeled=limit + _CALIBRATION,
        n_rows=source.n_rows,
    )
    survey = sum_blocks(source, plan, n_jobs=n_jobs)
    labeled = survey.labeled_sample()
    # So few more labels could not correct anything; they had better join the others.
    few = survey.n_labeled <= limit + _FEWEST
    first = _searched(survey, survey.n_labeled if few else limit)
    chosen = labeled.taken(np.flatnonzero(np.isin(labeled.rows, first)))
    spare = labeled.taken(np.flatnonzero(~np.isin(labeled.rows, first)))
    sample = chosen.with_rows(survey.unlabeled).in_order()
    table, target = _on_host(sample.table), sample.target
    rows = read_rows(
        estimator, table, target, sample.weights, classification=classification, scales=scales
    )
    name = y if isinstance(y, str) else getattr(y, "name", None)
    if isinstance(name, str) and name:
        estimator.target_name_ = name
    return Stream(source, survey, rows, first, spare, estimator.unlabeled, seed, n_jobs)


def _searched(survey: Survey, limit: int) -> IntArray:
    """Numbers of the labelled rows that masks are learned from, sorted."""
    labeled = survey.labeled
    rows = labeled.rows
    if labeled.size > limit:
        rows = rows[np.argpartition(labeled.keys, limit - 1)[:limit]]
        # Every class has its rows among them, however rare it is.
        rows = np.concatenate([rows, *(sample.rows for sample in survey.by_class.values())])
    return np.unique(rows)


def _columns(fitted: Fitted, part: AdditivePart, budget: int | None) -> IntArray:
    """Columns that take part in the correction: the most likely ones, as many as sums allow."""
    likely = fitted.support if budget is not None else fitted.probabilities > _UNLIKELY
    likely = likely & (part.design.ranks > 0)
    order = np.argsort(-fitted.probabilities, kind="stable")
    order = order[likely[order]]
    width = np.cumsum(part.design.ranks[order])
    return np.sort(order[width <= current_options().max_features])


def _corrected(model: AdditiveModel, columns: IntArray, correction: Correction) -> AdditiveModel:
    """The model mixed and with the correction added to its first part."""
    coefs = [part.coef @ correction.mixing for part in model.parts]
    design = model.parts[0].design
    wanted = np.isin(np.repeat(np.arange(design.n_columns), design.ranks), columns)
    coefs[0][wanted] += correction.coef
    parts = tuple(
        AdditivePart(part.reader, part.design, coef)
        for part, coef in zip(model.parts, coefs, strict=True)
    )
    intercept = model.intercept @ correction.mixing + correction.intercept
    return AdditiveModel(parts, intercept, model.clip)


def _on_host(table: Any) -> Any:
    return to_host(table) if is_tensor(table) else table
