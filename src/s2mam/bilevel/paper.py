"""The settings that make an estimator follow the paper's Algorithm 1 to the letter."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["PAPER"]

#: Estimator settings. The budget C, lambda and mu are the user's: the paper takes lambda from
#: 1e-4..1e-1 and mu from 1e-4..1 by leave-one-out, and does not say how it chooses C.
PAPER: Final[dict[str, Any]] = {
    "basis": "kernel",
    "graph": "dense",
    "bandwidth": 1.0,
    "sparsity": 1e-3,
    "manifold": 1e-3,
    "mask_learner": "reinforce",
    "criterion": "labeled",
    "solver": "admm",
    "n_masks": 1,
    "max_iter": 300,
    "step_size": 0.01,
    # Masked inputs stay as constant kernels, there is no intercept, new rows are predicted under
    # the expected mask, and the first mask is all ones: see bilevel.literal and paper_options.
    "literal": True,
}
