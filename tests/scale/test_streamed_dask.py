"""Fits on Dask collections: the same model, also when a worker dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config

from s2mam import ManifoldAdditiveRegressor, S2MAMClassifier, S2MAMRegressor
from s2mam.exceptions import InvalidInputError
from s2mam.scale import scale_options
from s2mam.scale.dask_rows import DaskSource

sys.path.insert(0, str(Path(__file__).parent))
from streamed_data import SMALL, classes, numbers

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pandas = pytest.importorskip("pandas")
distributed = pytest.importorskip("distributed")

CUT = {"chunks": (128, -1)}


def fitted(X, y):
    with scale_options(**SMALL):
        return S2MAMRegressor(random_state=0, max_iter=10).fit(X, y)


@pytest.fixture(scope="module")
def in_memory():
    X, y, _ = numbers()
    return fitted(X, y)


def test_an_array_gives_the_bits_of_the_fit_in_memory(in_memory):
    X, y, _ = numbers()
    rows = da.from_array(X, chunks=(128, 4))  # columns are cut too
    for labels in (y, da.from_array(y, chunks=128)):
        model = fitted(rows, labels)
        np.testing.assert_array_equal(model.predict(X), in_memory.predict(X))
    predicted = model.predict(rows)
    assert isinstance(predicted, da.Array)
    assert predicted.chunks == (rows.chunks[0],)
    np.testing.assert_allclose(predicted.compute(), in_memory.predict(X), rtol=1e-12)
    parts = model.contributions(rows)
    assert parts.shape == X.shape
    np.testing.assert_allclose(
        parts.sum(axis=1).compute() + model.intercept_, predicted.compute(), atol=1e-10
    )
    assert isinstance(model.transduction_, da.Array)


def test_a_frame_with_its_labels(in_memory):
    X, y, _ = numbers()
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y)
    rows = dd.from_pandas(frame, npartitions=7)
    model = fitted(rows, "y")
    assert model.feature_names_in_.tolist() == list(frame.columns[:-1])
    np.testing.assert_allclose(model.predict(rows).compute(), in_memory.predict(X), atol=1e-8)
    assert model.predict(rows).shape == (1500,)


def test_classes_and_the_base_model():
    X, y, _ = classes()
    rows = da.from_array(X, **CUT)
    with scale_options(**SMALL):
        one = S2MAMClassifier(random_state=0, max_iter=5).fit(rows, y)
        two = S2MAMClassifier(random_state=0, max_iter=5).fit(X, y)
        shares = one.predict_proba(rows)
        assert shares.shape == (1500, 2)
        np.testing.assert_allclose(shares.compute(), two.predict_proba(X), atol=1e-10)
        assert one.predict(rows).dtype == one.classes_.dtype
        X, y, _ = numbers()
        graph = ManifoldAdditiveRegressor(manifold=50.0).fit(da.from_array(X, **CUT), y)
        alone = ManifoldAdditiveRegressor(manifold=50.0).fit(X, y)
        np.testing.assert_array_equal(graph.predict(X), alone.predict(X))


def test_lengths_may_be_unknown_and_chunks_empty():
    X, y, _ = numbers()
    rows = da.from_array(X, **CUT)
    unknown = rows[da.from_array(np.arange(1500) < 200, chunks=128)]
    source = DaskSource(unknown, y[:200])
    assert source.n_rows == 200
    blocks = list(source.blocks())
    np.testing.assert_array_equal(np.concatenate([block.table for block in blocks]), X[:200])
    assert [block.start for block in blocks] == [0, 128]


def test_errors_name_the_chunks():
    X, y, _ = numbers()
    rows = da.from_array(X, **CUT)
    with pytest.raises(InvalidInputError, match="2 chunks but X has 12"):
        DaskSource(rows, da.from_array(y, chunks=750))
    with pytest.raises(InvalidInputError, match="y has 3 rows"):
        DaskSource(rows, y[:3])
    with pytest.raises(InvalidInputError, match="rows and columns"):
        DaskSource(rows[:, 0], y)


def test_joblib_spreads_the_searches_of_a_fit_over_a_cluster():
    X, y, _ = numbers(60)
    X, y = X[:200], y[:200]
    alone = S2MAMRegressor(random_state=0, max_iter=5).fit(X, y)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
        parallel_config(backend="dask"),
    ):
        before = cluster.scheduler.transition_counter
        spread = S2MAMRegressor(random_state=0, max_iter=5, n_jobs=-1).fit(X, y)
        assert cluster.scheduler.transition_counter > before
    np.testing.assert_array_equal(spread.predict(X), alone.predict(X))


def slow(block):
    time.sleep(0.15)
    return block


def fit_while(action, client, X, y):
    """Fit in another thread and act in the middle of the first pass."""
    rows = da.from_array(X, **CUT).map_blocks(slow, dtype=float)
    found = {}

    def work():
        found["model"] = fitted(rows, y)

    thread = threading.Thread(target=work)
    thread.start()
    deadline = time.monotonic() + 60
    while not client.call_stack() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.2)
    assert thread.is_alive()
    action()
    thread.join(timeout=180)
    assert not thread.is_alive()
    return found["model"]


def test_a_worker_without_a_nanny_is_killed(in_memory):
    X, y, _ = numbers()
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        command = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address]
        command += ["--no-nanny", "--nthreads", "1", "--no-dashboard"]
        place = {"PYTHONPATH": str(Path(__file__).parent)}
        workers = [
            subprocess.Popen(
                command,
                env=os.environ | place,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for _ in range(2)
        ]
        try:
            client.wait_for_workers(2, timeout=120)
            model = fit_while(workers[0].kill, client, X, y)
            assert len(client.scheduler_info()["workers"]) == 1
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()
    np.testing.assert_allclose(model.predict(X), in_memory.predict(X), atol=1e-8)


@pytest.mark.slow
def test_a_worker_with_a_nanny_is_killed(in_memory):
    X, y, _ = numbers()
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = list(client.run(os.getpid).values())
        model = fit_while(lambda: os.kill(pids[0], signal.SIGKILL), client, X, y)
    np.testing.assert_allclose(model.predict(X), in_memory.predict(X), atol=1e-8)
