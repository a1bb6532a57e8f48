"""All that a report tells, gathered before anything is written."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from s2mam.exceptions import DegenerateGraphWarning, S2MAMWarning
from s2mam.inspection.report_parts.effects import Effects, read_effects
from s2mam.inspection.report_parts.facts import TableFacts, read_facts
from s2mam.inspection.report_parts.held_out import (
    Evaluation,
    Refits,
    cross_validate,
    evaluate_on,
)
from s2mam.inspection.report_parts.markup import join
from s2mam.inspection.report_parts.notices import Notice, data_notices

__all__ = ["Findings", "gather"]


@dataclass(frozen=True, eq=False)
class Findings:
    """What the sections show.

    Attributes
    ----------
    facts : TableFacts
        The data.
    effects : Effects
        The curves.
    evaluation : Evaluation
        Scores on held-out labels.
    notices : list of Notice
        What to know before trusting it, serious ones first.
    """

    facts: TableFacts
    effects: Effects
    evaluation: Evaluation
    notices: list[Notice]


def gather(
    estimator: Any,
    X: Any,
    y: Any,
    refits: Refits,
    *,
    test: tuple[Any, Any] | None,
    n_resamples: int,
    folds: int,
    feature_names: Sequence[str] | None,
    progress: Callable[[str], None],
) -> Findings:
    """Do the work: look at the data, refit for bands, refit for held-out scores.

    Parameters
    ----------
    estimator, X, y, test, n_resamples, folds, feature_names
        As in :func:`s2mam.inspection.report`.
    refits : Refits
        How copies are fitted.
    progress : callable
        Told what is about to be done.

    Returns
    -------
    Findings
    """
    with _heard() as messages:
        progress("reading the table")
        facts = read_facts(estimator, X, y, feature_names)
        progress(f"curves, {n_resamples} refits for their bands")
        effects = read_effects(
            estimator, X, y, refits, n_resamples=n_resamples, feature_names=feature_names
        )
        if test is not None:
            progress("scores on the test rows")
            evaluation = evaluate_on(estimator, X, y, test, facts, refits)
        elif folds:
            progress(f"scores on held-out labels, {folds} folds")
            evaluation = cross_validate(estimator, X, y, facts, refits, folds=folds)
        else:
            reason = "It was not asked for (folds=0)."
            evaluation = Evaluation("", facts.row_groups[:0], [], None, reason)
    notices = data_notices(facts, estimator.support_) + _rows_notice(estimator, facts)
    notices += [*_null_notice(evaluation), *messages]
    notices.sort(key=lambda notice: not notice.serious)
    return Findings(facts, effects, evaluation, notices)


@contextmanager
def _heard() -> Iterator[list[Notice]]:
    """Turn the warnings of the refits into notices; those of others go on as they are."""
    notices: list[Notice] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", S2MAMWarning)
        yield notices
    ours: Counter[tuple[str, bool]] = Counter()
    for warning in caught:
        if issubclass(warning.category, S2MAMWarning):
            graph = issubclass(warning.category, DegenerateGraphWarning)
            ours[str(warning.message), graph] += 1
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    for (message, graph), count in ours.items():
        title = "Degenerate graph" if graph else "A note of the fits"
        times = f" ({count} times)" if count > 1 else ""
        notices.append(Notice(title, join([message, times]), serious=graph))


def _rows_notice(estimator: Any, facts: TableFacts) -> list[Notice]:
    n_fitted = len(getattr(estimator, "transduction_", facts.row_groups))
    if n_fitted == facts.n_rows:
        return []
    text = (
        f"The model was fitted to {n_fitted} rows and this table has {facts.n_rows}; the curves "
        "are those of the model, bands and scores come from refits to this table."
    )
    return [Notice("Not the table of the fit", join([text]))]


def _null_notice(evaluation: Evaluation) -> list[Notice]:
    scores = evaluation.scores
    if scores is None:
        return []
    measure = scores.measures[0]
    gain = scores.difference(0, 1)[:, 0] * (1.0 if measure.higher else -1.0)
    if gain[1] > 0.0:
        return []
    text = (
        "On held-out labels the model is not clearly better than an answer that looks at no "
        "column; do not read much into its curves."
    )
    return [Notice("No better than the null model", join([text]))]
