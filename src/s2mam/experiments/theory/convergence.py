"""How fast the gradient mapping of Algorithm 1 falls, with the exact gradient of Phi."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from s2mam._typing import FloatArray, IntArray
from s2mam.bases.kernels import auto_lengths
from s2mam.bilevel.literal import LiteralLevel
from s2mam.bilevel.loop import run_loop
from s2mam.bilevel.options import paper_options
from s2mam.bilevel.paper import PAPER
from s2mam.bilevel.state import LoopState
from s2mam.datasets import hide_labels, make_friedman, make_moons
from s2mam.exceptions import S2MAMWarning
from s2mam.experiments.theory.rates import Power, fit_power
from s2mam.experiments.theory.report import Curve, Report
from s2mam.intake import TableReader
from s2mam.losses import LogisticLoss, SquaredLoss
from s2mam.masks.criteria import LabeledCriterion
from s2mam.masks.projection import project_budget

__all__ = ["MaskTable", "convergence", "exact_gradient", "mapping_norms"]

_TEXT = (
    "Algorithm 1 to the letter (one draw, no baseline, step c / sqrt(t)) on problems small enough "
    "that the loss of every mask is known, so that the gradient of Phi, and with it the gradient "
    "mapping G, is exact. Shown is the smallest mean of G² over the runs up to iteration T, and "
    "the power of T fitted to the last part of each curve (from T/10 on, where it is above zero). "
    "The theorem says that G² is at most a constant times T^-1/2, for steps below 1/L and a "
    "bounded variance of the estimate: a fitted power of -0.5 or less shows that rate; a flatter "
    "curve says that T is too small for the constant, which grows as 1/c, or that the assumptions "
    "fail. The variance is not bounded where probabilities come near 0 or 1: runs that end there, "
    "from where there is no way back, are counted, and are what makes G² exactly zero."
)
# Relative to the start, G² below this is rounding.
_ZERO = 1e-12


@dataclass(frozen=True)
class MaskTable:
    """A criterion whose value is known for all 2^p masks.

    Attributes
    ----------
    values : (2^p,) array
        Mask k has column j where bit j of k is set.
    """

    values: FloatArray

    @property
    def n_columns(self) -> int:
        """Number p of columns."""
        return int(self.values.size).bit_length() - 1

    def value(self, mask: ArrayLike) -> float:
        """The value of a mask."""
        bits = np.asarray(mask, dtype=bool)
        return float(self.values[int(bits @ (1 << np.arange(bits.size)))])

    @property
    def masks(self) -> FloatArray:
        """(2^p, p) all masks."""
        numbers = np.arange(self.values.size)[:, None] >> np.arange(self.n_columns)
        return (numbers & 1).astype(np.float64)

    def smoothness(self) -> float:
        """A bound on the Lipschitz constant of the gradient of Phi."""
        p = self.n_columns
        cube = self.values.reshape((2,) * p)
        largest = 0.0
        for j in range(p):
            for k in range(j):
                largest = max(largest, float(np.abs(np.diff(np.diff(cube, axis=j), axis=k)).max()))
        return p * largest


def exact_gradient(table: MaskTable, s: FloatArray) -> FloatArray:
    """Gradient of Phi(s) = E value(m), m_j ~ Bern(s_j), at the rows of s.

    Parameters
    ----------
    table : MaskTable
    s : (T, p) array

    Examples
    --------
    >>> exact_gradient(MaskTable(np.array([0.0, 2.0, 5.0, 7.0])), np.array([[0.3, 0.9]]))
    array([[2., 5.]])
    """
    masks, p = table.masks, table.n_columns
    # chance[t, k, j]: probability that column j is as in mask k.
    chance = np.where(masks[None] > 0, s[:, None, :], 1.0 - s[:, None, :])
    gradient = np.empty_like(s)
    for j in range(p):
        others = np.delete(chance, j, axis=2).prod(axis=2)
        gradient[:, j] = others @ (np.where(masks[:, j] > 0, 1.0, -1.0) * table.values)
    return gradient.round(12)


def mapping_norms(table: MaskTable, s: FloatArray, steps: FloatArray, budget: float) -> FloatArray:
    """|G_t|^2 of the points s_t with the steps eta_t.

    Parameters
    ----------
    table : MaskTable
    s : (T, p) array
    steps : (T,) array
    budget : float
    """
    norms = np.empty(len(s))
    for begin in range(0, len(s), 200):
        part = slice(begin, begin + 200)
        moved = s[part] - steps[part, None] * exact_gradient(table, s[part])
        projected = np.array([project_budget(point, budget) for point in moved])
        norms[part] = (((s[part] - projected) / steps[part, None]) ** 2).sum(axis=1)
    return norms


def convergence(
    *,
    iterations: int = 2000,
    runs: int = 20,
    n_rows: int = 60,
    n_junk: int = 3,
    seed: int = 0,
) -> Report:
    """Measure the gradient mapping along Algorithm 1.

    Parameters
    ----------
    iterations : int
        Iterations of each run.
    runs : int
        Runs, over which the mean is taken.
    n_rows : int
        Training rows of the problems; 20 of them, or 5 a class, are labelled.
    n_junk : int
        Junk columns beside the informative ones.
    seed : int

    Returns
    -------
    Report
    """
    summary, rows, curves = [], [], []
    for problem in ("Friedman regression", "two moons"):
        table, budget = _table(problem, n_rows, n_junk, seed)
        for name, step in (("preset", float(PAPER["step_size"])), ("1/L", _safe_step(table))):
            norms, ended = _follow(table, budget, step, iterations, runs, seed)
            smallest = np.minimum.accumulate(norms)
            counts = np.unique(np.geomspace(1, iterations, 40).astype(int))
            power, zero_from = _tail_power(counts, smallest)
            summary.append(
                {
                    "problem": problem,
                    "p": table.n_columns,
                    "C": budget,
                    "c": f"{step:.3g} ({name})",
                    "G² at T = 1": float(smallest[0]),
                    f"at T = {iterations}": float(smallest[-1]),
                    "power of T": "-" if power is None else f"{power.exponent:.2f}",
                    "its error": "-" if power is None else f"{power.error:.2f}",
                    "theorem": -0.5,
                    "zero from T": "-" if zero_from is None else str(zero_from),
                    "runs stuck": f"{ended} of {runs}",
                }
            )
            rows += [
                {"problem": problem, "step": step, "T": int(t), "min_mean_G2": smallest[t - 1]}
                for t in counts
            ]
            shown = counts[smallest[counts - 1] > _ZERO * smallest[0]]
            curves.append(
                Curve(problem, f"c = {step:.3g}", shown.tolist(), smallest[shown - 1].tolist())
            )
    return Report("convergence", "Gradient mapping of Algorithm 1", _TEXT, summary, rows, curves)


def _tail_power(counts: IntArray, smallest: FloatArray) -> tuple[Power | None, int | None]:
    """Power of T from the last tenfold of the curve, and where it became zero."""
    zeros = np.flatnonzero(smallest <= _ZERO * smallest[0])
    zero_from = int(zeros[0]) + 1 if zeros.size else None
    end = smallest.size if zero_from is None else zero_from - 1
    kept = counts[(counts <= end) & (counts >= end / 10)]
    if kept.size < 3:
        return None, zero_from
    return fit_power(kept.tolist(), smallest[kept - 1].tolist()), zero_from


def _safe_step(table: MaskTable) -> float:
    """c with c / sqrt(t) <= 1 / L for all t."""
    return 1.0 / max(table.smoothness(), 1e-6)


def _follow(
    table: MaskTable, budget: int, step: float, iterations: int, runs: int, seed: int
) -> tuple[FloatArray, int]:
    """Mean of |G_t|^2 over runs, and how many ended where nothing can move."""
    options = replace(paper_options(float(budget)), max_iter=iterations, step_size=step)
    total, ended = np.zeros(iterations), 0
    steps = step / np.sqrt(np.arange(1, iterations + 1))
    for run in range(runs):
        path = np.empty((iterations, table.n_columns))

        def keep(state: LoopState, path: FloatArray = path) -> None:
            path[state.t - 1 :] = state.s  # what follows stays there when the loop ends

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", S2MAMWarning)
            state = run_loop(
                table,
                options,
                random_state=np.random.default_rng([seed, run]),
                on_iteration=keep,
            )
        ended += state.stop_reason in ("absorbed", "dead")
        total += mapping_norms(table, path, steps, budget)
    return total / runs, ended


def _table(problem: str, n_rows: int, n_junk: int, seed: int) -> tuple[MaskTable, int]:
    """Losses of all masks of a small problem under the literal lower level, and C."""
    loss: SquaredLoss | LogisticLoss
    if problem == "two moons":
        data = make_moons(n_rows, n_uninformative=n_junk, n_noisy=1, random_state=seed)
        shown = hide_labels(data.y, per_class=5, random_state=seed)
        labeled, loss, budget = shown >= 0, LogisticLoss(), 2
        target = shown[labeled].astype(np.float64)
    else:
        data = make_friedman(n_rows, n_uninformative=n_junk, n_noisy=0, random_state=seed)
        shown = hide_labels(data.y, n_labeled=20, random_state=seed)
        labeled, loss, budget = ~np.isnan(shown), SquaredLoss(), 4
        target = shown[labeled]
        target = (target - target.mean()) / target.std()
    Z = TableReader(scale="robust").fit_transform(data.X)
    level = LiteralLevel(
        Z,
        np.flatnonzero(labeled),
        target,
        np.full(target.size, 1 / target.size),
        loss,
        sparsity=PAPER["sparsity"],
        manifold=PAPER["manifold"],
        length=auto_lengths(Z, ("numeric",) * Z.shape[1]),
        solver="auto",
    )
    empty = MaskTable(np.zeros(2 ** Z.shape[1]))
    criterion = LabeledCriterion(level)
    with threadpool_limits(limits=1, user_api="blas"):
        values = np.array([criterion.value(mask > 0) for mask in empty.masks])
    return MaskTable(values), budget
