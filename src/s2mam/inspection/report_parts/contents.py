"""From findings to the sections of the page."""

from __future__ import annotations

import inspect
import platform
import shlex
from datetime import datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from s2mam._version import __version__
from s2mam.inspection.report_parts.columns import columns_data, columns_section, verdict
from s2mam.inspection.report_parts.effects import Effects
from s2mam.inspection.report_parts.findings import Findings
from s2mam.inspection.report_parts.markup import (
    Markup,
    count,
    join,
    name,
    names,
    percent,
    short_text,
    tag,
)
from s2mam.inspection.report_parts.page import Page, Section
from s2mam.inspection.report_parts.results import (
    gain_words,
    headline,
    points_data,
    results_section,
    unlabeled_section,
)
from s2mam.inspection.report_parts.sections import (
    curves_section,
    data_section,
    notices_section,
    settings_section,
)

__all__ = ["build_page"]

# Below this share of the effects, columns that were not kept are worth a word.
_MOST_OF_IT = 0.9
_PACKAGES = ("numpy", "scipy", "scikit-learn", "plotly")


def build_page(
    estimator: Any,
    findings: Findings,
    *,
    title: str | None,
    model_path: str | None,
    show_rows: bool,
) -> Page:
    """Put the sections in reading order.

    Parameters
    ----------
    estimator : fitted estimator of this package
        The model.
    findings : Findings
        What to tell.
    title, model_path, show_rows
        As in :func:`s2mam.inspection.report`.

    Returns
    -------
    Page
    """
    kind = type(estimator).__name__
    facts, effects, evaluation = findings.facts, findings.effects, findings.evaluation
    support, probabilities = estimator.support_, estimator.mask_probabilities_
    sections = [
        Section("summary", "In short", _summary(kind, estimator, findings)),
        Section("warnings", "Before you trust it", notices_section(findings.notices)),
        Section("data", "The data", data_section(facts, show_rows)),
        Section(
            "columns",
            "Columns that matter",
            columns_section(facts, effects, support, probabilities),
        ),
        Section("curves", "What each column does", curves_section(effects)),
        Section("scores", "How well it does", results_section(evaluation, show_rows=show_rows)),
        Section(
            "unlabelled",
            "What the unlabelled rows add",
            unlabeled_section(evaluation, _weight_of_rows(estimator)),
        ),
        Section("load", "Use the model again", _load_section(model_path, facts.names)),
        Section(
            "settings", "Settings and versions", settings_section(_settings(estimator), _versions())
        ),
    ]
    curves = [
        effect.data(marks=show_rows) | {"words": effect.words(effects.classes, effects.level)}
        for effect in effects.shown
    ]
    data = {
        "classes": [short_text(label) if label else "" for label in effects.classes],
        "quantity": effects.quantity,
        "curves": curves,
        "columns": columns_data(facts, effects, support, probabilities),
        "points": points_data(evaluation) if show_rows else None,
    }
    made = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")
    return Page(
        title=title or _title(kind, facts.target_name),
        subtitle=f"Written by s2mam {__version__} on {made}.",
        generator=f"s2mam {__version__}",
        sections=sections,
        footer=_footer(show_rows),
        data=data,
    )


def _title(kind: str, target: str | None) -> str:
    return f"{kind}: what it learned" + ("" if target is None else f" about {short_text(target)}")


def _summary(kind: str, estimator: Any, findings: Findings) -> Markup:
    facts, effects, evaluation = findings.facts, findings.effects, findings.evaluation
    kept = [int(j) for j in np.flatnonzero(estimator.support_)]
    kept.sort(key=lambda j: (-round(estimator.mask_probabilities_[j], 2), -effects.sizes[j]))
    shares = effects.selection
    groups: dict[str, list[str]] = {"firmly": [], "likely": [], "unsure": []}
    for j in kept:
        share = None if shares is None else float(shares[j])
        words = verdict(True, float(estimator.mask_probabilities_[j]), share)
        groups[words.removeprefix("kept, ")].append(facts.names[j])
    all_of = {1: "", 2: "both "}
    listed = [
        join([names(group), f" ({all_of.get(len(group), 'all ')}{word})"])
        for word, group in groups.items()
        if group
    ]
    what = [] if facts.target_name is None else [" to predict ", name(facts.target_name)]
    rows = f" from {count(facts.n_rows, 'row')}, {facts.target.n_labeled:,} of them labelled"
    items: list[Any] = [
        join([f"{kind} learned", *what, f"{rows}, and {count(len(facts.columns), 'column')}."]),
        join(
            [
                f"It kept {count(len(kept), 'column')}: ",
                join(listed, "; "),
                ".",
                _carried(effects, kept),
            ]
        ),
        headline(evaluation),
    ]
    if evaluation.scores is not None and len(evaluation.outcomes) > 2:
        whose = "The same model without the unlabelled rows"
        items.append(gain_words(evaluation.scores, 2, whose))
    serious = [notice.title.lower() for notice in findings.notices if notice.serious]
    if serious:
        link = tag("a", "Before you trust it", href="#warnings")
        items.append(join([link, f": {', '.join(serious)}."]))
    return tag("ul", *(tag("li", item) for item in items), class_="summary")


def _carried(effects: Effects, kept: list[int]) -> str:
    """A sentence where much of the prediction comes from columns that were not kept."""
    total = float(effects.sizes.sum())
    share = float(effects.sizes[kept].sum()) / total if total > 0.0 else 1.0
    if not kept or share >= _MOST_OF_IT:
        return ""
    which = "It carries" if len(kept) == 1 else "They carry"
    rest = "the rest comes lightly from columns that are less sure"
    return f" {which} {percent(share)} of the effects; {rest}."


def _load_section(model_path: str | None, columns: list[str]) -> Markup:
    path = "model.s2mam" if model_path is None else model_path
    lines = [f"# pip install s2mam=={__version__}", "import s2mam", ""]
    if model_path is None:
        lines += [f"# whoever fitted the model wrote it with: model.save({path!r})"]
    lines += [
        f"model = s2mam.load({path!r})",
        "model.predict(X)  # X: a table with the same columns",
        "model.contributions(X)  # what each column adds, row by row",
    ]
    shell = f"s2mam predict {shlex.quote(path)} new.csv --output predictions.csv"
    note = f"X has {len(columns)} columns, in this order: "
    return join(
        [
            tag("p", "A model file holds numbers and text only; no code runs when it is loaded."),
            tag("pre", tag("code", "\n".join(lines))),
            tag("p", "Or from the shell, for a table with the same columns:"),
            tag("pre", tag("code", shell)),
            tag("p", note, names(columns, 12), "."),
        ]
    )


def _settings(estimator: Any) -> list[tuple[str, str, str]]:
    defaults = inspect.signature(type(estimator)).parameters
    rows = []
    for key, value in estimator.get_params(deep=False).items():
        default = defaults[key].default if key in defaults else None
        changed = "" if repr(value) == repr(default) else short_text(repr(default), 60)
        rows.append((key, short_text(repr(value), 200), changed))
    return rows


def _versions() -> list[tuple[str, str]]:
    own = [("s2mam", __version__), ("Python", platform.python_version())]
    return own + [(package, version(package)) for package in _PACKAGES]


def _weight_of_rows(estimator: Any) -> float | None:
    weights = getattr(estimator, "chosen_", {}).get("member_weights")
    if weights is None:
        return None
    return float(weights.get("graph", 0.0) + weights.get("self_training", 0.0))


def _footer(show_rows: bool) -> Markup:
    text = (
        "This file works offline, loads nothing and sends nothing. It holds column names, the "
        "range or the categories of the columns with a curve, and class counts"
    )
    if show_rows:
        text += ", and values of single rows: marks under the curves and held-out predictions"
    return tag("p", text + ". Check that these may be shared before you pass it on.")
