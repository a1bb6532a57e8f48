"""Base classes of the baselines that train a network."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from s2mam._typing import AnyArray, FloatArray
from s2mam.baselines.base import Baseline, BaselineClassifier, BaselineRegressor
from s2mam.baselines.deep.tensors import TableTensors, tensors_of
from s2mam.baselines.rows import BaselineRows
from s2mam.exceptions import TrainingDivergedError
from s2mam.training.backend import (
    load_arrays,
    load_torch,
    read_device,
    to_arrays,
    torch_session,
)
from s2mam.training.loop import TrainingLog

__all__ = ["DeepBaseline", "DeepClassifier", "DeepRegressor"]

# Rows scored at a time: keeps memory small on large tables.
_CHUNK = 8192


class DeepBaseline(Baseline):
    """A baseline that trains a network; see `s2mam.baselines.deep` for what a method writes."""

    requires: ClassVar[tuple[str, ...]] = ("torch",)
    #: Precision of training; scoring is always in double precision.
    dtype: ClassVar[str] = "float32"

    device: Any
    random_state: Any
    history_: list[float]
    n_iter_: int
    stop_reason_: str
    _weights: dict[str, AnyArray]

    @abstractmethod
    def _build(self, n_inputs: int, n_outputs: int) -> Any:
        """The untrained network."""

    @abstractmethod
    def _train(self, net: Any, data: TableTensors) -> TrainingLog:
        """Train the network in place."""

    @abstractmethod
    def _forward(self, net: Any, x: Any) -> Any:
        """(m, n_outputs) scores of rows x from the trained network."""

    @abstractmethod
    def _coded_target(self, rows: BaselineRows) -> AnyArray:
        """Target as the network sees it."""

    @abstractmethod
    def _decoded(self, outputs: FloatArray) -> FloatArray:
        """Scores of the contract of all baselines from (m, n_outputs) outputs."""

    def _learn(self, rows: BaselineRows) -> None:
        load_torch()
        device = read_device(self.device)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._shape = (rows.table.shape[1], max(rows.n_classes, 1))
        target = self._coded_target(rows)
        with torch_session(seed, device):
            data = tensors_of(rows, target, device, self.dtype)
            net = self._build(*self._shape).to(device=device, dtype=data.x.dtype)
            log = self._train(net, data)
            self._weights = to_arrays(net)
        if not all(np.isfinite(a).all() for a in self._weights.values() if a.dtype.kind == "f"):
            raise TrainingDivergedError(
                "Training ended with weights that are not finite; lower the learning rate, or "
                "scale the columns with scale='standard'."
            )
        self.history_, self.n_iter_ = log.history, log.n_iter
        self.stop_reason_ = log.stop_reason

    def _scores(self, table: FloatArray) -> FloatArray:
        return self._decoded(self._outputs(table))

    def _outputs(self, table: FloatArray) -> FloatArray:
        """What `_forward` gives for the rows of a table."""
        torch = load_torch()
        cpu = torch.device("cpu")
        with torch_session(0, cpu), torch.no_grad():
            # Double precision: a row's score must not depend on the rows beside it.
            net = self._build(*self._shape).double()
            load_arrays(net, self._weights)
            net.eval()
            parts = [
                self._forward(net, torch.as_tensor(table[start : start + _CHUNK])).numpy()
                for start in range(0, table.shape[0], _CHUNK)
            ]
        return np.concatenate(parts)


class DeepClassifier(DeepBaseline, BaselineClassifier):
    """A network with one logit per class."""

    def _coded_target(self, rows: BaselineRows) -> AnyArray:
        return rows.target

    def _decoded(self, outputs: FloatArray) -> FloatArray:
        return outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs


class DeepRegressor(DeepBaseline, BaselineRegressor):
    """A network with one output: the target, standardised by the labelled rows."""

    def _coded_target(self, rows: BaselineRows) -> AnyArray:
        target = np.asarray(rows.target, dtype=np.float64)
        self._center = float(target.mean())
        # A target without spread is learned as it is.
        self._spread = float(target.std()) or 1.0
        return (target - self._center) / self._spread

    def _decoded(self, outputs: FloatArray) -> FloatArray:
        return outputs[:, 0] * self._spread + self._center
