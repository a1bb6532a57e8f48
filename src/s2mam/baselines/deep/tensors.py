"""The rows of a fit on a device, and the batches drawn from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from s2mam._typing import AnyArray
from s2mam.baselines.rows import BaselineRows
from s2mam.training.backend import load_torch
from s2mam.training.parameters import whole

__all__ = ["Batch", "BatchStream", "TableTensors", "tensors_of"]

# With few labels larger batches only repeat rows.
_REPEATS = 8


@dataclass(frozen=True)
class TableTensors:
    """The rows of one fit as tensors.

    Attributes
    ----------
    x : (n, q) tensor
        All rows.
    labeled : (l,) tensor of int64
        Positions of the labelled rows.
    y : (l,) tensor
        Standardised numbers, or class codes (int64).
    n_classes : int
        K, or 0 for regression.
    """

    x: Any
    labeled: Any
    y: Any
    n_classes: int

    @property
    def x_labeled(self) -> Any:
        """(l, q) labelled rows."""
        return self.x[self.labeled]


def tensors_of(rows: BaselineRows, target: AnyArray, device: Any, dtype: str) -> TableTensors:
    """Rows on a device.

    Parameters
    ----------
    rows : BaselineRows
    target : (l,) array
        Numbers, or class codes.
    device : torch.device
    dtype : {"float32", "float64"}
    """
    torch = load_torch()
    kind = getattr(torch, dtype)
    y = torch.as_tensor(np.asarray(target), device=device)
    return TableTensors(
        x=torch.as_tensor(rows.table, dtype=kind, device=device),
        labeled=torch.as_tensor(rows.labeled, dtype=torch.int64, device=device),
        y=y.to(torch.int64 if rows.n_classes else kind),
        n_classes=rows.n_classes,
    )


@dataclass(frozen=True)
class Batch:
    """What one step sees.

    Attributes
    ----------
    step : int
        From 1 on.
    x, y : (B, q) and (B,) tensors
        Labelled rows.
    u : (m, q) tensor
        Rows of the unlabelled stream.
    u_rows : (m,) tensor of int64
        Their positions in the table.
    """

    step: int
    x: Any
    y: Any
    u: Any
    u_rows: Any


class BatchStream:
    """Draws batches: labelled rows with replacement, other rows by shuffled passes.

    Parameters
    ----------
    data : TableTensors
    batch_size : int
        Labelled rows of a batch; eight times their number at most.
    ratio : int
        Unlabelled rows per labelled row of a batch; all of them at most.
    labeled_too : bool
        Whether labelled rows, without their labels, are in the unlabelled stream too. They are
        in any case when there are no others.
    """

    def __init__(
        self, data: TableTensors, *, batch_size: int = 64, ratio: int = 7, labeled_too: bool = True
    ) -> None:
        torch = load_torch()
        self.data = data
        n = data.x.shape[0]
        pool = torch.ones(n, dtype=torch.bool, device=data.x.device)
        if not labeled_too and data.labeled.numel() < n:
            pool[data.labeled] = False
        self.pool = pool.nonzero()[:, 0]
        self.n_labeled = min(whole("batch_size", batch_size), _REPEATS * data.labeled.numel())
        self.n_unlabeled = min(whole("ratio", ratio) * self.n_labeled, self.pool.numel())
        self._waiting = self.pool[:0]

    def draw(self, step: int) -> Batch:
        """The next batch.

        Parameters
        ----------
        step : int
        """
        torch, data = load_torch(), self.data
        shape = (self.n_labeled,)
        chosen = torch.randint(data.labeled.numel(), shape, device=data.x.device)
        rows = self._next_rows()
        return Batch(
            step=step,
            x=data.x[data.labeled[chosen]],
            y=data.y[chosen],
            u=data.x[rows],
            u_rows=rows,
        )

    def _next_rows(self) -> Any:
        """Rows of the current pass; what is too short for a batch is left for another pass."""
        if self._waiting.numel() < self.n_unlabeled:
            order = load_torch().randperm(self.pool.numel(), device=self.pool.device)
            self._waiting = self.pool[order]
        rows = self._waiting[: self.n_unlabeled]
        self._waiting = self._waiting[self.n_unlabeled :]
        return rows
