"""Units of work side by side: kept when finished, announced, and stopped between two of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from joblib import Parallel, delayed

from s2mam.bilevel.watch import Watch

__all__ = ["INTERRUPTED", "Store", "UnitRunner"]

#: Reason of a fit that a KeyboardInterrupt ended.
INTERRUPTED = "interrupted"


class Store(Protocol):
    """Finished units of work, so that a killed fit goes on where it stopped."""

    def get(self, name: str) -> dict[str, Any] | None:
        """The state saved under a name, or None."""

    def put(self, name: str, state: dict[str, Any]) -> None:
        """Save a state under a name."""


@dataclass
class UnitRunner:
    """Runs the units of one fit, stage by stage.

    Attributes
    ----------
    total : int
        Units of all stages.
    n_jobs : int or None
        Units side by side.
    store : Store or None
        Where finished units are kept.
    watch : Watch
        Is told about every unit, and may ask for a stop.
    done : int
        Units finished so far, those from the store included.
    stop_reason : str or None
        Why units were left out; None when none was.

    Examples
    --------
    >>> class Once(Watch):
    ...     def unit_ends(self, stage, done, details=None):
    ...         return "enough"
    >>> runner = UnitRunner(3, None, None, Once())
    >>> runner.run(lambda i: {"square": i * i}, "square", [(2,), (3,), (4,)])
    [{'square': 4}, None, None]
    >>> runner.stop_reason
    'enough'
    """

    total: int
    n_jobs: int | None
    store: Store | None
    watch: Watch
    done: int = 0
    stop_reason: str | None = None

    def run(
        self,
        function: Callable[..., dict[str, Any]],
        stage: str,
        calls: Sequence[tuple[Any, ...]],
        *,
        dispensable: bool = False,
    ) -> list[dict[str, Any] | None]:
        """Run the units of a stage that are not in the store yet.

        Parameters
        ----------
        function : callable
            Computes the state of a unit.
        stage : str
            Name of the stage; with the position of a unit it is the name in the store.
        calls : sequence of tuples
            Arguments, one tuple per unit.
        dispensable : bool
            The fit can do without the units that a KeyboardInterrupt prevents, if the watch wants
            so.

        Returns
        -------
        list of dict or None
            States of all units, None for those that a stop left out.
        """
        store = self.store
        states = [None if store is None else store.get(f"{stage}{i}") for i in range(len(calls))]
        missing = [i for i, state in enumerate(states) if state is None]
        self.done += len(calls) - len(missing)
        if self.stop_reason is not None or not missing:
            return states
        try:
            with self._results(function, [calls[i] for i in missing]) as results:
                for i in missing:
                    self.watch.unit_begins(stage)
                    states[i] = next(results)
                    if self._ends_with(f"{stage}{i}", stage, states[i]):
                        break
        except KeyboardInterrupt:
            if not (dispensable and self.watch.keep_interrupted):
                raise
            self.stop_reason = INTERRUPTED
        return states

    def _ends_with(self, name: str, stage: str, state: dict[str, Any] | None) -> bool:
        """Note a finished unit; True when it is the last one for now."""
        if self.store is not None and state is not None:
            self.store.put(name, state)
        self.done += 1
        reason = self.watch.unit_ends(stage, self.done)
        # A stop after the last unit stops nothing.
        self.stop_reason = reason if self.done < self.total else None
        return self.stop_reason is not None

    @contextmanager
    def _results(
        self, function: Callable[..., dict[str, Any]], calls: Sequence[tuple[Any, ...]]
    ) -> Iterator[Iterator[dict[str, Any]]]:
        work = (delayed(function)(*call) for call in calls)
        results = Parallel(n_jobs=self.n_jobs, return_as="generator")(work)
        try:
            yield results
        finally:
            # A stop cancels what other processes still work on; joblib warns about that.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                results.close()
