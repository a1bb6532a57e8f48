"""How well the model does, and what the unlabelled rows contributed, as HTML."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2mam._typing import FloatArray
from s2mam.inspection.report_parts.held_out import Evaluation
from s2mam.inspection.report_parts.markup import Markup, alike, join, name, percent, table, tag
from s2mam.inspection.report_parts.scores import Measure, Scores

__all__ = ["gain_words", "headline", "points_data", "results_section", "unlabeled_section"]

_MODEL, _NULL, _FEWER = 0, 1, 2
_MOST_CLASSES = 12
_MOST_POINTS = 2000


def headline(evaluation: Evaluation) -> str:
    """The first measure in one sentence.

    Parameters
    ----------
    evaluation : Evaluation
        Scores on held-out labels.

    Returns
    -------
    str
    """
    scores = evaluation.scores
    if scores is None:
        return f"The model could not be scored on held-out labels: {evaluation.problem}"
    measure = scores.measures[0]
    null = "the most frequent class" if measure.share else "the mean of the labels"
    return (
        f"On held-out labels its {measure.name} is {_with_interval(scores, _MODEL, 0)}; always "
        f"answering {null} gives {_null_score(scores)}."
    )


def results_section(evaluation: Evaluation, *, show_rows: bool) -> Markup:
    """Scores against the null model, with differences; confusion of classes, or a picture.

    Parameters
    ----------
    evaluation : Evaluation
        Scores on held-out labels.
    show_rows : bool
        Whether single rows may be shown.

    Returns
    -------
    Markup
    """
    scores = evaluation.scores
    if scores is None:
        return tag("p", headline(evaluation))
    classification = bool(scores.measures[0].share)
    null = "most frequent class" if classification else "mean of the labels"
    header = ["measure", "this model", null, "difference"]
    caption = f"Held-out scores with {percent(scores.level)} intervals"
    parts = [
        tag("p", headline(evaluation), " ", gain_words(scores, _NULL, "The null model")),
        tag("p", _method(evaluation, scores)),
        table(caption, header, _rows(scores, _NULL)),
    ]
    if classification:
        parts.append(_confusion(evaluation))
    elif show_rows:
        label = "Measured against predicted values of the held-out rows"
        plot = tag("div", "", id="points-plot", class_="plot", role="img", aria_label=label)
        caption = "Held-out rows: on the dashed line the prediction is right."
        parts.append(tag("figure", plot, tag("figcaption", caption), class_="live"))
    return join(parts)


def unlabeled_section(evaluation: Evaluation, weight_of_rows: float | None) -> Markup:
    """The same scores without the unlabelled rows.

    Parameters
    ----------
    evaluation : Evaluation
        Scores on held-out labels.
    weight_of_rows : float or None
        Share of the averaged model that learns from labels given to unlabelled rows.

    Returns
    -------
    Markup
    """
    scores = evaluation.scores
    if scores is None or len(evaluation.outcomes) <= _FEWER:
        return tag("p", evaluation.problem)
    parts = [
        tag("p", gain_words(scores, _FEWER, "The same model without the unlabelled rows")),
        table(
            f"The same held-out rows, with {percent(scores.level)} intervals",
            ["measure", "with all rows", "labelled rows only", "difference"],
            _rows(scores, _FEWER),
        ),
    ]
    if weight_of_rows is not None:
        parts.append(
            tag(
                "p",
                f"{percent(weight_of_rows)} of the averaged model learns from all rows, by labels "
                "that spread to the unlabelled ones. These also tell the scale of the columns and "
                "which of them depend on each other.",
            )
        )
    return join(parts)


def gain_words(scores: Scores, other: int, whose: str) -> str:
    """Whether the difference is clear, in words."""
    measure = scores.measures[0]
    ends = scores.difference(_MODEL, other)[1:, 0]
    low, high = ends if measure.higher else -ends[::-1]  # less of an error is a gain
    if low > 0.0:
        return f"{whose} does worse: the interval of the difference leaves out zero."
    if high < 0.0:
        return f"{whose} does better: the interval of the difference leaves out zero."
    return f"{whose} does not clearly differ: the interval of the difference holds zero."


def points_data(evaluation: Evaluation) -> dict[str, Any] | None:
    """Measured and predicted values; none for classes."""
    if evaluation.scores is None or evaluation.scores.measures[0].share:
        return None
    step = -(-len(evaluation.rows) // _MOST_POINTS)
    outcome = evaluation.outcomes[_MODEL]
    return {
        "truth": outcome.truth[::step],
        "prediction": outcome.prediction[::step],
        "row": evaluation.rows[::step],
    }


def _rows(scores: Scores, other: int) -> list[list[Any]]:
    difference = scores.difference(_MODEL, other)
    rows = []
    for m, measure in enumerate(scores.measures):
        hint = "more is better" if measure.higher else "less is better"
        rows.append(
            [
                join([measure.name, " ", tag("small", hint)]),
                _with_interval(scores, _MODEL, m),
                _with_interval(scores, other, m),
                _difference(measure, difference[:, m]),
            ]
        )
    return rows


def _null_score(scores: Scores) -> str:
    return _with_interval(scores, _NULL, 0).split(" (")[0]


def _difference(measure: Measure, values: FloatArray) -> str:
    texts = _formats(measure, values)
    signed = [
        # What rounds to zero has no sign.
        f"+{text}" if value > 0 and text.strip("0.,") else text
        for value, text in zip(values, texts, strict=True)
    ]
    unit = " points" if measure.share else ""
    return f"{signed[0]}{unit} ({signed[1]}\xa0to\xa0{signed[2]})"


def _with_interval(scores: Scores, c: int, m: int) -> str:
    measure = scores.measures[m]
    ends = [values[c, m] for values in (scores.value, scores.low, scores.high)]
    value, low, high = _formats(measure, np.array(ends))
    unit = "\xa0%" if measure.share else ""
    return f"{value}{unit} ({low}\xa0to\xa0{high})"


def _formats(measure: Measure, values: FloatArray) -> list[str]:
    """A value and the ends of its interval, with the same decimals and without a unit."""
    if measure.share:
        return [percent(float(value), 1).removesuffix("\xa0%") for value in values]
    return alike(values.tolist())


def _method(evaluation: Evaluation, scores: Scores) -> str:
    text = f"From {evaluation.how}. Intervals come from resampling these rows"
    if scores.measures[0].share:
        text += " (for shares, from their counts)"
    return text + "; they do not include the luck of which rows were labelled for training."


def _confusion(evaluation: Evaluation) -> Markup:
    outcome = evaluation.outcomes[_MODEL]
    truth, prediction = outcome.truth, outcome.prediction
    classes = np.union1d(truth, prediction)
    if len(classes) > _MOST_CLASSES:
        return Markup("")
    rows = [
        [name(a), *(f"{int(np.sum((truth == a) & (prediction == b)))}" for b in classes)]
        for a in classes
    ]
    header = ["labelled as", *(f"answered {label}" for label in classes)]
    return table("Held-out rows by label and answer", header, rows)
