"""Networks of torchvision and timm, with weights that lie in the user's cache: no internet.

The weights are random ones, put where a download would have put trained ones; all else is real.
"""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from s2mam.exceptions import MissingDependencyError, S2MAMError
from s2mam.images import ImageEmbedder
from s2mam.images.pretrained import load_network

pytestmark = pytest.mark.torch
MEAN, SPREAD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


@pytest.fixture
def models(monkeypatch, tmp_path):
    """The models of torchvision, an empty cache, and no way to the internet."""
    found = pytest.importorskip("torchvision.models")
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    return found


def cached(models, name):
    """A network whose weights are in the cache."""
    import torch

    torch.manual_seed(0)
    net = models.get_model(name).eval()
    place = Path(torch.hub.get_dir()) / "checkpoints"
    place.mkdir(parents=True)
    url = models.get_model_weights(name).DEFAULT.url
    torch.save(net.state_dict(), place / url.rpartition("/")[2])
    return net


def pictures(side, n=3):
    return np.random.default_rng(0).uniform(size=(n, side, side, 3))


def channels_first(images, mean, spread):
    import torch

    return torch.tensor(((images - mean) / spread).transpose(0, 3, 1, 2), dtype=torch.float32)


def test_features_are_what_the_last_layer_of_torchvision_reads(models, tmp_path):
    import torch

    net, images = cached(models, "shufflenet_v2_x0_5"), pictures(224)
    embedder = ImageEmbedder("shufflenet_v2_x0_5", batch_size=2, device="cpu").fit(images)
    features = embedder.transform(images)
    assert features.shape == (3, net.fc.in_features) == (3, embedder.n_features_out_)
    with torch.no_grad():
        scores = net(channels_first(images, MEAN, SPREAD)).numpy()
        again = net.fc(torch.tensor(features, dtype=torch.float32)).numpy()
    np.testing.assert_allclose(again, scores, rtol=1e-3, atol=1e-4 * np.abs(scores).max())
    # A pickle has the name, and loads the weights again.
    copy = pickle.loads(pickle.dumps(embedder))
    assert len(pickle.dumps(embedder)) < 5000
    np.testing.assert_array_equal(copy.transform(images), features)


def test_grey_images_of_any_size_are_brought_to_what_the_network_wants(models):
    import torch

    cached(models, "shufflenet_v2_x0_5")
    grey = pictures(40)[..., 0]
    features = ImageEmbedder("shufflenet_v2_x0_5", device="cpu").fit_transform(grey)
    large = torch.nn.functional.interpolate(
        torch.tensor(grey)[:, None].expand(-1, 3, -1, -1).float(),
        (224, 224),
        mode="bilinear",
        antialias=True,
    )
    same = ImageEmbedder("shufflenet_v2_x0_5", device="cpu").fit_transform(
        large.numpy().transpose(0, 2, 3, 1)
    )
    np.testing.assert_allclose(features, same, rtol=1e-4, atol=1e-5)


def test_a_network_that_ends_in_a_convolution_gives_the_means_of_its_maps(models):
    import torch

    net, images = cached(models, "squeezenet1_1"), pictures(64, n=2)
    features = load_network("squeezenet1_1", "cpu").embed(images)
    x = torch.nn.functional.interpolate(
        torch.tensor(images.transpose(0, 3, 1, 2), dtype=torch.float32),
        (224, 224),
        mode="bilinear",
        antialias=True,
    )
    x = (x - torch.tensor(MEAN).float()[:, None, None]) / torch.tensor(SPREAD).float()[
        :, None, None
    ]
    with torch.no_grad():
        expected = net.features(x).mean(dim=(2, 3)).numpy()
    np.testing.assert_allclose(features, expected, rtol=1e-3, atol=1e-5)


def test_the_side_is_that_of_the_weights(models):
    cached(models, "efficientnet_b1")
    assert load_network("efficientnet_b1", "cpu").side == 240


def test_weights_that_cannot_be_had_are_one_clear_error(models):
    with pytest.raises(MissingDependencyError, match=r"not in the cache.*network='patches'"):
        ImageEmbedder("shufflenet_v2_x0_5").fit(pictures(32))


@pytest.mark.parametrize("name", ["fasterrcnn_resnet50_fpn", "r3d_18", "resnet_of_nobody"])
def test_what_is_no_classifier_of_images_is_refused(models, name):
    with pytest.raises(S2MAMError, match=name):
        ImageEmbedder(name).fit(pictures(32))


@pytest.mark.parametrize("name", ["timm:test_resnet", "timm:test_resnet.r160_in1k"])
def test_features_of_timm(monkeypatch, tmp_path, name):
    import torch

    timm = pytest.importorskip("timm")
    safetensors = pytest.importorskip("safetensors.torch")
    constants = pytest.importorskip("huggingface_hub.constants")
    torch.manual_seed(0)
    net = timm.create_model("test_resnet", pretrained=False).eval()
    place = tmp_path / "models--timm--test_resnet.r160_in1k"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text("0" * 40)
    (place / "snapshots" / ("0" * 40)).mkdir(parents=True)
    file = place / "snapshots" / ("0" * 40) / "model.safetensors"
    safetensors.save_file(net.state_dict(), file)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    images = pictures(160)
    embedder = ImageEmbedder(name, device="cpu").fit(images)
    features = embedder.transform(images)
    with torch.no_grad():
        scores = net(channels_first(images, 0.5, 0.5)).numpy()
        again = net.fc(torch.tensor(features, dtype=torch.float32)).numpy()
    np.testing.assert_allclose(again, scores, rtol=1e-3, atol=1e-4 * np.abs(scores).max())
    file.unlink()
    with pytest.raises(MissingDependencyError, match="not in the cache"):
        ImageEmbedder(name, device="cpu").fit(images)
