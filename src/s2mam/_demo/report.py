"""The table of the demo: drawn on a terminal, plain text in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from s2mam._demo.contenders import Score

__all__ = ["EXPLANATION", "show_scores"]

EXPLANATION = (
    "Accuracy on the unlabelled training rows and on {n_test} test rows, which no method sees;\n"
    "real and junk: columns chosen. One draw of the labels; --seed draws others.\n"
    "The paper preset is Algorithm 1 with fixed, untuned penalties and a faster solver for its\n"
    "lower level; it predicts with inputs shrunk by its mask probabilities, its refit does not.\n"
    "Its graph has a fixed bandwidth, at which masks of many columns leave it without edges."
)

_HEADER = ("method", "unlabelled", "test", "real", "junk", "seconds")


def show_scores(scores: Sequence[Score]) -> None:
    """Write the table to standard output.

    Parameters
    ----------
    scores : sequence of Score
        One per line.

    Examples
    --------
    >>> show_scores([Score("guess", 0.5, 0.25, None, None, 0.1, None)])
    method  unlabelled  test   real  junk  seconds
    guess       50.0 %  25.0 %    -     -      0.1
    """
    lines = [_cells(score) for score in scores]
    if sys.stdout.isatty():
        _draw(lines)
        return
    widths = [max(len(line[k]) for line in (_HEADER, *lines)) for k in range(len(_HEADER))]
    for line in (_HEADER, *lines):
        first = line[0].ljust(widths[0])
        rest = [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        sys.stdout.write("  ".join([first, *rest]) + "\n")


def _draw(lines: list[tuple[str, ...]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD)
    for k, title in enumerate(_HEADER):
        table.add_column(title, justify="right" if k else "left", no_wrap=True)
    for k, line in enumerate(lines):
        table.add_row(*line, style="bold" if k == 0 else None)
    Console().print(table)


def _cells(score: Score) -> tuple[str, ...]:
    return (
        score.name,
        f"{100 * score.unlabeled:.1f} %",
        f"{100 * score.test:.1f} %",
        "-" if score.n_real is None else str(score.n_real),
        "-" if score.n_junk is None else str(score.n_junk),
        f"{score.seconds:.1f}",
    )
