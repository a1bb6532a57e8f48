"""One cell of a study: a system on one repeat of one setting, from rows to a record."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from s2mam._typing import AnyArray, FloatArray
from s2mam._version import __version__
from s2mam.exceptions import S2MAMError
from s2mam.experiments.code_mark import code_mark
from s2mam.experiments.limits import cpu_clock, cpu_limit
from s2mam.experiments.problem import Problem, draw_problem, draw_seeds
from s2mam.experiments.protocol import Protocol, Setting
from s2mam.experiments.systems import System
from s2mam.experiments.tuning import Tuned

__all__ = ["FAILURES", "Cell", "Record", "Work", "plan", "run_cell"]

Record: TypeAlias = dict[str, Any]
#: What a failing system may raise without ending the run.
FAILURES = (S2MAMError, ValueError, ArithmeticError, np.linalg.LinAlgError, MemoryError)


@dataclass(frozen=True)
class Cell:
    """Name of a cell.

    Attributes
    ----------
    setting, system : str
    repeat : int
    mark : str
        Of the setting and all that decides about the outcome, see `Protocol.mark`.
    """

    setting: str
    system: str
    repeat: int
    mark: str


@dataclass(frozen=True)
class Work:
    """A cell and all that is needed to compute it, in any process."""

    cell: Cell
    setting: Setting
    system: System
    protocol: Protocol
    data_home: str | None = None
    device: str | None = None


def plan(
    protocol: Protocol,
    systems: dict[str, System],
    data_home: str | os.PathLike[str] | None = None,
    device: str | None = None,
) -> list[Work]:
    """All cells of a protocol, repeat by repeat, so that a run cut short is a smaller study.

    Parameters
    ----------
    protocol : Protocol
    systems : dict
        The systems by name.
    data_home : path, optional
    device : str, optional
        Where networks are trained.
    """
    home = None if data_home is None else os.fspath(data_home)
    works = []
    for repeat in range(protocol.repeats):
        for setting in protocol.settings:
            mark = protocol.mark(setting)
            for name in protocol.systems:
                if setting.task in systems[name].classes:
                    cell = Cell(setting.name, name, repeat, mark)
                    at = device if systems[name].is_network(setting.task) else None
                    works.append(Work(cell, setting, systems[name], protocol, home, at))
    return works


def run_cell(work: Work) -> Record | None:
    """Compute a cell.

    Parameters
    ----------
    work : Work

    Returns
    -------
    dict or None
        "cell", "scores", "seconds" (CPU), "seed", "version", "code", "scale", "chosen",
        "device" when one was named for a network, and "error" when the system failed; None when
        the system has no meaning here: an oracle mask where no column is known to be junk.
    """
    setting = work.setting
    seeds = draw_seeds(work.protocol.seed, work.cell.repeat)
    problem = draw_problem(setting, seeds, work.data_home)
    if work.system.informative_only and problem.informative is None:
        return None
    record: Record = {
        "cell": vars(work.cell),
        "scores": {},
        "seconds": 0.0,
        "seed": seeds.fit,
        "version": __version__,
        "code": code_mark(),
        "scale": setting.scale,
        "chosen": {},
    }
    if work.device is not None:
        record["device"] = work.device
    clock = cpu_clock()
    began = clock()
    try:
        with warnings.catch_warnings(record=True) as caught, cpu_limit(work.protocol.time_limit):
            warnings.simplefilter("always")
            fitted = fit_problem(work, problem, seeds.fit)
        record["seconds"] = round(clock() - began, 4)
        record["scores"] = _scores(fitted, problem, setting)
        record["chosen"] = fitted.chosen
        record["warnings"] = len(caught)
    except FAILURES as error:
        record["seconds"] = round(clock() - began, 4)
        record["error"] = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return record


@dataclass(frozen=True)
class Predictions:
    """What a fitted system says.

    Attributes
    ----------
    train, test : arrays
        Predictions of the training and the test rows.
    support : (p,) array of bool or None
        Selected columns.
    chosen : dict
        Tuned parameters, and how they were tuned.
    """

    train: AnyArray
    test: AnyArray
    support: AnyArray | None
    chosen: dict[str, Any]


def fit_problem(work: Work, problem: Problem, seed: int) -> Predictions:
    """Fit a system to the training rows and predict; the test rows play no part in the fit.

    Parameters
    ----------
    work : Work
    problem : Problem
    seed : int
    """
    system, task = work.system, work.setting.task
    estimator = system.build(
        task,
        seed=seed,
        scale=work.setting.scale,
        budget=work.protocol.budget,
        device=work.device,
    )
    grid = system.tuning_grid(task) if work.protocol.tuning == "loo" else {}
    if grid:
        estimator = Tuned(estimator, grid, random_state=seed, early_stop=True)
    columns: Any = slice(None)
    if system.informative_only and problem.informative is not None:
        columns = np.flatnonzero(problem.informative)
    X, X_test = problem.X[:, columns], problem.X_test[:, columns]
    y = problem.truth if system.sees_truth else problem.y
    center, spread = 0.0, 1.0
    if task == "regression" and work.protocol.standardize_target:
        center = float(np.nanmean(problem.y))
        spread = float(np.nanstd(problem.y)) or 1.0
        y = (y - center) / spread
    estimator.fit(X, y)
    train = getattr(estimator, "transduction_", None)
    train = estimator.predict(X) if train is None else train
    test = estimator.predict(X_test)
    if task == "regression":
        train, test = _finite(train) * spread + center, _finite(test) * spread + center
    chosen = {}
    if grid:
        chosen = {**estimator.best_params_, "by": estimator.scheme_}
    return Predictions(train, test, _support(estimator, X.shape[1]), chosen)


def _finite(values: AnyArray) -> FloatArray:
    numbers = np.asarray(values, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise FloatingPointError("predictions are not finite")
    return numbers


def _support(estimator: Any, p: int) -> AnyArray | None:
    """Selected columns; other packages give other meanings to the same attribute."""
    support = getattr(estimator, "support_", None)
    if isinstance(support, np.ndarray) and support.dtype == bool and support.shape == (p,):
        return support
    return None


def _scores(fitted: Predictions, problem: Problem, setting: Setting) -> dict[str, float]:
    hidden = problem.hidden
    scores = {"test": _metric(setting.metric, problem.y_test, fitted.test, problem.variance)}
    if hidden.any():
        scores["unlabeled"] = _metric(
            setting.metric, problem.truth[hidden], fitted.train[hidden], problem.variance
        )
    known, support = problem.informative, fitted.support
    if support is not None:
        scores["selected"] = float(np.count_nonzero(support))
    if support is not None and known is not None and support.shape == known.shape:
        hits = float(np.count_nonzero(support & known))
        if problem.mask_known:
            scores["recall"] = hits / float(np.count_nonzero(known))
        scores["precision"] = hits / max(float(np.count_nonzero(support)), 1.0)
    return scores


def _metric(name: str, y: AnyArray, predicted: AnyArray, variance: float) -> float:
    if name == "accuracy":
        return float(100.0 * np.mean(y == predicted))
    mse = float(np.mean((np.asarray(y) - predicted) ** 2))
    if name == "rmse":
        return float(np.sqrt(mse))
    return mse / variance if name == "relative_mse" else mse
