"""The outer loop under a watch: announced, stopped, and saved so that it can go on."""

from __future__ import annotations

from s2mam.bilevel.loop import run_loop
from s2mam.bilevel.options import LoopOptions
from s2mam.bilevel.state import LoopState
from s2mam.bilevel.watch import Watch
from s2mam.masks.criteria import Criterion
from s2mam.persistence import Checkpoint

__all__ = ["run_watched"]

_STAGE = "iteration"
# Iterations between two checkpoints.
_SAVE_EVERY = 25


def run_watched(
    criterion: Criterion,
    options: LoopOptions,
    seed: int,
    checkpoint: Checkpoint | None,
    watch: Watch,
) -> LoopState:
    """Run the outer loop from its checkpoint, if there is one, to its end or a stop.

    Parameters
    ----------
    criterion, options
        Of the loop.
    seed : int
        Seed of a new loop.
    checkpoint : Checkpoint or None
        Written every few iterations and at every stop, an interruption included.
    watch : Watch
        Is told about every iteration.

    Returns
    -------
    LoopState
    """

    def save(state: LoopState) -> None:
        if checkpoint is not None:
            arrays, scalars = state.to_arrays()
            checkpoint.save({"arrays": arrays, "scalars": scalars})

    def on_iteration(state: LoopState) -> str | None:
        # Saved before anybody is told: a callback that kills the process finds its work on disk.
        if state.t % _SAVE_EVERY == 0:
            save(state)
        details = {
            "iteration": state.t,
            "probabilities": state.s.copy(),
            "criterion": state.history["criterion"][-1],
        }
        reason = watch.unit_ends(_STAGE, state.t, details)
        if reason is not None:
            save(state)
        elif state.t < options.max_iter:
            watch.unit_begins(_STAGE)
        return reason

    def on_interrupt(state: LoopState) -> bool:
        if state.t == 0:
            return False
        save(state)
        return watch.keep_interrupted

    watch.begin(options.max_iter)
    watch.unit_begins(_STAGE)
    return run_loop(
        criterion,
        options,
        random_state=seed,
        state=_saved_state(checkpoint),
        on_iteration=on_iteration,
        on_interrupt=on_interrupt,
    )


def _saved_state(checkpoint: Checkpoint | None) -> LoopState | None:
    saved = None if checkpoint is None else checkpoint.load()
    return None if saved is None else LoopState.from_arrays(saved["arrays"], saved["scalars"])
