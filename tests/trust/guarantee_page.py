"""What docs/guarantees.md promises: its tables, read back for the tests."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "guarantees.md"


def _section(title: str) -> str:
    text = PAGE.read_text(encoding="utf-8")
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def _rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in cells[1:] if set(row[0]) - set(":- ")]


def rows_of_the_fault_table() -> list[str]:
    """First cells of the table of faults."""
    return [row[0].strip("`") for row in _rows(_section("Faults and bad input"))]


def named_tests() -> dict[str, list[tuple[Path, str]]]:
    """Guarantee -> (file, name) of every test that the page names for it."""
    found: dict[str, list[tuple[Path, str]]] = {}
    for guarantee, *_, tests in _rows(_section("The tests behind them")):
        named = re.findall(r"`([\w/]+\.py)::(\w+)`", tests)
        found.setdefault(guarantee, []).extend(
            (ROOT / "tests" / file, name) for file, name in named
        )
    return found
