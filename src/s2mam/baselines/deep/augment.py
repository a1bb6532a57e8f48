"""Weak and strong views of the rows of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from s2mam.exceptions import InvalidInputError
from s2mam.training.backend import load_torch
from s2mam.training.parameters import choice, nonnegative

__all__ = ["TableAugmenter", "Views", "read_augmentation"]


@dataclass(frozen=True)
class TableAugmenter:
    """How rows are changed a little (weak) or more (strong) without changing their answer.

    Tables have no crops and flips. Public code adds Gaussian noise to standardised columns, 0.1
    for weak and 0.2 for strong views; replacing entries by those of other rows is the other
    common choice for strong views.

    Parameters
    ----------
    weak : float
        Noise of weak views, in standard deviations of a column.
    strong : float or "swap"
        Noise of strong views, or: each entry is replaced, with probability `swap_rate`, by the
        column's value in a random row.
    swap_rate : float in [0, 1]

    Examples
    --------
    >>> TableAugmenter(strong="swap").swap_rate
    0.3
    """

    weak: float = 0.1
    strong: float | str = 0.2
    swap_rate: float = 0.3

    def bind(self, table: Any) -> Views:
        """Views of rows of a table.

        Parameters
        ----------
        table : (n, q) tensor
            All rows of the fit: the noise follows their spread.
        """
        nonnegative("augmentation.weak", self.weak)
        if isinstance(self.strong, str):
            choice("augmentation.strong", self.strong, ("swap",))
        else:
            nonnegative("augmentation.strong", self.strong)
        if nonnegative("augmentation.swap_rate", self.swap_rate) > 1.0:
            raise InvalidInputError(
                f"augmentation.swap_rate={self.swap_rate!r} must not be above 1."
            )
        return Views(self, table, table.std(dim=0, unbiased=False))


@dataclass(frozen=True)
class Views:
    """A `TableAugmenter` at work on one table.

    Attributes
    ----------
    settings : TableAugmenter
    table : (n, q) tensor
    spread : (q,) tensor
        Standard deviations of the columns.
    """

    settings: TableAugmenter
    table: Any
    spread: Any

    def weak(self, x: Any) -> Any:
        """Weak views of rows x, a (m, q) tensor."""
        return self._noisy(x, self.settings.weak)

    def strong(self, x: Any) -> Any:
        """Strong views of rows x, a (m, q) tensor."""
        if isinstance(self.settings.strong, str):
            return self._swapped(x)
        return self._noisy(x, self.settings.strong)

    def _noisy(self, x: Any, size: float) -> Any:
        return x + size * self.spread * load_torch().randn_like(x)

    def _swapped(self, x: Any) -> Any:
        torch = load_torch()
        donors = torch.randint(self.table.shape[0], x.shape, device=x.device)
        hit = torch.rand(x.shape, device=x.device) < self.settings.swap_rate
        return torch.where(hit, self.table.gather(0, donors), x)


def read_augmentation(augmentation: Any) -> TableAugmenter:
    """The augmenter of a parameter; None stands for the default one.

    Parameters
    ----------
    augmentation : TableAugmenter or None
    """
    if augmentation is None:
        return TableAugmenter()
    if isinstance(augmentation, TableAugmenter):
        return augmentation
    raise InvalidInputError(
        f"augmentation={augmentation!r} must be None or a "
        "s2mam.baselines.deep.augment.TableAugmenter."
    )
