"""Time one solver on stored problems; runs inside that solver's own environment.

Needs numpy and the solver only. Every adapter returns (coefficients, intercept) of the same
objective, ``mean loss + penalty * sum ||b_g||`` with the squared loss without a half; the objective
is evaluated here, so a wrong scaling shows at once.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Solution = tuple[np.ndarray, float]
Call = Callable[[float], Solution]


def load(path: Path) -> dict[str, Any]:
    """Stored problem, single numbers as such."""
    with np.load(path) as stored:
        data = {key: stored[key] for key in stored}
    return {key: value.item() if value.ndim == 0 else value for key, value in data.items()}


def objective(data: dict[str, Any], coef: np.ndarray, intercept: float) -> float:
    """Loss plus penalty, the same for all solvers."""
    decision = data["features"] @ coef + intercept
    if data["task"] == "squared":
        loss = np.mean((data["target"] - decision) ** 2)
    else:
        loss = np.mean(np.logaddexp(0.0, -(2.0 * data["target"] - 1.0) * decision))
    norms = np.linalg.norm(coef.reshape(-1, data["rank"]), axis=1)
    return float(loss + data["penalty"] * norms.sum())


def s2mam(data: dict[str, Any]) -> Call:
    """This package, default solver."""
    return _own(data, "auto")


def s2mam_admm(data: dict[str, Any]) -> Call:
    """This package, the ADMM of the paper."""
    return _own(data, "admm")


def s2mam_arithmetic(data: dict[str, Any]) -> Call:
    """This package, the BLAS and LAPACK calls of the default solver alone."""
    from arithmetic import record

    solve = _own(data, "auto")
    known: dict[float, Any] = {}

    def call(tol: float) -> Solution:
        if tol not in known:
            known[tol] = record(lambda: solve(tol))
        solution, calls = known[tol]
        for one in calls:
            one()
        return solution

    return call


def _own(data: dict[str, Any], method: str) -> Call:
    from s2mam.losses import LogisticLoss, SquaredLoss
    from s2mam.solvers import GroupProblem, solve

    features = np.asfortranarray(data["features"])
    rows, columns = features.shape
    groups = columns // data["rank"]

    def call(tol: float) -> Solution:
        problem = GroupProblem(
            loss=SquaredLoss() if data["task"] == "squared" else LogisticLoss(),
            features=features,
            target=data["target"],
            weights=np.full(rows, 1.0 / rows),
            offsets=np.arange(groups + 1) * data["rank"],
            penalties=np.full(groups, data["penalty"]),
        )
        result = solve(problem, method=method, tol=tol)
        return result.coef, float(result.intercept)

    return call


def skglm(data: dict[str, Any]) -> Call:
    """skglm: GroupBCD (squared), GroupProxNewton (logistic)."""
    from skglm.datafits import LogisticGroup, QuadraticGroup
    from skglm.penalties import WeightedGroupL2
    from skglm.solvers import GroupBCD, GroupProxNewton
    from skglm.utils.data import grp_converter

    features = np.asfortranarray(data["features"])
    groups = features.shape[1] // data["rank"]
    indices, pointer = grp_converter(data["rank"], features.shape[1])
    squared = data["task"] == "squared"
    target = data["target"] if squared else 2.0 * data["target"] - 1.0
    # its squared loss carries a half
    alpha = data["penalty"] / 2.0 if squared else data["penalty"]

    def call(tol: float) -> Solution:
        penalty = WeightedGroupL2(alpha, np.ones(groups), pointer, indices)
        if squared:
            datafit: Any = QuadraticGroup(pointer, indices)
            solver: Any = GroupBCD(tol=tol, fit_intercept=True, max_iter=1000, max_epochs=1000)
        else:
            datafit = LogisticGroup(pointer, indices)
            solver = GroupProxNewton(tol=tol, fit_intercept=True, max_iter=200)
        weights = solver.solve(features, target, datafit, penalty)[0]
        return weights[:-1], float(weights[-1])

    return call


def celer(data: dict[str, Any]) -> Call:
    """celer GroupLasso; it has no logistic group solver."""
    from celer import GroupLasso

    if data["task"] != "squared":
        raise NotImplementedError("celer has no group penalty for the logistic loss")
    features = np.asfortranarray(data["features"])

    def call(tol: float) -> Solution:
        model = GroupLasso(groups=data["rank"], alpha=data["penalty"] / 2.0, tol=tol)
        model.fit(features, data["target"])
        return model.coef_, float(model.intercept_)

    return call


def adelie(data: dict[str, Any], path: int = 1) -> Call:
    """adelie grpnet at one penalty."""
    import adelie as package

    features = np.asfortranarray(data["features"])
    groups = np.arange(0, features.shape[1], data["rank"])
    squared = data["task"] == "squared"
    goal = data["penalty"] / 2.0 if squared else data["penalty"]

    def call(tol: float) -> Solution:
        glm = package.glm.gaussian if squared else package.glm.binomial
        state = package.grpnet(
            features,
            glm(data["target"]),
            groups=groups,
            penalty=np.ones(len(groups)),
            lmda_path=goal * np.geomspace(1.0 / data["fraction"], 1.0, path + 1)[1:],
            tol=tol,
            irls_tol=tol,
            early_exit=False,
            intercept=True,
            progress_bar=False,
        )
        return state.betas[-1].toarray().ravel(), float(state.intercepts[-1])

    return call


def adelie_path(data: dict[str, Any]) -> Call:
    """adelie grpnet along a path of ten penalties, its natural use."""
    return adelie(data, path=10)


ADAPTERS: dict[str, Callable[[dict[str, Any]], Call]] = {
    "s2mam": s2mam,
    "s2mam admm": s2mam_admm,
    "s2mam arithmetic": s2mam_arithmetic,
    "skglm": skglm,
    "celer": celer,
    "adelie": adelie,
    "adelie path": adelie_path,
}
TOLERANCES = {"adelie": -16, "adelie path": -16}
# Relative excess over the certified optimum that counts as solved.
GOAL = 1e-6
REPEATS = 40


def measure(call: Call, data: dict[str, Any], strictest: int, budget: float) -> dict[str, Any]:
    """Time a sweep of tolerances, loosest first, until three have reached the goal.

    Only tolerances that reach it are timed with repeats; stricter ones would only take longer.
    """
    began = time.perf_counter()
    call(1e-3)
    first_call = time.perf_counter() - began
    goal = data["optimum"] + GOAL * abs(data["optimum"])
    runs: list[dict[str, float]] = []
    reached, spent = 0, 0.0
    for half in range(-2, 2 * strictest - 1, -1):
        tol, times = 10.0 ** (half / 2), []
        value = objective(data, *call(tol))
        while not times or (value <= goal and sum(times) < 0.5 and len(times) < REPEATS):
            start = time.process_time()
            call(tol)
            times.append(time.process_time() - start)
        runs.append({"tol": tol, "seconds": min(times), "objective": value})
        reached += value <= goal
        spent += sum(times)
        if reached == 3 or spent > budget:
            break
    return {"first_call_s": first_call, "runs": runs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("solver", choices=ADAPTERS)
    parser.add_argument("output", type=Path)
    parser.add_argument("problems", type=Path, nargs="+")
    parser.add_argument("--budget", type=float, default=30.0, help="seconds per problem")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # runs at loose tolerances stop early on purpose
    # Freeing one large array makes the C library keep freed memory instead of handing it back
    # after every call; any process that has held a table of some size is in this state.
    large = np.ones(4_000_000)
    del large
    results = {}
    for path in arguments.problems:
        data = load(path)
        try:
            call = ADAPTERS[arguments.solver](data)
        except NotImplementedError:
            continue
        results[path.stem] = measure(
            call, data, TOLERANCES.get(arguments.solver, -10), arguments.budget
        )
    arguments.output.write_text(json.dumps(results))


if __name__ == "__main__":
    main()
