"""Which columns the networks need, before any is trained: the evidence of their hidden values."""

from __future__ import annotations

import numpy as np

from s2mam._typing import FloatArray
from s2mam.bases.neural import NeuralColumns
from s2mam.masks.contrasts import class_contrasts
from s2mam.masks.evidence import EvidenceCriterion
from s2mam.masks.kernels import labeled_kernels
from s2mam.neural.nets import LAST, column_levels, draw_start
from s2mam.neural.problem import NeuralProblem

__all__ = ["hidden_features", "network_evidence"]

# Random starts whose hidden values count together; as many as are averaged in the end.
_STARTS = 4
# Standard deviation of the straight part's weight beside that of all curved ones, as with kernels.
_LINEAR = 0.3
# Directions with a smaller share of a column's largest variance say nothing.
_TOLERANCE = 1e-6


def network_evidence(problem: NeuralProblem) -> EvidenceCriterion:
    """Evidence of masks if only the output layers of the networks were learned.

    The last hidden values of untrained networks span the functions that training starts from. With
    Gaussian output weights their evidence is known in closed form: no training, no label held
    out, and an exact gradient in the mask. Labels held out in folds say far less where columns
    outnumber them.

    Parameters
    ----------
    problem : NeuralProblem

    Returns
    -------
    EvidenceCriterion
        Over all columns; constant ones have no effect.
    """
    blocks = hidden_features(problem)
    offsets = np.concatenate([[0], np.cumsum([block.shape[1] for block in blocks])])
    target = problem.scaled_target
    if problem.n_classes:
        target = class_contrasts(target, problem.n_classes)
    features = np.concatenate(blocks, axis=1)
    return EvidenceCriterion(labeled_kernels(features, offsets, target, problem.weights))


def hidden_features(problem: NeuralProblem) -> list[FloatArray]:
    """Hidden values of the labelled rows in each column, (l, r_j), of unit spread in all rows.

    Parameters
    ----------
    problem : NeuralProblem
    """
    nets = _untrained(problem)
    blocks = []
    for j, kind in enumerate(problem.kinds):
        if kind == "constant":
            blocks.append(np.zeros((problem.n_labeled, 0)))
            continue
        hidden = nets.hidden(j, problem.table[:, j])
        if kind != "categorical":
            hidden = _weighed(hidden)
        values = hidden.reshape(-1, hidden.shape[2])
        present = ~np.isnan(problem.table[:, j])
        values = np.where(present, values - values[:, present].mean(axis=1, keepdims=True), 0.0)
        blocks.append(_principal(values.T)[: problem.n_labeled])
    return blocks


def _untrained(problem: NeuralProblem) -> NeuralColumns:
    p = problem.table.shape[1]
    columns = np.arange(p)
    drawn = [draw_start(problem, columns, start) for start in range(_STARTS)]
    arrays = {name: np.stack([one[name] for one in drawn]) for name in drawn[0]}
    return NeuralColumns(
        columns=columns,
        first_weights=arrays["w1"][..., 0],
        first_biases=arrays["b1"][..., 0],
        second_weights=arrays["w2"],
        second_biases=arrays["b2"][..., 0],
        outputs=np.zeros((_STARTS, p, 1, LAST)),
        levels=column_levels(problem.table, problem.kinds),
        shifts=np.zeros((p, 1)),
    )


def _weighed(hidden: FloatArray) -> FloatArray:
    """Hidden values (e, h, n) times the standard deviations of their output weights."""
    curved = hidden[:, 1:] / np.sqrt(hidden[:, 1:, 0].size)
    line = hidden[:, :1] * (_LINEAR / np.sqrt(len(hidden)))
    return np.concatenate([line, curved], axis=1)


def _principal(values: FloatArray) -> FloatArray:
    """(n, r) the same products of rows by fewer numbers, on the scale of one unit of variance."""
    variances, axes = np.linalg.eigh(values.T @ values / len(values))
    total = variances.sum()
    if not total > 0.0:
        return np.zeros((len(values), 0))
    kept = variances > _TOLERANCE * variances[-1]
    rotated: FloatArray = values @ axes[:, kept] / np.sqrt(total)
    return rotated
