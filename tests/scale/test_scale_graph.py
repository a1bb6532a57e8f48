"""The anchor graph as sums over rows, against the graph as a matrix."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from s2mam.bases import build_design
from s2mam.intake import TableReader
from s2mam.scale import ArraySource, scale_options
from s2mam.scale.anchors import build_anchors
from s2mam.scale.encoding import ColumnEncoder
from s2mam.scale.executors import sum_blocks
from s2mam.scale.features import feature_map
from s2mam.scale.graph_sums import GraphPass

pandas = pytest.importorskip("pandas")


def setup(X, mask, *, bandwidth=None, n_anchors=12):
    reader = TableReader().fit(X)
    design = build_design(reader.transform(X), reader.kinds_)
    columns = np.flatnonzero(np.asarray(mask) > 0)
    masked = ColumnEncoder(reader, columns, clip=False)
    graph = build_anchors(
        masked,
        np.asarray(mask, dtype=float)[columns],
        masked.encode(X),
        n_anchors=n_anchors,
        bandwidth=bandwidth,
        seed=0,
    )
    encoder = ColumnEncoder(reader, np.arange(X.shape[1]), clip=False)
    return GraphPass(encoder, feature_map(design, encoder), graph), design.evaluate(
        reader.transform(X)
    )


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    X[rng.random(X.shape) < 0.05] = np.nan
    return X


@pytest.mark.parametrize("mask", [[1, 1, 1], [0, 1, 0.5]])
@pytest.mark.parametrize("bandwidth", [None, 0.7])
def test_one_pass_gives_the_form_of_the_matrix(table, mask, bandwidth):
    plan, features = setup(table, mask, bandwidth=bandwidth)
    weights = plan.graph.weights(plan.graph.encoder.encode(table)).T
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    links = weights / weights.sum(axis=0) @ weights.T
    np.testing.assert_allclose(links.sum(axis=1), 1.0)
    laplacian = np.eye(300) - links
    with scale_options(block_rows=37):
        sums = sum_blocks(ArraySource(table), plan)
    assert sums.n_rows == 300
    form = sums.quadratic(plan.features)
    np.testing.assert_allclose(form, features.T @ laplacian @ features, atol=1e-9)
    assert np.linalg.eigvalsh(form).min() > -1e-9


def test_a_masked_column_does_not_matter(table):
    plan, _ = setup(table, [1, 0, 1])
    values = plan.graph.weights(plan.graph.encoder.encode(table))
    changed = table.copy()
    changed[:, 1] = 1e6
    np.testing.assert_array_equal(values, plan.graph.weights(plan.graph.encoder.encode(changed)))


def test_weights_fall_with_the_distance_of_the_mask():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [0.0, 9.0], [3.0, -9.0]])
    plan, _ = setup(X, [1.0, 0.0], n_anchors=3, bandwidth=0.5)
    graph = plan.graph
    points = graph.points(graph.encoder.encode(X)).T
    squared = ((points[:, None] - graph.anchors[None]) ** 2).sum(axis=2)
    expected = np.exp(-squared / 0.25)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(graph.weights(graph.encoder.encode(X)).T, expected, atol=1e-12)


def test_categories_are_as_far_apart_as_the_mask_says():
    frame = pandas.DataFrame({"a": ["x", "y", "z", "x", None, "y"], "b": np.arange(6.0)})
    reader = TableReader().fit(frame)
    encoder = ColumnEncoder(reader, np.array([0]), clip=False)
    values = encoder.encode(frame)
    graph = build_anchors(encoder, np.array([0.8]), values, n_anchors=3, bandwidth=None, seed=0)
    points = graph.points(values).T
    distance = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    assert distance[0, 3] == 0.0
    np.testing.assert_allclose([distance[0, 1], distance[1, 2]], 0.8)


def test_memory_does_not_grow_with_the_rows():
    tracemalloc = pytest.importorskip("tracemalloc")
    from s2mam.scale import IteratorSource

    def source(blocks):
        def make():
            rng = np.random.default_rng(0)
            return (rng.normal(size=(2000, 5)) for _ in range(blocks))

        return IteratorSource(make)

    plan, _ = setup(next(iter(source(1).blocks())).table, np.ones(5))
    peaks = []
    for blocks in (4, 40):
        tracemalloc.start()
        sum_blocks(source(blocks), plan)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # 36 more blocks would be 2.9 MB of rows and 60 MB of features.
    assert peaks[1] < peaks[0] + 1_000_000


COUNT_FAULTS = """
import resource, sys
import numpy as np
sys.path.insert(0, {folder!r})
from test_scale_graph import setup
from s2mam.scale.blocks import Block

X = np.random.default_rng(0).normal(size=(20_000, 40))
plan, _ = setup(X[:500], np.ones(40), n_anchors=50)
plan(Block(0, X))
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
plan(Block(0, X))
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="pages are counted as Linux does")
def test_chunks_share_their_memory():
    """Dask's workers give free memory back at once; arrays of every chunk would be mapped anew."""
    done = subprocess.run(
        [sys.executable, "-c", COUNT_FAULTS.format(folder=str(Path(__file__).parent))],
        env=os.environ | {"MALLOC_TRIM_THRESHOLD_": "65536", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    # Arrays that are new for every chunk take more than 60,000 pages here.
    assert int(done.stdout) < 20_000
