"""What the deep regressors have in common."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from expected_checks import expected_failures  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from s2mam.baselines.m2 import M2Regressor  # noqa: E402
from s2mam.baselines.plf import PLFRegressor  # noqa: E402
from s2mam.baselines.ssdkl import SSDKLRegressor  # noqa: E402
from s2mam.baselines.vae import AVAERegressor, VAERegressor  # noqa: E402
from s2mam.exceptions import InvalidInputError, TrainingDivergedError  # noqa: E402

pytestmark = pytest.mark.torch

SMALL = {
    "VAE": VAERegressor(hidden=(8,), max_iter=20, head_max_iter=10),
    "AVAE": AVAERegressor(hidden=(8,), max_iter=20, head_max_iter=10, n_latent=2),
    "M2": M2Regressor(hidden=(8,), max_iter=20, n_latent=2),
    "SSDKL": SSDKLRegressor(hidden=(8,), max_iter=20, alpha=1.0),
    "PLF": PLFRegressor(hidden=(8,), max_iter=20),
}


def _data(n=60, labeled=25, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = 100.0 + 5.0 * (X[:, 0] + 0.5 * X[:, 1])
    return X, y, np.where(np.arange(n) < labeled, y, np.nan)


@pytest.fixture(params=SMALL)
def model(request):
    return clone(SMALL[request.param]).set_params(random_state=0)


def test_same_seed_same_bits_and_other_seed_other_ones(model):
    X, _, partial = _data()
    one, two = (clone(model).fit(X, partial).predict(X) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert np.any(one != clone(model).set_params(random_state=1).fit(X, partial).predict(X))


def test_the_draws_of_the_caller_are_left_alone(model):
    X, _, partial = _data()
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    model.fit(X, partial).predict(X)
    assert torch.equal(torch.rand(3), expected)


def test_a_pickle_holds_numpy_alone_and_predicts_the_same(model):
    X, _, partial = _data()
    model.fit(X, partial)
    stored = pickle.dumps(model)
    assert b"torch" not in stored
    np.testing.assert_array_equal(pickle.loads(stored).predict(X), model.predict(X))


def test_training_lowers_the_loss_and_beats_the_mean(model):
    X, y, partial = _data(200, 100)
    model.set_params(hidden=(20,), max_iter=400)
    if "head_max_iter" in model.get_params():
        model.set_params(head_max_iter=300, n_latent=3)
    if "alpha" in model.get_params():
        model.set_params(alpha=1.0)
    model.fit(X, partial)
    assert model.history_[-1] < model.history_[0]
    assert model.n_iter_ <= 400
    # Three columns of noise are hard to code in few dimensions: the code methods get a low bar.
    assert model.score(X[100:], y[100:]) > (0.2 if "head_max_iter" in model.get_params() else 0.8)


def test_units_of_the_target_do_not_matter(model):
    X, _, partial = _data()
    one = clone(model).fit(X, partial).predict(X)
    two = clone(model).fit(X, 1000.0 * partial - 7.0).predict(X)
    np.testing.assert_allclose(1000.0 * one - 7.0, two, rtol=1e-4)


def test_all_rows_labelled_is_fine(model):
    X, y, _ = _data(30, 30)
    assert np.isfinite(model.fit(X, y).predict(X)).all()


def test_progress_is_told(model):
    X, _, partial = _data()
    calls = []
    model.set_params(progress=lambda *seen: calls.append(seen)).fit(X, partial)
    assert calls[-1][:2] == (20, 20)
    assert np.isfinite(calls[-1][2])


def test_device_is_read(model):
    X, _, partial = _data()
    with pytest.raises(InvalidInputError, match="device='tpu'"):
        clone(model).set_params(device="tpu").fit(X, partial)
    if not torch.cuda.is_available():
        with pytest.raises(InvalidInputError, match="device='cuda'"):
            clone(model).set_params(device="cuda").fit(X, partial)
        automatic = clone(model).set_params(device="auto").fit(X, partial).predict(X)
        np.testing.assert_array_equal(automatic, model.fit(X, partial).predict(X))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_fit_on_the_gpu_predicts_without_it(model):
    X, _, partial = _data()
    model.set_params(device="cuda").fit(X, partial)
    assert np.isfinite(pickle.loads(pickle.dumps(model)).predict(X)).all()


@pytest.mark.parametrize("name", ["VAE", "AVAE", "M2", "PLF"])
def test_a_loss_that_is_not_finite_is_an_error(name):
    X, _, partial = _data()
    X[0] = 1e25
    with pytest.raises(TrainingDivergedError, match="learning rate"):
        clone(SMALL[name]).set_params(scale=None).fit(X, partial)


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("VAE", "n_latent", 0),
        ("VAE", "hidden", ()),
        ("VAE", "head_size", 0),
        ("VAE", "observation_variance", 0.0),
        ("VAE", "max_iter", 0),
        ("AVAE", "rho", 1.0),
        ("AVAE", "rho", -0.1),
        ("M2", "alpha", -1.0),
        ("M2", "observation_variance", -1.0),
        ("SSDKL", "alpha", ()),
        ("SSDKL", "alpha", (1.0, -1.0)),
        ("SSDKL", "alpha", "auto"),
        ("SSDKL", "n_embedding", 0),
        ("SSDKL", "n_starts", 0),
        ("SSDKL", "kernel_learning_rate", 0.0),
        ("PLF", "dropout", 1.0),
        ("PLF", "beta", 1.5),
        ("PLF", "percentile", 101),
        ("PLF", "temperature", 0.0),
        ("PLF", "n_passes", 1),
        ("PLF", "unlabeled_weight", -1.0),
        ("PLF", "augmentation", "strong"),
    ],
)
def test_bad_parameters_are_named(name, parameter, value):
    X, _, partial = _data()
    with pytest.raises(InvalidInputError, match=parameter):
        clone(SMALL[name]).set_params(**{parameter: value}).fit(X, partial)


WITHOUT_TORCH = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ImportError(name)
sys.meta_path.insert(0, Block())
import s2mam.baselines.m2, s2mam.baselines.plf, s2mam.baselines.ssdkl, s2mam.baselines.vae
from s2mam.exceptions import MissingDependencyError
try:
    s2mam.baselines.plf.PLFRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
except MissingDependencyError as error:
    print(error)
"""


def test_modules_load_without_torch():
    command = [sys.executable, "-c", WITHOUT_TORCH]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "pip install" in answer.stdout


#: For the one check that looks at scores.
_LINEAR = {"linear_decoder": True, "observation_variance": 0.05, "head_max_iter": 100}
LONGER = {
    "VAE": {"n_latent": 10, **_LINEAR},
    "AVAE": {"n_latent": 10, **_LINEAR},
    "M2": {"alpha": 10.0},
}


@parametrize_with_checks(list(SMALL.values()), expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    if check.func.__name__ == "check_regressors_train":
        more = LONGER.get(estimator.paper_name, {})
        estimator.set_params(hidden=(20,), max_iter=60, learning_rate=1e-2, **more)
    else:
        estimator.set_params(max_iter=3)
    check(estimator)
