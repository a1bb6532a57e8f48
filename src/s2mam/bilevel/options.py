"""Settings of the outer loop: the paper's rule and its repaired form differ only here."""

from __future__ import annotations

from dataclasses import dataclass

from s2mam.exceptions import InvalidInputError

__all__ = ["LoopOptions", "paper_options"]


@dataclass(frozen=True)
class LoopOptions:
    """Settings of :func:`s2mam.bilevel.loop.run_loop`; the defaults are the repaired form.

    Parameters
    ----------
    budget : float
        C, the bound on the sum of the probabilities.
    max_iter : int
        Iterations in all, counted from the very first one also after a resume.
    estimator : {"rloo", "reinforce"}
        Gradient estimate, with or without leave-one-out baseline.
    n_masks : int
        Draws per iteration.
    step_size : float
        c of the step c / sqrt(t).
    eps : float
        Masks are drawn and scored with probabilities in [eps, 1 - eps]; zero is absorbing.
    first_mask : {"draw", "ones"}
        The first masks: drawn from s, or all columns as in the paper.
    normalize : bool
        Divide losses by the loss of the empty mask, so that c does not depend on the units.
    clip_norm : float, optional
        Longest gradient.
    cache : bool
        Never evaluate a mask twice. Without effect when batches are drawn.
    batch_size : int, optional
        Rows drawn anew for every iteration, labelled ones in proportion and at least one.

    Examples
    --------
    >>> LoopOptions(budget=3).estimator, paper_options(3).estimator
    ('rloo', 'reinforce')
    """

    budget: float
    max_iter: int = 300
    estimator: str = "rloo"
    n_masks: int = 5
    step_size: float = 0.1
    eps: float = 0.02
    first_mask: str = "draw"
    normalize: bool = True
    clip_norm: float | None = 3.0
    cache: bool = True
    batch_size: int | None = None

    def __post_init__(self) -> None:
        if self.estimator not in ("rloo", "reinforce"):
            raise InvalidInputError(
                f'estimator={self.estimator!r} is unknown; use "rloo" or "reinforce".'
            )
        if self.first_mask not in ("draw", "ones"):
            raise InvalidInputError(
                f'first_mask={self.first_mask!r} is unknown; use "draw" or "ones".'
            )
        least = 2 if self.estimator == "rloo" else 1
        if self.n_masks < least:
            raise InvalidInputError(
                f"n_masks={self.n_masks} must be at least {least} for {self.estimator!r}."
            )
        if not self.budget > 0.0:
            raise InvalidInputError(f"budget={self.budget} must be positive.")
        if not self.step_size > 0.0:
            raise InvalidInputError(f"step_size={self.step_size} must be positive.")
        if not 0.0 <= self.eps < 0.5:
            raise InvalidInputError(f"eps={self.eps} must lie in [0, 0.5).")


def paper_options(
    budget: float,
    *,
    max_iter: int = 300,
    step_size: float = 0.01,
    batch_size: int | None = None,
) -> LoopOptions:
    """Return Algorithm 1: one draw, no baseline, start m = 1, raw losses, no clipping, no cache.

    Examples
    --------
    >>> options = paper_options(5)
    >>> options.n_masks, options.first_mask, options.eps, options.clip_norm
    (1, 'ones', 0.0, None)
    """
    return LoopOptions(
        budget=budget,
        max_iter=max_iter,
        estimator="reinforce",
        n_masks=1,
        step_size=step_size,
        eps=0.0,
        first_mask="ones",
        normalize=False,
        clip_norm=None,
        cache=False,
        batch_size=batch_size,
    )
