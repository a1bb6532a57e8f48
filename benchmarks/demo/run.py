"""The methods of ``s2mam demo`` over several draws of junk, split and labels.

    python benchmarks/demo/run.py [--draws 10]

Writes ``results.md`` beside this file: mean and standard deviation over the draws.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.common.environment import run_facts
from benchmarks.common.tables import markdown

from s2mam._demo.contenders import Score, compare
from s2mam._demo.example import make_example


def main() -> int:
    """Run all draws and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10, help="seeds 0, 1, ... (10)")
    draws = parser.parse_args().draws
    found: dict[str, list[Score]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(draws):
            for score in compare(make_example(seed), seed=seed):
                found.setdefault(score.name, []).append(score)
            print(f"{seed + 1} of {draws}", file=sys.stderr, flush=True)
    header = ["method", "unlabelled rows, %", "test rows, %", "real columns", "junk columns"]
    lines = [[name, *_fields(scores)] for name, scores in found.items()]
    facts = run_facts("demo", str(__doc__))
    text = (
        f"# The demo over {draws} draws\n\nMean ± standard deviation over seeds 0 to "
        f"{draws - 1}.\n\n"
        f"{markdown(header, lines)}\n\nCommit {facts['commit']}, source {facts['source']}.\n"
    )
    Path(__file__).with_name("results.md").write_text(text, encoding="utf-8")
    return 0


def _fields(scores: list[Score]) -> list[str]:
    fields = []
    for name, factor in (("unlabeled", 100), ("test", 100), ("n_real", 1), ("n_junk", 1)):
        values = [getattr(score, name) for score in scores]
        if any(value is None for value in values):
            fields.append("–")
            continue
        numbers = factor * np.asarray(values, dtype=float)
        fields.append(f"{numbers.mean():.1f} ± {numbers.std(ddof=1):.1f}")
    return fields


if __name__ == "__main__":
    sys.exit(main())
