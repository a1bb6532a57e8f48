"""Checks of the fault table: sizes, solvers, threads, copies, interrupts, files."""

from __future__ import annotations

import copy
import io
import multiprocessing
import pickle
import re
import threading
import tomllib
import warnings
from pathlib import Path

import cloudpickle
import joblib
import numpy as np
import pytest
import trust_children
from fault_registry import fault, refuses
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_info, threadpool_limits
from trust_models import OURS, assert_finite, decide, make, table

import s2mam
from s2mam.bilevel.lower import LowerLevel
from s2mam.estimators import additive
from s2mam.exceptions import (
    CheckpointMismatchError,
    ConvergenceWarning,
    InvalidInputError,
    MemoryLimitError,
    ModelFileError,
    S2MAMWarning,
)
from s2mam.graphs import memory
from s2mam.losses import SquaredLoss
from s2mam.masks.gradients import reinforce, rloo
from s2mam.solvers import GroupProblem, solve

BOTH = ("ours", "baselines")
ROOT = Path(__file__).resolve().parents[2]


@fault("p >> n (p=5000, n=60); n=1; p=1", *BOTH)
def shapes(name, task):
    X, _, y = table(task, p=1)
    assert_finite(make(name, task).fit(X, y), X)
    rng = np.random.default_rng(0)
    # The paper's own solver takes a minute for 300 columns; p = 5000 is in the slow tests.
    wide = np.hstack([X, rng.normal(size=(36, 11 if name == "paper" else 119))])
    assert_finite(make(name, task).fit(wide, y), wide)
    one = np.ones((1, 2))
    if name in OURS:
        model = make(name, task).fit(one, [1])
        assert model.predict(one)[0] == 1
    else:
        if task == "classification" or name == "AWSSL":  # two classes, or two rows to link
            words = "at least two"
            refuses(InvalidInputError, words, call=lambda: make(name, task).fit(one, [1]))
            return
        assert_finite(make(name, task).fit(one, [1]), one)


@fault("mask sampled all zero", "package")
def empty_mask(tmp_path):
    X, _, y = table("regression")
    model = s2mam.ManifoldAdditiveRegressor(sparsity=0.0, manifold=0.0).fit(X, y)
    (part,) = model._model.parts
    rows = np.flatnonzero(~np.isnan(y))
    share = np.full(rows.size, 1.0 / rows.size)
    scaled = part.reader.transform(X)
    level = LowerLevel(part.design, scaled, rows, y[rows], share, SquaredLoss(), 0.1, 0.1)
    solution = level.solve(np.zeros(4))
    assert float(solution.intercept) == pytest.approx(y[rows].mean())
    assert not np.any(solution.full_coef)
    # Two columns to choose one from: most draws of such a fit hold an empty mask.
    for learner in ("rloo", "paper"):
        fitted = make(learner, "regression", n_features_to_select=1, max_iter=12).fit(X[:, :2], y)
        assert_finite(fitted, X[:, :2])


@fault("REINFORCE blow-up at s near 0 or 1", "package")
def blow_up(tmp_path):
    s = np.array([0.0, 1.0, 1e-300, 1 - 1e-16, 0.5])
    masks = np.array([[1, 0, 1, 0, 1], [0, 1, 0, 1, 0]], dtype=bool)
    for estimate in (reinforce, rloo):
        found = estimate([1e6, -1e6], masks, s, eps=1e-6)
        assert np.isfinite(found).all()
    X, _, y = table("regression")
    for learner in ("rloo", "paper"):
        model = make(learner, "regression", step_size=1e6, max_iter=6)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", S2MAMWarning)
            assert_finite(model.fit(X, y), X)
        assert all(np.isfinite(values).all() for values in model.history_.values())


@fault("n too large for dense W", *BOTH)
def too_large(name, task):
    X, _, y = table(task, n=120, n_labeled=40)
    if name in OURS:
        model, words = make(name, task, graph="dense", manifold=0.1), ("kB", 'graph="neighbors"')
    else:
        model, words = make(name, task), ("GB", "use fewer rows")
        if not model.square_tables:
            return
    before = memory.available_bytes
    memory.available_bytes = lambda: 100_000
    try:
        refuses(MemoryLimitError, "120", *words, call=lambda: model.fit(X, y))
    finally:
        memory.available_bytes = before


@fault("pickle, copy, deepcopy, clone, joblib, cloudpickle, spawn", *BOTH)
def copies(name, task):
    X, _, y = table(task)
    calls = []
    model = make(name, task)
    if name in OURS and name != "base":
        model.set_params(callbacks=[calls.append])
    model.fit(X, y)
    expected, made = decide(model, X), len(calls)
    if calls:
        assert clone(model).callbacks == model.callbacks
        model.set_params(callbacks=None)
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    others = [
        pickle.loads(pickle.dumps(model)),
        copy.copy(model),
        copy.deepcopy(model),
        joblib.load(file),
        cloudpickle.loads(cloudpickle.dumps(model)),
        clone(model).fit(X, y),
    ]
    for other in others:
        np.testing.assert_array_equal(decide(other, X), expected)
    assert len(calls) == made, "a copy called the callbacks of the first fit"


@fault("pickle, copy, deepcopy, clone, joblib, cloudpickle, spawn", "package")
def spawned(tmp_path):
    X, _, y = table("classification")
    models = [make(name, "classification").fit(X, y) for name in (*OURS, "LapRLS", "SpAM")]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.map(trust_children.decisions, [(model, X) for model in models])
    for model, there in zip(models, found, strict=True):
        np.testing.assert_array_equal(there, decide(model, X))


@fault("predict from 16 threads on one model", *BOTH)
def threads(name, task):
    X, _, y = table(task)
    model = make(name, task).fit(X, y)
    expected, state = decide(model, X), joblib.hash(model)
    start, wrong = threading.Barrier(16), []

    def ask():
        start.wait()
        if not np.array_equal(decide(model, X), expected):
            wrong.append(1)

    running = [threading.Thread(target=ask) for _ in range(16)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert wrong == []
    assert joblib.hash(model) == state, "predict wrote to the model"


@fault("nested parallel BLAS x n_jobs", *BOTH)
def blas_threads(name, task):
    X, _, y = table(task)
    seen: set[int] = set()

    def threads():
        # By library: other tests may have loaded one that never has more than one thread.
        return {
            one["filepath"]: one["num_threads"]
            for one in threadpool_info()
            if one["user_api"] == "blas"
        }

    def look(*_):
        seen.update(threads().values())

    model = make(name, task)
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        if name not in OURS:
            learn = model._learn
            model._learn = lambda rows: (look(), learn(rows))
            model.fit(X, y)
        elif name == "base":
            publish = additive.fit_base
            additive.fit_base = lambda *given: (look(), publish(*given))[1]
            try:
                model.fit(X, y)
            finally:
                additive.fit_base = publish
        else:
            model.set_params(callbacks=[look]).fit(X, y)
        after = threads()
    assert 2 in before.values()
    assert seen == {1}
    assert {path: after[path] for path in before} == before, "the caller's limit is gone"


def _interrupted(*_, **__):
    raise KeyboardInterrupt


@fault("KeyboardInterrupt in fit", *BOTH)
def interrupts(name, task):
    """What was fitted before is gone: half of it may be that of the fit that was cut short."""
    X, _, y = table(task)
    model = make(name, task).fit(X, y)
    model._learn = _interrupted
    refuses(KeyboardInterrupt, call=lambda: model.fit(X[:, :3], y))
    refuses(NotFittedError, call=lambda: model.predict(X))
    del model._learn
    assert_finite(model.fit(X, y), X)
    if name in OURS and name != "base":
        _goes_on_after_an_interrupt(name, task)


def _goes_on_after_an_interrupt(name, task):
    X, _, y = table(task)
    path = trust_children.scratch(f"{name}-{task}.ckpt")

    def stop(progress):
        if progress["done"] >= (3 if name == "posterior" else 1):
            raise KeyboardInterrupt

    refuses(
        KeyboardInterrupt,
        call=lambda: make(name, task, callbacks=[stop], checkpoint=path).fit(X, y),
    )
    whole = decide(make(name, task).fit(X, y), X)
    again = make(name, task, checkpoint=path).fit(X, y)
    np.testing.assert_array_equal(decide(again, X), whole)
    path.unlink(missing_ok=True)


@fault("SIGKILL mid-write, disk full, read-only disk", "package")
def disks(tmp_path):
    for trouble in ("full", "read-only"):
        told = trust_children.fit_on_a_bad_disk(tmp_path / trouble, trouble)
        assert told["warnings"] == 1, told
        assert "could not be written" in told["message"]
        assert "the fit goes on" in told["message"]
        assert told["old_checkpoint_intact"], trouble
        assert told["same_bits"], trouble
        assert told["left_behind"] == [], trouble


@fault("resume", "ours")
def resumes(name, task):
    if name == "base":
        return
    X, full, y = table(task)
    path = trust_children.scratch(f"{name}-{task}-resume.ckpt")

    def halt(progress):
        return progress["done"] >= 2

    make(name, task, callbacks=[halt], checkpoint=path).fit(X, y)
    if not path.exists():
        assert name in ("relaxed", "rloo", "paper"), name  # five iterations are one piece of work
        make(name, task, checkpoint=path).fit(X, y)
    if not path.exists():
        assert name == "relaxed"  # a search of a second keeps nothing
        return
    other_y = np.where(y == full, full[::-1], y)
    for change, X_, y_ in (
        ({}, X + np.array([0.0, 0.1, 0.0, 0.0]) * X**2, y),
        ({}, X, other_y),
        ({"random_state": 5}, X, y),
        ({"scale": "standard"}, X, y),
    ):
        refuses(
            CheckpointMismatchError,
            str(path),
            "other data, other parameters or other package versions",
            call=lambda c=change, X=X_, y=y_: make(name, task, checkpoint=path, **c).fit(X, y),
        )
    whole = decide(make(name, task).fit(X, y), X)
    np.testing.assert_array_equal(decide(make(name, task, checkpoint=path).fit(X, y), X), whole)
    path.unlink()


@fault("corrupted or truncated model file", "ours")
def damaged_file(name, task):
    X, _, y = table(task)
    path = trust_children.scratch(f"{name}-{task}.s2mam")
    make(name, task).fit(X, y).save(path)
    raw = path.read_bytes()
    rng = np.random.default_rng(0)
    for cut in (0, 1, len(raw) // 2, len(raw) - 1):
        path.write_bytes(raw[:cut])
        refuses(ModelFileError, str(path), call=lambda: s2mam.load(path))
    for place in rng.integers(len(raw), size=5):
        path.write_bytes(raw[:place] + bytes([raw[place] ^ 0xFF]) + raw[place + 1 :])
        try:
            loaded = s2mam.load(path)
        except ModelFileError:
            continue
        # Some bytes of a zip mean nothing, such as the time of a member.
        path.write_bytes(raw)
        np.testing.assert_array_equal(decide(loaded, X), decide(s2mam.load(path), X))
    path.unlink()


@fault("non-convergence", "baselines")
def unfinished_baselines(name, task):
    model = make(name, task)
    if not {"max_iter", "tol"} <= set(model.get_params()) or name in ("SpAM", "CSAM"):
        return  # closed forms, certified solvers, or a number of rounds that is the method itself
    X, _, y = table(task)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.set_params(max_iter=1, tol=1e-12).fit(X, y)
    told = [str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning)]
    assert told
    assert "max_iter=1" in told[0]
    assert "raise max_iter or tol" in told[0]


@fault("non-convergence", "package")
def unfinished(tmp_path):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(30, 20))
    problem = GroupProblem(
        SquaredLoss(), features, features @ rng.normal(size=20), np.full(30, 1 / 30),
        np.arange(0, 21, 4), np.full(5, 1e-3),
    )  # fmt: skip
    for method in ("bcd", "admm"):
        with pytest.warns(
            ConvergenceWarning, match=r"duality gap of .*; raise max_iter or"
        ) as told:
            result = solve(problem, method=method, max_iter=1)
        assert told[0].filename == __file__
        assert result.stop_reason != "gap"
        assert result.gap > 0
    X, _, y = table("regression")
    for name in OURS:
        assert make(name, "regression").fit(X, y).stop_reason_


@fault("old numpy/scipy/sklearn, nightly ones", "package")
def minimum_versions(tmp_path):
    """`make test-minimum` installs exactly the lowest versions that pyproject.toml allows."""
    from minimum_versions import lowest

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pins = dict(pin.split("==") for pin in lowest(project))
    assert {"numpy", "scipy", "scikit-learn", "narwhals", "typer", "pandas"} <= set(pins)
    for text in project["dependencies"]:
        name, bound = re.fullmatch(r"([\w-]+)>=([\d.]+)", text).groups()
        assert pins[name] == bound
    assert "test-minimum:" in (ROOT / "Makefile").read_text()


@fault("warnings", "package")
def no_warnings(tmp_path):
    done = trust_children.run_with_warnings_as_errors()
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "quiet"
