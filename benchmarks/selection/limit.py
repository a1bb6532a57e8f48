"""Is it the search or the labels? The best masks that are found against the mask that is right.

    python benchmarks/selection/limit.py [--seeds 20]

With C given, the posterior of masks (first view) is searched and sampled as the default does, and
sampled twenty times longer. Its value at the best mask found is compared with its value at the
informative columns, with the best amplitude and the best choice of lines and curves for them. Where
what is found has the higher value, no search could prefer the truth: under this posterior the
labels do not. Recall is that of the C most probable columns, after the usual number of jumps and
after twenty times as many.
Writes ``limit.md`` beside this file.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.common.environment import run_facts
from benchmarks.common.scores import top_recall
from benchmarks.common.tables import markdown
from benchmarks.selection.problems import SETTINGS, Drawn, draw

from s2mam._typing import AnyArray
from s2mam.bilevel.mask_member import MaskSettings, find_masks, sample_masks
from s2mam.bilevel.views import build_view
from s2mam.intake.table import TableReader
from s2mam.masks.labeled_atoms import LabeledAtoms, labeled_atoms
from s2mam.masks.mask_prior import size_prior
from s2mam.masks.posterior_evidence import Hyper, MaskPosterior
from s2mam.masks.posterior_start import hyper_moves

_PROBLEMS = ("additive_25", "additive_40", "additive_50", "friedman_25", "friedman_50")
_JUMPS, _LONGER = 120, 20
# Kernel lengths of curves, as the default has them.
_LENGTH, _LONGER_LENGTHS = 1.5, (4.5,)


@dataclass(frozen=True)
class Compared:
    """One draw: log-posterior of what was found less that of the truth, and two recalls."""

    lead: float
    recall: float
    long_recall: float


def compare(drawn: Drawn, seed: int) -> Compared:
    """Search the posterior of one draw and compare with the truth."""
    atoms, prior = _labeled(drawn), _prior(drawn)
    pool = find_masks(atoms, prior, thorough=True)
    runs = [
        sample_masks(atoms, prior, pool, steps=steps, rng=np.random.default_rng(seed))
        for steps in (_JUMPS, _LONGER * _JUMPS)
    ]
    found = max(float(run.log_posterior.max()) for run in runs)
    truth = _value_of_truth(MaskPosterior(atoms, prior.prior), drawn.informative)
    recalls = [top_recall(run.probabilities, drawn.source) for run in runs]
    return Compared(found - truth, *recalls)


def _labeled(drawn: Drawn) -> LabeledAtoms:
    problem = drawn.problem
    reader = TableReader().fit(problem.X)
    view = build_view(
        reader.transform(problem.X), reader.kinds_, length=_LENGTH, longer=_LONGER_LENGTHS
    )
    rows = np.flatnonzero(problem.labeled)
    target = problem.y[rows, None]
    target = (target - target.mean()) / target.std()
    return labeled_atoms(
        view.atoms.straight, view.atoms.curved[:], rows, target, np.ones(len(rows))
    )


def _prior(drawn: Drawn) -> MaskSettings:
    p = drawn.informative.size
    size = size_prior(p, drawn.n_select)
    return MaskSettings(size, np.zeros(p), np.ones(p), drawn.n_select)


def _value_of_truth(posterior: MaskPosterior, informative: AnyArray) -> float:
    """The best value with exactly the informative columns: lines, curves or both, any amplitude."""
    p = informative.size
    starts = [np.concatenate([informative, curved]) for curved in (informative, np.zeros(p, bool))]
    return max(
        _climb(posterior, mask, (amplitude, share), p)
        for mask in starts
        for amplitude in range(2, posterior.amplitudes.size, 4)
        for share in range(posterior.curve_shares.size)
    )


def _climb(posterior: MaskPosterior, mask: AnyArray, hyper: Hyper, p: int) -> float:
    """Best flip after best flip among those that leave the set of columns as it is."""
    value = posterior.value(mask, hyper)
    while True:
        before = value
        for move in hyper_moves(posterior, hyper):
            if (other := posterior.value(mask, move)) > value:
                value, hyper = other, move
        inside = mask[:p] | mask[p:]
        partner = np.concatenate([mask[p:], mask[:p]])
        allowed = np.concatenate([inside, inside]) & (partner | ~mask)
        gains = np.where(allowed, posterior.flip_gains(mask, hyper), -np.inf)
        best = int(gains.argmax())
        if gains[best] > 1e-9:
            mask = mask.copy()
            mask[best] = not mask[best]
            value = posterior.value(mask, hyper)
        if value <= before + 1e-9:
            return value


def main() -> int:
    """Compare on every problem and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20, help="draws of each problem (20)")
    options = parser.parse_args()
    rows = []
    for name in _PROBLEMS:
        results = [compare(draw(name, 300 + seed), seed) for seed in range(options.seeds)]
        lead = np.array([one.lead for one in results])
        rows.append(
            [
                SETTINGS[name].title,
                f"{np.mean(lead > 1e-6):.0%}",
                f"{np.mean(np.abs(lead) <= 1e-6):.0%}",
                f"{np.mean(lead < -1e-6):.0%}",
                f"{lead.mean():+.1f}",
                f"{np.mean([one.recall for one in results]):.2f}",
                f"{np.mean([one.long_recall for one in results]):.2f}",
            ]
        )
        print(" | ".join(rows[-1]), flush=True)
    header = [
        "problem",
        "found above the truth",
        "truth found",
        "truth missed",
        "mean lead, nats",
        "recall",
        f"recall, {_LONGER} x longer",
    ]
    facts = run_facts("limit", str(__doc__))
    text = "\n\n".join(
        [
            "# The search or the labels?",
            markdown(header, rows),
            f"{options.seeds} draws, seeds that no study uses. "
            + __doc__.split("\n\n", 2)[2].strip(),
            f"Commit {facts['commit']}, source {facts['source']}; {facts['machine']}.",
        ]
    )
    Path(__file__).with_name("limit.md").write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
