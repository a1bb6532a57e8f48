"""Mask probabilities of pixels as a picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from s2mam._typing import BoolArray, FloatArray
from s2mam.exceptions import InvalidInputError
from s2mam.inspection.drawing import COLORS, pyplot
from s2mam.inspection.frames import data_frame

if TYPE_CHECKING:
    from s2mam.estimators.base import AdditiveEstimator

__all__ = ["MaskImageDisplay"]


@dataclass(eq=False, repr=False)
class MaskImageDisplay:
    """Where in the image the columns of the model are, when columns are pixels.

    Parameters
    ----------
    probabilities : ndarray of shape (height, width)
        Mask probabilities; with several channels the largest one of a pixel.
    support : ndarray of bool, shape (height, width)
        Selected pixels.
    image : ndarray of shape (height, width) or (height, width, 3), optional
        Drawn below in grey, the mean image say.

    Attributes
    ----------
    figure_, ax_
        Set by `plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from s2mam import S2MAMRegressor
    >>> X = np.random.default_rng(0).uniform(size=(40, 12))
    >>> model = S2MAMRegressor(max_iter=5, random_state=0).fit(X, X[:, 6])
    >>> display = MaskImageDisplay.from_estimator(model, shape=(3, 4), image=X.mean(axis=0))
    >>> np.argwhere(display.support)
    array([[1, 2]])
    """

    probabilities: FloatArray
    support: BoolArray
    image: FloatArray | None = None
    figure_: Any = field(default=None, init=False, repr=False)
    ax_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: AdditiveEstimator,
        *,
        shape: tuple[int, ...],
        image: ArrayLike | None = None,
        columns: ArrayLike | None = None,
        ax: Any = None,
    ) -> MaskImageDisplay:
        """Read the probabilities and draw them.

        Parameters
        ----------
        estimator : fitted estimator of this package
            Its columns are pixels, row after row.
        shape : tuple of int
            (height, width) or (height, width, channels).
        image : array-like, optional
            As many values as the shape has: what is drawn below.
        columns : array-like of int, optional
            Columns that are the pixels, in order; all of them by default.
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        MaskImageDisplay
        """
        check_is_fitted(estimator, "mask_probabilities_")
        chosen = slice(None) if columns is None else np.asarray(columns)
        probabilities = _as_image(estimator.mask_probabilities_[chosen], shape, "columns")
        support = _as_image(estimator.support_[chosen], shape, "columns")
        if len(shape) == 3:
            probabilities, support = probabilities.max(axis=2), support.any(axis=2)
        below = None if image is None else _as_image(np.asarray(image), shape, "values of image")
        return cls(probabilities, support, below).plot(ax=ax)

    def plot(self, ax: Any = None) -> MaskImageDisplay:
        """Draw the image in grey and the probabilities over it; selected pixels have a frame.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        MaskImageDisplay
            Itself, with `figure_` and `ax_`.
        """
        if ax is None:
            _, ax = pyplot().subplots(figsize=(3.4, 3.4), layout="constrained")
        if self.image is not None:
            grey = self.image.mean(axis=2) if self.image.ndim == 3 else self.image
            ax.imshow(grey, cmap="gray", interpolation="nearest")
        colour = np.array([int(COLORS[1][k : k + 2], 16) / 255 for k in (1, 3, 5)])
        over = np.empty((*self.probabilities.shape, 4))
        over[..., :3] = colour
        over[..., 3] = np.clip(self.probabilities, 0.0, 1.0)
        ax.imshow(over, interpolation="nearest")
        rows, columns = np.nonzero(self.support)
        # Frames tell selected pixels apart without colour.
        ax.scatter(
            columns, rows, marker="s", s=14, facecolors="none", edgecolors="white", linewidths=0.7
        )
        ax.set_xticks([])
        ax.set_yticks([])
        ax.set_xlabel("colour: mask probability\nframed: selected", fontsize="small")
        self.figure_, self.ax_ = ax.figure, ax
        return self

    def to_frame(self) -> Any:
        """One row per pixel, as a pandas table.

        Returns
        -------
        pandas.DataFrame
            Columns ``row, column, probability, selected``.
        """
        row, column = np.indices(self.probabilities.shape)
        return data_frame(
            {
                "row": row.ravel(),
                "column": column.ravel(),
                "probability": self.probabilities.ravel(),
                "selected": self.support.ravel(),
            }
        )


def _as_image(values: Any, shape: tuple[int, ...], what: str) -> Any:
    if len(shape) not in (2, 3) or int(np.prod(shape)) != values.size:
        raise InvalidInputError(
            f"shape={shape} has {int(np.prod(shape))} pixels, but there are {values.size} {what}; "
            "pass (height, width) or (height, width, channels) of the images of the fit."
        )
    return values.reshape(shape)
