"""Masks: the upper level. Projection, draws, gradient estimators, criteria and searches."""

from s2mam.masks.alo import approximate_loo, leave_one_out_decisions
from s2mam.masks.budget import BudgetPath, choose_budget, log_size_prior
from s2mam.masks.contrasts import class_contrasts
from s2mam.masks.criteria import (
    AloCriterion,
    CachedCriterion,
    Criterion,
    FitCriterion,
    LabeledCriterion,
    MaskFit,
    MaskSolver,
    SmoothCriterion,
)
from s2mam.masks.draws import clip_probabilities, draw_masks, log_probability, score
from s2mam.masks.evidence import EvidenceCriterion
from s2mam.masks.gradients import reinforce, rloo
from s2mam.masks.greedy import GreedyPath, greedy_forward
from s2mam.masks.kernels import GraphTerm, LabeledKernels, LooseRows, labeled_kernels
from s2mam.masks.loo import LooCriterion
from s2mam.masks.polish import PolishedMask, polish, swap_values
from s2mam.masks.projection import budget_shift, project_budget
from s2mam.masks.relaxed import MaskSearch, RelaxedMask, descend, relaxed_search, top_mask

__all__ = [
    "AloCriterion",
    "BudgetPath",
    "CachedCriterion",
    "Criterion",
    "EvidenceCriterion",
    "FitCriterion",
    "GraphTerm",
    "GreedyPath",
    "LabeledCriterion",
    "LabeledKernels",
    "LooCriterion",
    "LooseRows",
    "MaskFit",
    "MaskSearch",
    "MaskSolver",
    "PolishedMask",
    "RelaxedMask",
    "SmoothCriterion",
    "approximate_loo",
    "budget_shift",
    "choose_budget",
    "class_contrasts",
    "clip_probabilities",
    "descend",
    "draw_masks",
    "greedy_forward",
    "labeled_kernels",
    "leave_one_out_decisions",
    "log_probability",
    "log_size_prior",
    "polish",
    "project_budget",
    "reinforce",
    "relaxed_search",
    "rloo",
    "score",
    "swap_values",
    "top_mask",
]
