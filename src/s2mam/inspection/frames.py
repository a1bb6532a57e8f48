"""Numbers as pandas tables, where pandas is installed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from s2mam.exceptions import MissingDependencyError

__all__ = ["data_frame"]


def data_frame(columns: Mapping[str, Any]) -> Any:
    """A pandas table of named columns.

    Parameters
    ----------
    columns : mapping of str to sequence
        The columns, all of the same length.

    Returns
    -------
    pandas.DataFrame

    Examples
    --------
    >>> data_frame({"name": ["age"], "effect": [0.5]}).shape
    (1, 2)
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingDependencyError(
            "to_frame needs pandas; install it with: pip install 's2mam[table]'."
        ) from error
    return pd.DataFrame(dict(columns))
