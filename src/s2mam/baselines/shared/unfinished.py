"""One warning for all alternations that run out of rounds."""

from __future__ import annotations

from collections.abc import Sequence

from s2mam.exceptions import ConvergenceWarning
from s2mam.intake.notices import warn_user

__all__ = ["warn_unfinished"]


def warn_unfinished(objective: Sequence[float], max_iter: int, tol: float) -> None:
    """Warn that the last round still changed the objective by more than the tolerance.

    Parameters
    ----------
    objective : sequence of float
        One value per round, or the residuals of a splitting method.
    max_iter : int
        Rounds that were allowed.
    tol : float
        Share below which a change counts as none.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_unfinished([2.0, 1.0], 2, 1e-6)
    >>> str(caught[0].message)
    'max_iter=2 rounds were too few to reach tol=1e-06 (last change: 1); raise max_iter or tol.'
    """
    change = abs(objective[-2] - objective[-1]) if len(objective) > 1 else float("inf")
    warn_user(
        f"max_iter={max_iter} rounds were too few to reach tol={tol:g} (last change: {change:.3g})"
        "; raise max_iter or tol.",
        ConvergenceWarning,
    )
