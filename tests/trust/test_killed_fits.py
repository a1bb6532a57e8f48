"""Fits that are killed at any moment go on to the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from trust_children import fit_until_killed, saved

LENGTHS = {"posterior": 40, "rloo": 120, "paper": 6}


def _survives(tmp_path, learner, task, kills, seed):
    """Kill a fit so many times, at moments drawn over the time that a whole one takes."""
    out = tmp_path / "out.npy"
    code, duration = fit_until_killed(learner, task, "", out, LENGTHS[learner], None)
    assert code == 0
    whole = saved(out)
    rng = np.random.default_rng(seed)
    killed = rounds = 0
    while killed < kills:
        rounds += 1
        checkpoint, out = tmp_path / f"{rounds}.ckpt", tmp_path / f"{rounds}.npy"
        while not out.exists():
            moment = rng.uniform(0.0, 0.6 * duration) if killed < kills else None
            code, _ = fit_until_killed(learner, task, checkpoint, out, LENGTHS[learner], moment)
            killed += code != 0
        np.testing.assert_array_equal(saved(out), whole)


def test_a_few_kills(tmp_path):
    _survives(tmp_path, "posterior", "regression", 5, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("learner", LENGTHS)
def test_fifty_kills(tmp_path, learner, task):
    _survives(tmp_path, learner, task, 50, seed=1)
