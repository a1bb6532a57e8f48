"""What must not matter: units, order, copies, processes, interruptions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from estimator_data import LEARNERS, decide, make, rows
from joblib import parallel_config

from s2mam import S2MAMRegressor
from s2mam.exceptions import CheckpointMismatchError

pytestmark = pytest.mark.filterwarnings("ignore::s2mam.exceptions.ConvergenceWarning")
# The paper's model has the user's bandwidth, so units of the scaled table count there too; they
# do not change with the units of the columns.
DETERMINISTIC = ("relaxed", "base")


@pytest.mark.parametrize("task", ["regression", "binary"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_positive_changes_of_unit_leave_the_predictions(learner, task):
    X, _, y = rows(task)
    scale, shift = np.array([1e3, 0.02, 7.0, 1e-4, 1.0]), np.array([5.0, -1.0, 0.0, 1e3, -30.0])
    one = make(learner, task).fit(X, y)
    two = make(learner, task).fit(X * scale + shift, y)
    np.testing.assert_allclose(decide(two, X * scale + shift), decide(one, X), atol=1e-6, rtol=1e-6)
    np.testing.assert_allclose(two.mask_probabilities_, one.mask_probabilities_, atol=1e-6)


@pytest.mark.parametrize("task", ["regression", "binary"])
@pytest.mark.parametrize("learner", DETERMINISTIC)
def test_reversed_columns_leave_the_predictions(learner, task):
    X, _, y = rows(task)
    scale, shift = np.array([-1.0, -0.5, 2.0, -7.0, 1.0]), np.array([1.0, 0.0, -4.0, 2.0, 0.0])
    one = make(learner, task).fit(X, y)
    two = make(learner, task).fit(X * scale + shift, y)
    np.testing.assert_allclose(decide(two, X * scale + shift), decide(one, X), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("task", ["regression", "binary", "multiclass"])
@pytest.mark.parametrize("learner", DETERMINISTIC)
def test_order_of_the_columns_does_not_matter(learner, task):
    X, _, y = rows(task)
    order = np.array([3, 0, 4, 2, 1])
    one = make(learner, task).fit(X, y)
    two = make(learner, task).fit(X[:, order], y)
    np.testing.assert_allclose(decide(two, X[:, order]), decide(one, X), atol=1e-5, rtol=1e-5)
    np.testing.assert_allclose(two.mask_probabilities_, one.mask_probabilities_[order], atol=1e-6)
    np.testing.assert_array_equal(two.support_, one.support_[order])


@pytest.mark.parametrize("change", ["order", "sign"])
def test_order_and_sign_of_the_columns_matter_to_the_sampler_only_by_chance(change):
    """Labelled rows are put in order of their values, so folds and jumps are other draws.

    What holds is that both runs are draws of the same thing: same support, close predictions.
    """
    X, _, y = rows("regression", n_labeled=40)
    order = np.array([3, 0, 4, 2, 1]) if change == "order" else np.arange(5)
    sign = 1.0 if change == "order" else -1.0
    one = S2MAMRegressor(random_state=0).fit(X, y)
    two = S2MAMRegressor(random_state=0).fit(sign * X[:, order], y)
    np.testing.assert_array_equal(two.support_, one.support_[order])
    np.testing.assert_allclose(two.mask_probabilities_, one.mask_probabilities_[order], atol=0.1)
    spread = np.std(one.predict(X))
    difference = two.predict(sign * X[:, order]) - one.predict(X)
    assert np.sqrt(np.mean(difference**2)) < 0.1 * spread


@pytest.mark.parametrize("learner", LEARNERS)
def test_order_of_the_labelled_rows_does_not_matter(learner):
    X, _, y = rows("binary")
    labeled = np.flatnonzero(y != -1)
    order = np.arange(y.size)
    order[labeled] = labeled[np.random.default_rng(0).permutation(labeled.size)]
    one, two = make(learner, "binary").fit(X, y), make(learner, "binary").fit(X[order], y[order])
    np.testing.assert_array_equal(decide(one, X), decide(two, X))


@pytest.mark.parametrize("task", ["regression", "multiclass"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_weight_two_is_a_copy_and_weight_zero_an_absence(learner, task):
    X, _, y = rows(task)
    rng = np.random.default_rng(0)
    labeled = ~np.isnan(y) if task == "regression" else y != -1
    copies = np.where(labeled, rng.integers(0, 4, size=y.size), 1)
    weighted = make(learner, task).fit(X, y, sample_weight=np.where(labeled, copies, 5.0))
    copied = make(learner, task).fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    np.testing.assert_allclose(decide(weighted, X), decide(copied, X), atol=1e-7, rtol=1e-7)
    np.testing.assert_allclose(weighted.mask_probabilities_, copied.mask_probabilities_, atol=1e-7)


def test_equal_weights_are_no_weights():
    X, _, y = rows("regression")
    plain = make("posterior", "regression").fit(X, y).predict(X)
    for weight in (1.0, 0.25):
        weighted = make("posterior", "regression").fit(X, y, sample_weight=np.full(60, weight))
        np.testing.assert_allclose(weighted.predict(X), plain, atol=1e-9)


@pytest.mark.parametrize("learner", LEARNERS)
def test_same_seed_same_bits(learner):
    X, _, y = rows("binary")
    one, two = make(learner, "binary").fit(X, y), make(learner, "binary").fit(X, y)
    np.testing.assert_array_equal(decide(one, X), decide(two, X))
    np.testing.assert_array_equal(one.mask_probabilities_, two.mask_probabilities_)


def test_another_seed_gives_another_draw():
    X, _, y = rows("regression")
    one, two = (
        S2MAMRegressor(max_iter=15, random_state=seed).fit(X, y).predict(X) for seed in (0, 1)
    )
    assert not np.array_equal(one, two)


@pytest.mark.parametrize("task", ["regression", "multiclass"])
def test_number_of_jobs_does_not_change_a_bit(task):
    X, _, y = rows(task)
    one = make("posterior", task).fit(X, y)
    two = make("posterior", task).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(decide(one, X), decide(two, X))


def test_threads_of_the_workers_do_not_change_a_bit():
    """With more cores than jobs, joblib gives every worker several BLAS threads."""
    X, _, y = rows("regression")
    one = make("posterior", "regression").fit(X, y)
    with parallel_config(backend="loky", n_jobs=2, inner_max_num_threads=2):
        two = make("posterior", "regression").set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


_CHILD = """
import os, signal, sys
import numpy as np
sys.path.insert(0, {folder!r})
from estimator_data import decide, make, rows
learner, task, path, stop = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
X, _, y = rows(task)

def kill(progress):
    if progress.get("done", progress.get("iteration")) >= stop > 0:
        os.kill(os.getpid(), signal.SIGKILL)

model = make(learner, task)
if learner == "rloo":
    model.set_params(max_iter=80)
model.set_params(callbacks=[kill], checkpoint=path or None).fit(X, y)
np.save(sys.argv[5], decide(model, X))
"""


def _child(learner, task, checkpoint, stop, out):
    code = _CHILD.format(folder=str(Path(__file__).parent))
    arguments = [learner, task, str(checkpoint), str(stop), str(out)]
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("learner", "task", "stop"),
    [("posterior", "regression", 2), ("posterior", "multiclass", 4), ("rloo", "regression", 61)],
)
def test_a_killed_fit_goes_on_to_the_same_bits(tmp_path, learner, task, stop):
    checkpoint, out = tmp_path / "fit.ckpt", tmp_path / "out.npy"
    killed = _child(learner, task, checkpoint, stop, out)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not out.exists()
    assert checkpoint.exists()

    X, _, y = rows(task)
    model = make(learner, task)
    if learner == "rloo":
        model.set_params(max_iter=80)
    whole = decide(model.fit(X, y), X)
    steps = []
    model.set_params(checkpoint=checkpoint, callbacks=[lambda progress: steps.append(progress)])
    np.testing.assert_array_equal(decide(model.fit(X, y), X), whole)
    first = steps[0].get("done", steps[0].get("iteration"))
    assert first > stop - 25 if learner == "rloo" else first == stop + 1
    # Another process that was never killed has the same bits too.
    done = _child(learner, task, "", 0, out)
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.load(out), whole)


def test_a_checkpoint_of_another_fit_is_refused(tmp_path):
    X, _, y = rows("regression")
    path = tmp_path / "fit.ckpt"
    S2MAMRegressor(max_iter=5, random_state=0, checkpoint=path).fit(X, y)
    with pytest.raises(CheckpointMismatchError):
        S2MAMRegressor(max_iter=6, random_state=0, checkpoint=path).fit(X, y)
    with pytest.raises(CheckpointMismatchError):
        S2MAMRegressor(max_iter=5, random_state=0, checkpoint=path).fit(X + 1, y**2)
    with pytest.raises(CheckpointMismatchError):
        S2MAMRegressor(max_iter=5, random_state=1, checkpoint=os.fspath(path)).fit(X, y)
