"""The page of the benchmark of neural masks."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from benchmarks.neural import run

pytestmark = pytest.mark.torch


def test_counts_and_spreads():
    facts = {"machine": "m", "versions": {"python": "3"}, "source": "s"}
    rows = [
        {"problem": "multiclass", "method": "neural", "seed": seed, "real": 6, "right": right}
        | {"kept": kept, "score": score, "cpu": 2.0}
        for seed, right, kept, score in ((0, 6, 6, 0.7), (1, 3, 4, 0.5))
    ]
    text = run.page(rows, facts)
    assert "## Three classes, 6 of 50, 20 a class" in text
    assert "| neural | 9 of 12 | 0.75 ± 0.35 | 0.88 ± 0.18 | 0.60 ± 0.14 | 2.0 |" in text


def test_references_need_no_search():
    drawn = run.draw("multiclass", 0)
    null = run.all_methods()["null"](drawn, 0)
    assert null["kept"] == 0
    assert 0.2 < null["score"] < 0.5
