"""Features of images from trained networks of torchvision or timm, or one of the user's own."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2mam._typing import FloatArray
from s2mam.exceptions import InvalidInputError, MissingDependencyError

__all__ = ["PretrainedNetwork", "load_network"]

_MEAN, _SPREAD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_SIDE = 224
_INSTALL = "pip install 's2mam[torch]' torchvision (or timm)"


@dataclass(frozen=True)
class PretrainedNetwork:
    """A network without its last layer, and what it wants to see.

    Attributes
    ----------
    net : torch.nn.Module
        From (b, 3, side, side) to features.
    device : torch.device
    side : int or None
        Images are brought to this side; None leaves them.
    mean, spread : tuples of three floats, or None
        Of the colours that it was trained with; None leaves values and channels as they are.
    """

    net: Any
    device: Any
    side: int | None = _SIDE
    mean: tuple[float, ...] | None = _MEAN
    spread: tuple[float, ...] = _SPREAD

    def embed(self, images: FloatArray) -> FloatArray:
        """Features (b, d) of images (b, height, width, channels) with values in [0, 1]."""
        import torch

        with torch.inference_mode():
            x = torch.as_tensor(images, dtype=torch.float32, device=self.device)
            found = self.net(self._prepared(torch, x.permute(0, 3, 1, 2)))
            if found.ndim > 2:  # maps: their mean over the image
                found = found.flatten(2).mean(dim=2)
            features: FloatArray = found.cpu().numpy().astype(np.float64)
        if not np.isfinite(features).all():
            raise InvalidInputError(
                "The network gave features that are not finite; check that pixels lie in [0, 1]."
            )
        return features

    def fingerprint(self) -> str:
        """Of the weights."""
        digest = hashlib.sha256(f"{self.side} {self.mean} {self.spread}".encode())
        for name, value in sorted(self.net.state_dict().items()):
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(value.cpu().numpy()).tobytes())
        return digest.hexdigest()

    def _prepared(self, torch: Any, x: Any) -> Any:
        if self.mean is not None:
            x = x.expand(-1, 3, -1, -1) if x.shape[1] == 1 else x
        if self.side is not None and tuple(x.shape[2:]) != (self.side, self.side):
            x = torch.nn.functional.interpolate(
                x, (self.side, self.side), mode="bilinear", antialias=True, align_corners=False
            )
        if self.mean is None:
            return x
        mean, spread = (
            torch.tensor(values, device=x.device)[:, None, None]
            for values in (self.mean, self.spread)
        )
        return (x - mean) / spread


def load_network(network: Any, device: Any) -> PretrainedNetwork:
    """A network by name, or the user's own.

    Parameters
    ----------
    network : str or torch.nn.Module
        A model of torchvision ("resnet18"), of timm ("timm:resnet18", or any name that torchvision
        does not know), with its trained weights from the user's cache or the internet; a module
        gets the images as they are, channels first.
    device : {"auto", "cpu", "cuda", "cuda:<number>"}
    """
    torch = _torch()
    place = _device(torch, device)
    if isinstance(network, torch.nn.Module):
        return PretrainedNetwork(network.eval().to(place), place, None, None)
    if not isinstance(network, str):
        raise InvalidInputError(
            f"network={network!r} must be 'random', 'patches', the name of a model of torchvision "
            "or timm, or a torch module."
        )
    found = None if network.startswith("timm:") else _from_torchvision(network, place)
    return found or _from_timm(network.removeprefix("timm:"), place)


def _from_torchvision(name: str, device: Any) -> PretrainedNetwork | None:
    """None where torchvision is missing or does not know the name."""
    try:
        from torchvision import models
    except ImportError:
        return None
    # Classifiers of images alone: detectors and networks for films want and give other things.
    if name not in models.list_models(module=models):
        return None
    try:
        weights = models.get_model_weights(name).DEFAULT
        net = models.get_model(name, weights=weights)
    except (OSError, AttributeError, ValueError) as error:  # no internet, or never trained
        raise _no_weights(name, error) from error
    wanted = weights.transforms()
    mean, spread = tuple(wanted.mean), tuple(wanted.std)
    net = _headless(net).eval().to(device)
    return PretrainedNetwork(net, device, wanted.crop_size[0], mean, spread)


def _headless(net: Any) -> Any:
    """The network up to the input of its last linear layer."""
    linear = [key for key, part in net.named_modules() if type(part).__name__ == "Linear"]
    if not linear:  # it ends in a convolution: the maps before that are its features
        return net.features
    parent, _, last = linear[-1].rpartition(".")
    setattr(net.get_submodule(parent), last, _torch().nn.Identity())
    return net


def _from_timm(name: str, device: Any) -> PretrainedNetwork:
    try:
        import timm
    except ImportError as error:
        raise MissingDependencyError(
            f"network={name!r} needs torchvision or timm, or is not known to the one that is "
            f"installed; install with: {_INSTALL}, or use network='patches', which needs neither."
        ) from error
    if not timm.is_model(name):  # knows names with a tag of weights, too: "resnet18.a1_in1k"
        raise InvalidInputError(
            f"network={name!r} is known neither to torchvision nor to timm; use 'resnet18', say."
        )
    try:
        net = timm.create_model(name, pretrained=True, num_classes=0)
    except (OSError, RuntimeError) as error:
        raise _no_weights(name, error) from error
    wanted = timm.data.resolve_model_data_config(net)
    mean, spread = tuple(wanted["mean"]), tuple(wanted["std"])
    return PretrainedNetwork(net.eval().to(device), device, wanted["input_size"][-1], mean, spread)


def _no_weights(name: str, error: BaseException) -> MissingDependencyError:
    return MissingDependencyError(
        f"The trained weights of {name!r} are not in the cache and could not be had ({error}); "
        "fetch them where there is internet, or use network='patches'."
    )


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise MissingDependencyError(
            f"Trained networks need torch; install with: {_INSTALL}, or use network='patches', "
            "which needs neither."
        ) from error
    return torch


def _device(torch: Any, name: Any) -> Any:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.device(name)
    except (RuntimeError, TypeError) as error:
        raise InvalidInputError(
            f"device={name!r} must be 'auto', 'cpu', 'cuda' or 'cuda:<number>'."
        ) from error
