"""The paper's lower level to the letter, traps included.

Masked inputs ``m_j x`` stay in the model: their Gaussian kernel is the constant K(0, 0) = 1, so
every masked column is a lightly penalised intercept, and there is no other intercept. Kernels are
not centred. New rows are predicted under the expected mask,
``f(x) = sum_j sum_i alpha_i^(j) K_j(s_j x_i, s_j x)``, with coefficients fitted under a binary one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from s2mam._typing import AnyArray, FloatArray, IntArray
from s2mam.bases import Design, build_design, kernel_matrix
from s2mam.bases.fourier import draw_frequencies, wave_rows
from s2mam.bilevel.lower import GraphSettings
from s2mam.bilevel.solution import StartPoint, labeled_loss, loo_of
from s2mam.exceptions import InvalidInputError
from s2mam.losses.base import Loss
from s2mam.solvers import GroupProblem, SolveResult, solve

__all__ = ["LiteralLevel", "LiteralSolution"]


@dataclass(frozen=True)
class LiteralSolution:
    """Coefficients of the literal model.

    Attributes
    ----------
    mask : (p,) array of bool
        The mask they were fitted under.
    alpha : (n, p) or (n, p, K) array
        alpha_i^(j): one coefficient per training row and column (and output).
    fitted : (n,) or (n, K) array
        Decision values of all training rows under ``mask``.
    problem, result : GroupProblem, SolveResult
        The reduced problem and its solution.
    full_coef : (P + 1,) or (P + 1, K) array
        Start of the next solve; the last entry is the constant of all masked columns together.
    """

    mask: AnyArray
    alpha: FloatArray
    fitted: FloatArray
    problem: GroupProblem
    result: SolveResult
    full_coef: FloatArray

    def start_point(self) -> StartPoint:
        """Return what a later solve, under another mask, can start from."""
        return StartPoint(self.full_coef, 0.0)

    def labeled_loss(self) -> float:
        """Return the loss on the labelled rows the model was fitted to."""
        return labeled_loss(self.problem, self.result)

    def approximate_loo(self) -> float:
        """Return the approximate leave-one-out loss."""
        return loo_of(self.problem, self.result)


@dataclass(frozen=True)
class LiteralLevel:
    """``min loss(y, f) + sparsity sum_j tau_j ||alpha^(j)||_2 + manifold / n^2 f'Lf``, literally.

    Parameters
    ----------
    table : (n, p) array
        All training rows, numeric.
    labeled, target, weights, loss, sparsity, manifold, tau, graph, solver, tol, max_iter
        As in :class:`s2mam.bilevel.lower.LowerLevel`.
    kernel, length : str, float or (p,) array
        Kernel of every column.
    rank_tolerance : float
        Share of a kernel's trace that its factor may leave out.
    basis : {"kernel", "fourier"}
        The kernels themselves, or the random Fourier features that stand for them in S2MAM-F.
    seed : int
        Of the random Fourier features.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam.losses import SquaredLoss
    >>> Z = np.random.default_rng(0).normal(size=(30, 2))
    >>> level = LiteralLevel(
    ...     Z, np.arange(15), np.sin(2 * Z[:15, 0]), np.full(15, 1 / 15), SquaredLoss(),
    ...     sparsity=1e-3, manifold=1e-3,
    ... )
    >>> fit = level.solve([True, False])
    >>> bool(np.allclose(level.predict(fit, Z, fit.mask), fit.fitted, atol=1e-3))
    True
    """

    table: FloatArray
    labeled: IntArray
    target: AnyArray
    weights: FloatArray
    loss: Loss
    sparsity: float
    manifold: float
    tau: FloatArray | None = None
    kernel: str = "gaussian"
    length: float | FloatArray = 1.0
    graph: GraphSettings = field(default_factory=lambda: GraphSettings(kind="dense", bandwidth=1.0))
    solver: str = "admm"
    tol: float = 1e-6
    max_iter: int | None = None
    rank_tolerance: float = 1e-10
    basis: str = "kernel"
    seed: int = 0

    @property
    def n_columns(self) -> int:
        """Number p of columns."""
        return int(self.table.shape[1])

    @property
    def n_rows(self) -> int:
        """Number n of training rows."""
        return int(self.table.shape[0])

    @cached_property
    def design(self) -> Design:
        """Uncentred factors K_j = F_j F_j' of all columns."""
        return build_design(
            self.table,
            ("numeric",) * self.n_columns,
            kernel=self.kernel,
            length=self.length,
            center=False,
            tolerance=self.rank_tolerance,
            max_rank=None,
            basis=self.basis,
            seed=self.seed,
        )

    @cached_property
    def penalties(self) -> FloatArray:
        """lambda_1 tau_j of every column."""
        tau = np.ones(self.n_columns) if self.tau is None else np.asarray(self.tau, np.float64)
        return self.sparsity * tau

    def solve(
        self, mask: ArrayLike, start: LiteralSolution | StartPoint | None = None
    ) -> LiteralSolution:
        """Fit the model under a binary mask."""
        on = self._read_mask(mask)
        chosen = np.append(np.repeat(on, self.design.ranks), not on.all())
        features = self._features(on)
        problem = self._problem(on, features)
        warm = None
        if start is not None:
            point = start.start_point() if isinstance(start, LiteralSolution) else start
            coef = point.coef[chosen]
            warm = SolveResult(coef, 0.0, problem.objective(coef, 0.0), np.inf, 0, "start", [])
        result = solve(
            problem, method=self.solver, start=warm, tol=self.tol, max_iter=self.max_iter
        )
        full = np.zeros((chosen.size, *result.coef.shape[1:]))
        full[chosen] = result.coef
        return LiteralSolution(
            mask=on,
            alpha=self._alpha(on, full),
            fitted=features @ result.coef,
            problem=problem,
            result=result,
            full_coef=full,
        )

    def predict(self, solution: LiteralSolution, Z: ArrayLike, s: ArrayLike) -> FloatArray:
        """Return ``sum_j sum_i alpha_i^(j) K_j(s_j x_i, s_j x)`` for new rows.

        Parameters
        ----------
        solution : LiteralSolution
        Z : (m, p) array
            New rows.
        s : (p,) array
            The expected mask, or any other mask in [0, 1].
        """
        rows = np.asarray(Z, dtype=np.float64)
        weight = np.asarray(s, dtype=np.float64)
        decision = np.zeros((rows.shape[0], *solution.alpha.shape[2:]))
        for j in range(self.n_columns):
            alpha = solution.alpha[:, j]
            if alpha.any():
                decision += self._kernel(weight[j] * rows[:, j], weight[j], j) @ alpha
        return decision

    def subset(self, rows: IntArray) -> LiteralLevel:
        """Return the literal level of some training rows (a batch).

        Its coefficients belong to other rows, so solutions of the whole set are no start for it.
        """
        rows = np.asarray(rows, dtype=np.intp)
        position = np.full(self.n_rows, -1)
        position[rows] = np.arange(rows.size)
        kept = position[self.labeled] >= 0
        weights = self.weights[kept]
        if not weights.sum() > 0.0:
            raise InvalidInputError(
                f"The batch of {rows.size} rows holds no labelled row; draw a larger batch."
            )
        return replace(
            self,
            table=self.table[rows],
            labeled=position[self.labeled][kept],
            target=self.target[kept],
            weights=weights / weights.sum(),
        )

    def _features(self, on: AnyArray) -> FloatArray:
        """Features U S of the active columns, and the constant that masked columns share.

        A masked kernel is 11' = U S U' with U = 1 / sqrt(n) and S = n.
        """
        chosen = np.repeat(on, self.design.ranks)
        features = self.design.features[:, chosen] * np.sqrt(self.design.spectra[chosen])
        if on.all():
            return np.asarray(features, dtype=np.float64)
        return np.column_stack([features, np.full(self.n_rows, np.sqrt(self.n_rows))])

    def _problem(self, on: AnyArray, features: FloatArray) -> GroupProblem:
        sizes, penalties = self.design.ranks[on], self.penalties[on]
        if not on.all():
            # Identical masked blocks: the cheapest of them carry the constant.
            sizes = np.append(sizes, 1)
            penalties = np.append(penalties, self.penalties[~on].min())
        quadratic = None
        if self.manifold > 0.0:
            kinds = ("numeric",) * self.n_columns
            graph = self.graph.build(self.table, on.astype(np.float64), kinds)
            quadratic = self.manifold / self.n_rows**2 * graph.quadratic(features)
        return GroupProblem(
            loss=self.loss,
            features=features[self.labeled],
            target=self.target,
            weights=self.weights,
            offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp),
            penalties=penalties,
            quadratic=quadratic,
            fit_intercept=False,
        )

    def _alpha(self, on: AnyArray, full: FloatArray) -> FloatArray:
        """Coefficients per training row: alpha^(j) = U_j a_j; the cheapest masked share alike."""
        design = self.design
        alpha = np.zeros((self.n_rows, self.n_columns, *full.shape[1:]))
        for j in np.flatnonzero(on):
            block = design.block(int(j))
            basis = design.features[:, block] / np.sqrt(design.spectra[block])
            alpha[:, j] = basis @ full[block]
        masked = np.flatnonzero(~on)
        if masked.size:
            cheapest = masked[self.penalties[masked] == self.penalties[masked].min()]
            alpha[:, cheapest] = full[-1] / (np.sqrt(self.n_rows) * cheapest.size)
        return alpha

    def waves(self, x: FloatArray, column: int) -> FloatArray:
        """Random Fourier features (D, m) of a column at some values, for the Fourier basis."""
        drawn = draw_frequencies(np.array([column]), self.seed)[0]
        rows = wave_rows(x, drawn[:, None], self.design.lengths[column : column + 1])
        return np.asarray(rows * np.sqrt(2.0 / drawn.size), dtype=np.float64)

    def _kernel(self, x: FloatArray, scale: float, column: int) -> FloatArray:
        if self.basis == "fourier":
            left, right = self.waves(x, column), self.waves(scale * self.table[:, column], column)
            return np.asarray(left.T @ right, dtype=np.float64)
        length = float(self.design.lengths[column])
        return kernel_matrix(x, scale * self.table[:, column], kernel=self.kernel, length=length)

    def _read_mask(self, mask: ArrayLike) -> AnyArray:
        weight = np.asarray(mask, dtype=np.float64)
        if weight.shape != (self.n_columns,) or not np.isin(weight, (0.0, 1.0)).all():
            raise InvalidInputError(
                f"The literal model is fitted under a binary mask of {self.n_columns} entries."
            )
        on: AnyArray = weight == 1.0
        return on
