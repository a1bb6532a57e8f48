"""From images to features."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest
from scipy.signal import correlate2d
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_no_attributes_set_in_init

from s2mam.exceptions import InvalidInputError, MissingDependencyError
from s2mam.images import ImageEmbedder
from s2mam.images import embedder as module
from s2mam.images.filters import FilterBank, normalised

SMALL = {"n_filters": 6, "filter_size": 3, "pooling": 2, "random_state": 0}


def stripes(n=60, seed=0):
    """Images of horizontal or vertical stripes at a random place: no pixel tells them apart."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    wave = np.sin(np.arange(12)[None] * 1.5 + rng.uniform(0, 6.28, (n, 1)))
    flat = np.repeat(wave[:, :, None], 12, axis=2)
    images = np.where(y[:, None, None] == 1, flat, flat.transpose(0, 2, 1))
    return 0.5 + 0.3 * images + 0.05 * rng.normal(size=images.shape), y


def test_filters_are_correlations_with_rectified_means_of_cells():
    rng = np.random.default_rng(0)
    image = rng.uniform(size=(9, 9))
    bank = FilterBank(rng.normal(size=(1, 9)), 3, np.array([0.1]), 1)
    # Patches are normalised one by one, so a filter is a correlation of moments.
    ones = np.ones((3, 3))
    mean = correlate2d(image, ones, "valid") / 9
    variance = correlate2d(image**2, ones, "valid") / 9 - mean**2
    raw = correlate2d(image, bank.filters[0].reshape(3, 3), "valid")
    response = (raw - mean * bank.filters.sum()) / np.sqrt(variance + 1e-3)
    expected = [np.maximum(sign * response - 0.1, 0).mean() for sign in (1, -1)]
    np.testing.assert_allclose(bank.embed(image[None, :, :, None])[0], expected, rtol=1e-8)
    assert normalised(np.full((1, 9), 0.4)).any() == False  # noqa: E712


@pytest.mark.parametrize("network", ["random", "patches"])
def test_features_tell_textures_apart_where_pixels_do_not(network):
    images, y = stripes()
    pixels = LogisticRegression().fit(images[:30].reshape(30, -1), y[:30])
    assert pixels.score(images[30:].reshape(30, -1), y[30:]) < 0.8
    model = make_pipeline(ImageEmbedder(network, **SMALL), LogisticRegression(C=100))
    assert model.fit(images[:30], y[:30]).score(images[30:], y[30:]) > 0.95


@pytest.mark.parametrize("network", ["random", "patches"])
def test_the_same_seed_gives_the_same_bits(network):
    images, _ = stripes()
    first, second = (ImageEmbedder(network, **SMALL).fit(images) for _ in range(2))
    features = first.transform(images)
    assert np.array_equal(features, second.transform(images))
    assert np.array_equal(features, pickle.loads(pickle.dumps(first)).transform(images))
    assert not np.array_equal(
        features, clone(first).set_params(random_state=1).fit_transform(images)
    )


def test_batches_and_forms_do_not_matter():
    images, _ = stripes(n=10)
    embedder = ImageEmbedder("random", **SMALL).fit(images)
    expected = embedder.transform(images)
    np.testing.assert_allclose(embedder.set_params(batch_size=3).transform(images), expected)
    np.testing.assert_allclose(embedder.transform(images.reshape(10, -1)), expected)
    np.testing.assert_allclose(embedder.transform(images[..., None]), expected)
    assert len(embedder.get_feature_names_out()) == expected.shape[1] == 2 * 6 * 4


def test_a_stopped_run_goes_on(tmp_path, monkeypatch):
    images, _ = stripes(n=10)
    embedder = ImageEmbedder("random", batch_size=3, cache=tmp_path, **SMALL).fit(images)
    straight = clone(embedder).set_params(cache=None).fit_transform(images)
    seen = []
    plain = FilterBank.embed

    def embed(self, batch):
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(len(batch))
        return plain(self, batch)

    monkeypatch.setattr(FilterBank, "embed", embed)
    with pytest.raises(KeyboardInterrupt):
        embedder.transform(images)
    (folder,) = tmp_path.iterdir()
    assert len(list(folder.glob("batch-*.npy"))) == 2
    # A file that was damaged is made again.
    (folder / "batch-000000.npy").write_bytes(b"torn")
    calls = []
    monkeypatch.setattr(FilterBank, "embed", lambda s, b: calls.append(len(b)) or plain(s, b))
    assert np.array_equal(embedder.transform(images), straight)
    assert calls == [3, 3, 1]
    embedder.transform(images)
    assert calls == [3, 3, 1]
    embedder.transform(1.0 - images)  # other images, another folder
    assert len(list(tmp_path.iterdir())) == 2


def test_what_the_fit_did_not_see_is_refused():
    images, _ = stripes(n=4)
    with pytest.raises(NotFittedError):
        ImageEmbedder().transform(images)
    embedder = ImageEmbedder("random", **SMALL).fit(images)
    with pytest.raises(InvalidInputError, match="3 channels"):
        embedder.transform(np.zeros((2, 12, 12, 3)))
    with pytest.raises(InvalidInputError, match="too small"):
        embedder.transform(images[:, :3, :3])
    with pytest.raises(InvalidInputError, match="n_filters=0"):
        ImageEmbedder(n_filters=0).fit(images)


def test_constructor_only_stores():
    check_no_attributes_set_in_init("ImageEmbedder", ImageEmbedder())
    assert clone(ImageEmbedder("resnet18", size=64)).get_params()["size"] == 64


def test_without_torch_the_error_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependencyError, match=r"torchvision.*network='patches'"):
        ImageEmbedder("resnet18").fit(np.zeros((1, 8, 8)))


@pytest.mark.torch
def test_without_torchvision_and_timm_the_error_says_what_to_do(monkeypatch):
    for name in ("torchvision", "timm"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingDependencyError, match="torchvision or timm"):
        ImageEmbedder("resnet18").fit(np.zeros((1, 8, 8)))


@pytest.mark.torch
def test_a_module_of_ones_own(tmp_path):
    import torch

    torch.manual_seed(0)
    net = torch.nn.Conv2d(1, 5, 3)
    images, _ = stripes(n=6)
    embedder = ImageEmbedder(net, batch_size=4, device="cpu", cache=tmp_path).fit(images)
    x = torch.tensor(images[:, None], dtype=torch.float32)
    expected = net(x).mean(dim=(2, 3)).detach().numpy()
    np.testing.assert_allclose(embedder.transform(images), expected, rtol=1e-4, atol=1e-6)
    assert embedder.n_features_out_ == 5
    assert module.PretrainedNetwork(net, torch.device("cpu")).fingerprint()


def test_dark_images_keep_the_scale_of_the_fit():
    pixels = np.random.default_rng(0).integers(0, 256, size=(9, 12, 12))
    embedder = ImageEmbedder(**SMALL).fit(pixels.astype(float))
    dark = pixels[:2] % 2
    same = ImageEmbedder(**SMALL).fit(pixels.astype(np.uint8)).transform(dark.astype(np.uint8))
    np.testing.assert_allclose(embedder.transform(dark.astype(float)), same)
    assert embedder.white_ == 255.0
