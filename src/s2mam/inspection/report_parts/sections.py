"""The remaining sections of the page, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from s2mam._typing import AnyArray
from s2mam.inspection.report_parts.effects import Effects, effect_table
from s2mam.inspection.report_parts.facts import TableFacts
from s2mam.inspection.report_parts.markup import (
    Markup,
    join,
    long_list,
    name,
    names,
    number,
    percent,
    short_text,
    table,
    tag,
)
from s2mam.inspection.report_parts.notices import Notice
from s2mam.inspection.report_parts.sketch import legend, sketches

__all__ = ["curves_section", "data_section", "notices_section", "settings_section"]

_MOST_COLUMNS = 2000


def data_section(facts: TableFacts, show_content: bool) -> Markup:
    """What the data was.

    Parameters
    ----------
    facts : TableFacts
        The table and the target.
    show_content : bool
        Whether to show ranges and categories of the columns.

    Returns
    -------
    Markup
    """
    n, labeled = facts.n_rows, facts.target.n_labeled
    kinds = [column.kind for column in facts.columns]
    counts = [(kind, kinds.count(kind)) for kind in ("numeric", "categorical", "constant")]
    listed = ", ".join(f"{count} {kind}" for kind, count in counts if count)
    if len(set(kinds)) == 1:
        listed = f"all {kinds[0]}"
    missing = facts.missing_share
    rows = [
        ["Rows", f"{n:,}"],
        ["with a label", f"{labeled:,} ({percent(labeled / n)})"],
        ["without one", f"{n - labeled:,}"],
        ["Columns", f"{len(kinds):,}: {listed}"],
        ["Missing cells", percent(missing, 1) if missing else "none"],
        ["Target", _target(facts)],
    ]
    parts = [table("Rows, columns and labels", ["part", "value"], rows)]
    if facts.class_counts():
        shares = [
            [name(label), f"{count:,}", percent(count / labeled)]
            for label, count in facts.class_counts()
        ]
        parts.append(table("Labels by class", ["class", "labels", "share"], shares))
    header = ["column", "kind", "missing", "distinct", "content"]
    listing = [
        [name(c.name, 1000), c.kind, f"{c.n_missing:,}", f"{c.n_distinct:,}", c.content]
        for c in facts.columns[:_MOST_COLUMNS]
    ]
    if not show_content:
        header, listing = header[:4], [row[:4] for row in listing]
    inner = [tag("summary", "All columns"), table("Columns in their order", header, listing)]
    if len(facts.columns) > _MOST_COLUMNS:
        inner.append(tag("p", f"{len(facts.columns) - _MOST_COLUMNS} more are not listed."))
    parts.append(tag("details", *inner, class_=long_list(len(listing))))
    return join(parts)


def curves_section(effects: Effects) -> Markup:
    """The curves: one large picture to choose in, all of them small, and numbers.

    Parameters
    ----------
    effects : Effects
        The curves.

    Returns
    -------
    Markup
    """
    intro = f"The model is a sum: each curve says what a column adds to {effects.quantity}. "
    if effects.selection is not None:
        intro += (
            f"Bands come from {effects.n_resamples} refits under random weights of the labelled "
            f"rows: about {percent(effects.level)} of the values of the true curve of a kept "
            "column should lie inside. The band of a column that is not kept can be too narrow, "
            "and bands know nothing of what a sum of curves cannot express."
        )
        if effects.n_resamples < 20:
            intro += f" With {effects.n_resamples} refits they are rough."
    parts = [tag("p", intro), _chooser(effects)]
    several = len(effects.classes) > 1
    parts.append(tag("h3", "All curves on one scale"))
    if several:
        parts.append(legend(effects.classes))
    parts.append(sketches(effects))
    tables = [
        tag(
            "details",
            tag("summary", name(effect.curve.name)),
            tag("p", effect.words(effects.classes, effects.level)),
            effect_table(effect, effects.classes),
        )
        for effect in effects.shown
    ]
    parts += [tag("h3", "The curves as numbers"), *tables]
    return join(parts)


def _chooser(effects: Effects) -> Markup:
    options = [
        tag(
            "option",
            short_text(effect.curve.name, 60) + ("" if effect.kept else " (not kept)"),
            value=i,
        )
        for i, effect in enumerate(effects.shown)
    ]
    controls = [
        tag("label", "Column", for_="component"),
        tag("select", *options, id="component"),
    ]
    if len(effects.classes) > 1:
        classes = [tag("option", "all classes", value="all")]
        classes += [
            tag("option", short_text(label, 60), value=k) for k, label in enumerate(effects.classes)
        ]
        controls += [tag("label", "Class", for_="class"), tag("select", *classes, id="class")]
    if any(effect.curve.n_beyond for effect in effects.shown):
        whole = tag("button", "Whole range", type="button", id="whole", aria_pressed="false")
    else:
        whole = Markup("")
    controls += [
        tag("button", "Previous", type="button", id="previous"),
        tag("button", "Next", type="button", id="next"),
        whole,
        tag("button", "Save picture", type="button", id="save"),
    ]
    label = "Curve of the chosen column; the left and right arrow keys read its values"
    return tag(
        "div",
        tag("div", *controls, class_="controls"),
        tag(
            "div", "", id="curve-plot", class_="plot", tabindex="0", role="group", aria_label=label
        ),
        tag("p", "", id="curve-words", aria_live="polite"),
        tag("p", "", id="curve-value", class_="reading", aria_live="polite"),
        class_="live",
    )


def notices_section(notices: Sequence[Notice]) -> Markup:
    """What to know about the data."""
    if not notices:
        return tag("p", "The usual checks found nothing to warn about.")
    items = [
        tag(
            "li",
            tag(
                "strong",
                f"{notice.title}:" if notice.serious else f"{notice.title} (for information):",
            ),
            " ",
            notice.text,
            class_="serious" if notice.serious else "mild",
        )
        for notice in notices
    ]
    return tag("ul", *items, class_="notices")


def settings_section(
    settings: Sequence[tuple[str, str, str]], versions: Sequence[tuple[str, str]]
) -> Markup:
    """Parameters (name, value, remark) and versions (name, value)."""
    rows = [[tag("code", key), tag("code", value), remark] for key, value, remark in settings]
    return join(
        [
            table("Versions", ["package", "version"], versions),
            tag(
                "details",
                tag("summary", "All settings of the estimator"),
                table("Settings", ["parameter", "value", "default"], rows),
            ),
        ]
    )


def _target(facts: TableFacts) -> Any:
    if facts.target.classes is None:
        y: AnyArray = facts.target.y
        text = f"numbers from {number(y.min(), 4)} to {number(y.max(), 4)}"
        parts = [f"{text}, mean {number(y.mean(), 4)}"]
    else:
        classes = list(facts.target.classes)
        parts = [f"{len(classes)} classes: ", names(classes)]
    called = [] if facts.target_name is None else [name(facts.target_name), ": "]
    return join([*called, *parts])
