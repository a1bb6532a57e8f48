"""Forward selection with the package's criteria, and kernel ridge on what it found.

The plain rival of every mask learner: same kernels, same criterion, no learning of masks.
"""

from __future__ import annotations

import numpy as np
from benchmarks.common.methods import Method, Outcome, Task, cpu_clock

from s2mam._typing import AnyArray
from s2mam.bases import build_design
from s2mam.intake.table import TableReader
from s2mam.masks import (
    EvidenceCriterion,
    LooCriterion,
    class_contrasts,
    greedy_forward,
    labeled_kernels,
)

_CRITERIA: dict[str, type[EvidenceCriterion] | type[LooCriterion]] = {
    "evidence": EvidenceCriterion,
    "loo": LooCriterion,
}


def greedy(criterion: str) -> Method:
    """Forward selection of C columns by the evidence or the leave-one-out error."""

    def method(task: Task) -> Outcome:
        if task.n_select is None:
            raise ValueError("forward selection is told the number of columns")
        with cpu_clock() as cpu:
            reader = TableReader().fit(task.X)
            design = build_design(reader.transform(task.X), reader.kinds_)
            rows = design.features[task.labeled]
            target = _target(task)
            rule = _CRITERIA[criterion](labeled_kernels(rows, design.offsets, target))
            path = greedy_forward(rule, task.n_select)
            used = np.repeat(path.mask, np.diff(design.offsets))
            ridge = _Ridge(rows[:, used], target, rule.noise_of(path.mask))
        new = design.evaluate(reader.transform(task.X_test))[:, used]
        rest = design.features[~task.labeled][:, used]
        ranking = np.zeros(path.mask.size)
        ranking[path.order] = np.arange(path.order.size, 0, -1)
        return Outcome(
            test=_decide(task, ridge.predict(new)),
            unlabeled=_decide(task, ridge.predict(rest)),
            cpu=cpu(),
            scale="robust",
            ranking=ranking,
            selected=path.mask,
        )

    return method


class _Ridge:
    """Kernel ridge in feature space, intercept unpenalised."""

    def __init__(self, features: AnyArray, target: AnyArray, noise: float) -> None:
        self._center, self._mean = features.mean(axis=0), target.mean(axis=0)
        rows = features - self._center
        gram = rows @ rows.T
        gram[np.diag_indices_from(gram)] += noise
        self._weights = rows.T @ np.linalg.solve(gram, target - self._mean)

    def predict(self, features: AnyArray) -> AnyArray:
        values: AnyArray = (features - self._center) @ self._weights + self._mean
        return values


def _target(task: Task) -> AnyArray:
    shown = task.y[task.labeled]
    if not task.is_classification:
        return shown[:, None]
    codes = shown.astype(int)
    return class_contrasts(codes, int(codes.max()) + 1)


def _decide(task: Task, values: AnyArray) -> AnyArray:
    """Values as they are, or the class whose contrasts are closest in direction."""
    if not task.is_classification:
        return values[:, 0]
    n_classes = values.shape[1] + 1
    scores: AnyArray = values @ class_contrasts(np.arange(n_classes), n_classes).T
    return np.asarray(scores.argmax(axis=1))
