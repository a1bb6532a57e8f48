"""Warnings that point at the user's line instead of ours."""

from __future__ import annotations

import sys
import warnings

from s2mam.exceptions import S2MAMWarning


def warn_user(message: str, category: type[Warning] = S2MAMWarning) -> None:
    """Warn with the location of the first caller outside this package and scikit-learn.

    From release 1.9 on, scikit-learn wraps ``fit``; without looking beyond it every warning would
    point into scikit-learn.

    Parameters
    ----------
    message : str
        What to tell the user.
    category : type of Warning, default=S2MAMWarning
        Class of the warning.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_user("few labels")
    >>> str(caught[0].message)
    'few labels'
    """
    level = 2
    frame = sys._getframe(1)
    while _is_ours(str(frame.f_globals.get("__name__", ""))) and frame.f_back is not None:
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module.split(".")[0] in ("s2mam", "sklearn")
