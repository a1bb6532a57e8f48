"""Methods of the selection study."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
from benchmarks.common import ours, peers
from benchmarks.common.ebm import ebm
from benchmarks.common.methods import Method, Outcome, Task, cpu_clock, predicted
from benchmarks.common.peers import standardized
from benchmarks.selection.search import greedy

import s2mam
from s2mam._typing import AnyArray

#: Methods that see the columns unscaled: only for them the readings of N(100, 100) differ.
RAW = ("paper_raw_C",)
#: Methods that are told the number of columns.
TOLD = ("s2mam_C", "paper_C", "paper_raw_C", "rloo_C", "relaxed_C", "greedy_evidence", "greedy_loo")


def methods(task: str, informative: AnyArray | None = None) -> dict[str, Method]:
    """Methods of a task by name; the oracle needs the informative columns."""
    known = peers.CLASSIFICATION if task == "classification" else peers.REGRESSION
    sparse = "l1_logistic" if task == "classification" else "lasso"
    return {
        **_ours(informative),
        "greedy_evidence": greedy("evidence"),
        "greedy_loo": greedy("loo"),
        sparse: known[sparse],
        **_spam(task),
        "null": known["null"],
        "ebm_additive": ebm(pairs=False),
    }


def _ours(informative: AnyArray | None) -> dict[str, Method]:
    if not ours.ready():
        return {}
    columns = np.ones(1, dtype=bool) if informative is None else informative
    literal: dict[str, Any] = dict(s2mam.PAPER)
    return {
        "s2mam": ours.ours(),
        "s2mam_C": ours.ours(told=True),
        "paper_C": ours.ours(told=True, **literal),
        "paper_raw_C": ours.ours(told=True, **{**literal, "scale": False}),
        "rloo_C": ours.ours(told=True, mask_learner="rloo"),
        "relaxed_C": ours.ours(told=True, mask_learner="relaxed"),
        "oracle": ours.oracle(columns),
    }


def _spam(task: str) -> dict[str, Method]:
    """SpAM of the package's baselines, where it is there."""
    if importlib.util.find_spec("s2mam.baselines") is None:
        return {}
    from s2mam.baselines import all_baselines

    kind = all_baselines(task).get("SpAM")
    if kind is None:
        return {}

    def method(given: Task) -> Outcome:
        task = standardized(given)
        model = kind()
        with cpu_clock() as cpu:
            model.fit(task.X, task.y)
        support = getattr(model, "support_", None)
        more = {} if support is None else {"selected": np.asarray(support, dtype=bool)}
        return predicted(model, task, cpu(), "standard", **more)

    return {"spam": method}
