"""Tables of the selection study."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from benchmarks.common.scores import MASK_BINS, pooled_calibration
from benchmarks.common.store import Row
from benchmarks.common.tables import count, group, markdown, mean, mean_sd, seconds
from benchmarks.selection.authors import FIGURES
from benchmarks.selection.methods import TOLD
from benchmarks.selection.problems import SETTINGS

_ORDER = (
    "s2mam",
    "s2mam_C",
    "relaxed_C",
    "rloo_C",
    "paper_C",
    "paper_raw_C",
    "greedy_evidence",
    "greedy_loo",
    "lasso",
    "l1_logistic",
    "spam",
    "ebm_additive",
    "oracle",
    "null",
)
_HEADER = [
    "method",
    "precision",
    "recall",
    "F1",
    "top recall",
    "columns kept",
    "test",
    "unlabelled",
    "/ oracle",
    "/ null",
    "null to oracle",
    "CPU s",
    "seeds",
]
#: Settings in which a column's chance to be selected is not its chance to be informative.
NOT_CALIBRATED = ("duplicated", "interactions")


def summarize(rows: Sequence[Row]) -> str:
    """One table per problem, then the calibration of the mask probabilities."""
    parts = ["# Selection of columns: results", ""]
    parts += [
        "`C` in a name: the method is told the number of informative columns (forward selection "
        "is, too). `null to oracle` is the share of the way from the null model's score to the "
        "oracle's: 0 is null, 1 is oracle.",
        "",
    ]
    found = group(rows, lambda row: row["cell"]["problem"])
    for name, setting in SETTINGS.items():
        if name in found:
            parts += [f"## {setting.title}", "", *_problem(name, found[name]), ""]
    return "\n".join([*parts, *_calibration(rows)])


def _problem(name: str, rows: Sequence[Row]) -> list[str]:
    of_method = group(rows, lambda row: (row["cell"]["method"], row["cell"]["reading"]))
    oracle = mean(of_method.get(("oracle", "sd"), []), "test")
    null = mean(of_method.get(("null", "sd"), []), "test")
    lines = []
    for method, reading in sorted(of_method, key=_place):
        mine = of_method[method, reading]
        told = method in TOLD
        lines.append(
            [
                method + (" (variance)" if reading == "variance" else ""),
                mean_sd(mine, "top" if told else "prec"),
                mean_sd(mine, "top" if told else "rec"),
                mean_sd(mine, "f1"),
                mean_sd(mine, "top"),
                mean_sd(mine, "size", 1),
                mean_sd(mine, "test"),
                mean_sd(mine, "unl"),
                *_ratios(mean(mine, "test"), oracle, null),
                seconds(mine),
                count(mine),
            ]
        )
    lines += _authors(name)
    score = "accuracy" if SETTINGS[name].task == "classification" else "MSE"
    return [f"Scores: {score}.", "", markdown(_HEADER, lines), *_notes(name)]


def _ratios(score: float | None, oracle: float | None, null: float | None) -> list[str]:
    of_oracle = "–" if score is None or not oracle else f"{score / oracle:.2f}"
    of_null = "–" if score is None or not null else f"{score / null:.2f}"
    way = "–"
    if score is not None and oracle is not None and null is not None and oracle != null:
        way = f"{(score - null) / (oracle - null):.2f}"
    return [of_oracle, of_null, way]


def _authors(name: str) -> list[list[str]]:
    figure = FIGURES.get(name)
    if figure is None:
        return []
    precision, recall, f1, score = figure.cells()
    ratio = f"{figure.score[0] / figure.oracle[0]:.2f}"
    label = "authors' code, " + ("sees test labels" if figure.leaking else "C given")
    line = [label, precision, recall, f1, recall, "–", score, "–", ratio, "–", "–"]
    return [[*line, f"{figure.cpu:g}", "10"]]


def _notes(name: str) -> list[str]:
    figure = FIGURES.get(name)
    if figure is None:
        return []
    mean_, sd = figure.oracle
    return ["", f"The authors' oracle mask scores {mean_:.3f} ± {sd:.3f} on their draws."]


def _calibration(rows: Sequence[Row]) -> list[str]:
    kept = [
        row["cal"] for row in rows if "cal" in row and row["cell"]["problem"] not in NOT_CALIBRATED
    ]
    if not kept:
        return []
    lines = []
    for (low, high), (columns, informative, total) in zip(
        pairwise(MASK_BINS), pooled_calibration(kept), strict=True
    ):
        share = [f"{part / columns:.3f}" if columns else "–" for part in (total, informative)]
        lines.append([f"{low:g} to {high:g}", f"{columns:.0f}", *share])
    return [
        "## Calibration of mask_probabilities_",
        "",
        f"Default, size unknown; {len(kept)} fits of all problems except those with copies or "
        "interactions, where being selected and being informative are different things.",
        "",
        markdown(["predicted", "columns", "mean predicted", "informative, observed"], lines),
        "",
    ]


def _place(key: tuple[str, str]) -> tuple[int, str, str]:
    method, reading = key
    return (_ORDER.index(method) if method in _ORDER else len(_ORDER), method, reading)
