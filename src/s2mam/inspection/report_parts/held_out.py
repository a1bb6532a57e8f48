"""How well the model does on labels it did not see, and what the unlabelled rows add."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from s2mam._typing import AnyArray, FloatArray, IntArray
from s2mam.exceptions import InvalidInputError
from s2mam.inspection.report_parts.facts import TableFacts, read_target
from s2mam.inspection.report_parts.scores import Outcome, Scores, score
from s2mam.inspection.resampling import base_weights, refit
from s2mam.intake.markers import as_vector
from s2mam.model_selection import SemiSupervisedKFold, SemiSupervisedStratifiedKFold

__all__ = ["Evaluation", "Refits", "cross_validate", "evaluate_on"]

_NO_UNLABELED = "All rows are labelled, so there is nothing to compare."


@dataclass(frozen=True)
class Refits:
    """How copies are fitted: seed, weights of the rows, jobs side by side, level of intervals."""

    random_state: int = 0
    sample_weight: Any = None
    n_jobs: int | None = None
    level: float = 0.9


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Answers and scores on held-out labels.

    Attributes
    ----------
    how : str
        Where the held-out rows come from.
    rows : ndarray of int
        Their positions in the table.
    outcomes : list of Outcome
        The model, the null model, and the model without the unlabelled rows where there is one.
    scores : Scores or None
        Of the outcomes; None when there are none.
    problem : str
        Why there are no outcomes, or no third one; empty otherwise.
    """

    how: str
    rows: IntArray
    outcomes: list[Outcome]
    scores: Scores | None
    problem: str = ""


# What a copy says about some rows: predictions, and probabilities by class.
_Answers = tuple[AnyArray, FloatArray | None, AnyArray | None]


def cross_validate(
    estimator: Any, X: Any, y: Any, facts: TableFacts, refits: Refits, *, folds: int
) -> Evaluation:
    """Hold out each labelled row once.

    Parameters
    ----------
    estimator : fitted estimator of this package
        Whose parameters to use; it is not changed.
    X, y
        The rows of the fit.
    facts : TableFacts
        Of the same rows.
    refits : Refits
        How copies are fitted.
    folds : int
        Number of parts of the labelled rows; fewer where labels are few.

    Returns
    -------
    Evaluation
    """
    rows = np.flatnonzero(facts.labeled)
    try:
        parts = list(_test_parts(estimator, X, y, folds, refits.random_state))
    except InvalidInputError as error:
        return Evaluation("", rows[:0], [], None, str(error))
    tests = [np.searchsorted(rows, part) for part in parts]
    base = base_weights(refits.sample_weight, facts.labeled)
    weights = [_without(base, rows[test]) for test in tests]
    X_labeled, y_labeled = _safe_indexing(X, rows), as_vector(y)[rows]
    read = partial(_answers, X=X_labeled)
    # The same seeds for both, so that they differ by the unlabelled rows alone.
    run = partial(refit, estimator, read=read, random_state=refits.random_state)
    answers = [run(X, y, weights, n_jobs=refits.n_jobs)]
    if not facts.labeled.all():
        fewer = [weight[rows] for weight in weights]
        answers.append(run(X_labeled, y_labeled, fewer, n_jobs=refits.n_jobs))
    truth, everything = facts.target.values, np.arange(len(rows))
    classes = facts.target.classes is not None
    trains = [np.setdiff1d(everything, test) for test in tests]
    answers.insert(1, [_null(truth, train, len(rows), classes) for train in trains])
    outcomes = [_outcome(truth, tests, of_folds) for of_folds in answers]
    tested = rows[np.sort(np.concatenate(tests))]
    how = f"{len(tests)} folds over the {len(rows)} labelled rows"
    if len(tested) < len(rows):
        how += f", {len(rows) - len(tested)} of which always train (the only one of their class)"
    return _scored(how, tested, outcomes, facts, refits)


def evaluate_on(
    estimator: Any, X: Any, y: Any, test: tuple[Any, Any], facts: TableFacts, refits: Refits
) -> Evaluation:
    """Score the fitted model on the labelled rows of a table of its own.

    Parameters
    ----------
    estimator, X, y, facts, refits
        As in `cross_validate`.
    test : tuple (X, y)
        Rows that were not in the fit.

    Returns
    -------
    Evaluation
    """
    X_test, y_test = test
    target = read_target(estimator, y_test, _length(X_test))
    rows = np.flatnonzero(target.labeled)
    X_test, truth = _safe_indexing(X_test, rows), target.values
    read = partial(_answers, X=X_test)
    known, classes = facts.target.values, facts.target.classes is not None
    answers = [read(estimator), _null(known, np.arange(len(known)), len(rows), classes)]
    if not facts.labeled.all():
        labeled = np.flatnonzero(facts.labeled)
        weights = base_weights(refits.sample_weight, facts.labeled)[labeled]
        answers += refit(
            estimator,
            _safe_indexing(X, labeled),
            as_vector(y)[labeled],
            [weights],
            read,
            random_state=refits.random_state,
            n_jobs=refits.n_jobs,
        )
    everything = [np.arange(len(rows))]
    outcomes = [_outcome(truth, everything, [answer]) for answer in answers]
    how = f"{len(rows)} labelled rows of a test table that the model never saw"
    return _scored(how, rows, outcomes, facts, refits)


def _scored(
    how: str, rows: IntArray, outcomes: list[Outcome], facts: TableFacts, refits: Refits
) -> Evaluation:
    scores = score(
        outcomes,
        classification=facts.target.classes is not None,
        level=refits.level,
        random_state=refits.random_state,
    )
    problem = _NO_UNLABELED if len(outcomes) < 3 else ""
    return Evaluation(how, rows, outcomes, scores, problem)


def _test_parts(estimator: Any, X: Any, y: Any, folds: int, seed: int) -> Iterator[IntArray]:
    marker = getattr(estimator, "unlabeled", "auto")
    shared: dict[str, Any] = {"shuffle": True, "random_state": seed, "unlabeled": marker}
    splitter: Any = SemiSupervisedKFold(folds, task="regression", **shared)
    if hasattr(estimator, "classes_"):
        splitter = SemiSupervisedStratifiedKFold(folds, **shared)
    for _, test in splitter.split(X, y):
        yield test


def _without(base: FloatArray, rows: IntArray) -> FloatArray:
    """A weight of zero is, to every estimator here, a row that was not given."""
    weights = base.copy()
    weights[rows] = 0.0
    return weights


def _answers(copy: Any, *, X: Any) -> _Answers:
    if not hasattr(copy, "classes_"):
        return copy.predict(X), None, None
    return copy.predict(X), copy.predict_proba(X), copy.classes_


def _null(known: AnyArray, train: IntArray, n_rows: int, classification: bool) -> _Answers:
    """The most frequent class and the shares of the classes, or the mean."""
    if not classification:
        return np.full(n_rows, known[train].mean()), None, None
    classes, counts = np.unique(known[train], return_counts=True)
    shares = np.tile(counts / counts.sum(), (n_rows, 1))
    return np.repeat(classes[[np.argmax(counts)]], n_rows), shares, classes


def _outcome(truth: AnyArray, tests: list[IntArray], answers: list[_Answers]) -> Outcome:
    """Put the answers of the folds together, in the order of the tested rows."""
    order = np.concatenate(tests)
    prediction = np.concatenate(
        [answer[0][test] for answer, test in zip(answers, tests, strict=True)]
    )
    probability = None
    if answers[0][1] is not None:
        probability = np.concatenate(
            [
                _given(truth[test], *answer, test)
                for answer, test in zip(answers, tests, strict=True)
            ]
        )
    sorting = np.argsort(order, kind="stable")
    return Outcome(
        truth[order[sorting]],
        prediction[sorting],
        None if probability is None else probability[sorting],
    )


def _given(
    truth: AnyArray,
    _: AnyArray,
    probabilities: FloatArray | None,
    classes: AnyArray | None,
    rows: IntArray,
) -> FloatArray:
    """Probability given to the true class; zero for a class that the model does not know."""
    assert probabilities is not None
    assert classes is not None
    known = {label: code for code, label in enumerate(classes.tolist())}
    codes = np.array([known.get(label, -1) for label in truth.tolist()], dtype=np.intp)
    given: FloatArray = np.where(codes >= 0, probabilities[rows, codes], 0.0)
    return given


def _length(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
