"""Everything the outer loop needs to go on: plain arrays and json-able values, no pickle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from s2mam._typing import AnyArray, BoolArray, FloatArray
from s2mam.bilevel.solution import StartPoint
from s2mam.exceptions import ModelFileError

__all__ = ["HISTORY", "LoopState"]

#: What the history records per iteration.
HISTORY: Final = (
    "criterion",  # mean over the iteration's masks, in the criterion's own unit
    "budget",  # sum of the probabilities after the step
    "gradient_norm",  # of the estimate, before clipping
    "mapping_norm",  # ||s - s_new|| / step, the projected gradient
    "step",
    "seconds",
)


@dataclass
class LoopState:
    """The outer loop between two iterations.

    Attributes
    ----------
    s : (p,) array
        Mask probabilities.
    masks : (K, p) array of bool
        Drawn already for the next iteration.
    t : int
        Iterations done.
    rng : numpy.random.Generator
    history : dict of lists
        One entry per iteration for every name in :data:`HISTORY`.
    best_mask, best_value : (p,) array of bool, float
        Best mask evaluated so far, by the criterion (for batches: within its own batch).
    null_value : float
        Criterion of the empty mask; one when losses are not normalised.
    start : StartPoint or None
        Warm start of the next lower-level solve.
    cache_masks, cache_values : arrays
        Masks evaluated so far.
    stop_reason : str or None
        None while running; "max_iter", "callback", "absorbed" or "dead".
    """

    s: FloatArray
    masks: BoolArray
    t: int
    rng: np.random.Generator
    history: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in HISTORY})
    best_mask: BoolArray | None = None
    best_value: float = np.inf
    null_value: float = 1.0
    start: StartPoint | None = None
    cache_masks: FloatArray | None = None
    cache_values: FloatArray | None = None
    stop_reason: str | None = None

    def to_arrays(self) -> tuple[dict[str, AnyArray], dict[str, Any]]:
        """Return (arrays, json-able values) from which :meth:`from_arrays` rebuilds the state.

        Examples
        --------
        >>> import json
        >>> import numpy as np
        >>> state = LoopState(np.array([0.5]), np.array([[True]]), 3, np.random.default_rng(0))
        >>> arrays, values = state.to_arrays()
        >>> again = LoopState.from_arrays(arrays, json.loads(json.dumps(values)))
        >>> again.t, again.rng.random() == state.rng.random()
        (3, True)
        """
        arrays: dict[str, AnyArray] = {"s": self.s, "masks": self.masks}
        for name, values in self.history.items():
            arrays[f"history_{name}"] = np.array(values, dtype=np.float64)
        if self.best_mask is not None:
            arrays["best_mask"] = self.best_mask
        if self.start is not None:
            arrays["start_coef"] = self.start.coef
            arrays["start_intercept"] = np.asarray(self.start.intercept, dtype=np.float64)
        if self.cache_masks is not None and self.cache_values is not None:
            arrays["cache_masks"] = self.cache_masks
            arrays["cache_values"] = self.cache_values
        scalars = {
            "t": self.t,
            "best_value": None if np.isinf(self.best_value) else self.best_value,
            "null_value": self.null_value,
            "stop_reason": self.stop_reason,
            "rng": self.rng.bit_generator.state,
        }
        return arrays, scalars

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray], scalars: Mapping[str, Any]) -> LoopState:
        """Rebuild a state; the loop continues from it with the same bits."""
        try:
            return cls._rebuild(arrays, scalars)
        except KeyError as error:
            raise ModelFileError(
                f"The saved loop state lacks {error}; the file is damaged or not a loop state."
            ) from error

    @classmethod
    def _rebuild(cls, arrays: Mapping[str, AnyArray], scalars: Mapping[str, Any]) -> LoopState:
        start = None
        if "start_coef" in arrays:
            intercept = np.asarray(arrays["start_intercept"], dtype=np.float64)
            start = StartPoint(
                np.array(arrays["start_coef"], dtype=np.float64),
                float(intercept) if intercept.ndim == 0 else intercept,
            )
        best = arrays.get("best_mask")
        found = scalars["best_value"]
        return cls(
            s=np.array(arrays["s"], dtype=np.float64),
            masks=np.array(arrays["masks"], dtype=bool),
            t=int(scalars["t"]),
            rng=_generator(scalars["rng"]),
            history={name: arrays[f"history_{name}"].tolist() for name in HISTORY},
            best_mask=None if best is None else np.array(best, dtype=bool),
            best_value=np.inf if found is None else float(found),
            null_value=float(scalars["null_value"]),
            start=start,
            cache_masks=arrays.get("cache_masks"),
            cache_values=arrays.get("cache_values"),
            stop_reason=scalars["stop_reason"],
        )


def _generator(saved: Mapping[str, Any]) -> np.random.Generator:
    kinds = {"PCG64": np.random.PCG64, "PCG64DXSM": np.random.PCG64DXSM}
    name = saved["bit_generator"]
    if name not in kinds:
        raise ModelFileError(f"The saved loop state uses the unknown random generator {name!r}.")
    bits = kinds[name]()
    bits.state = dict(saved)
    return np.random.Generator(bits)
