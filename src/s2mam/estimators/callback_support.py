"""scikit-learn's callbacks (``set_callbacks``) where the installed release has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["CallbackSupportMixin", "with_callbacks"]

Method = TypeVar("Method", bound=Callable[..., Any])

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _tear_down_after
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def _tear_down_after(method: Callable[..., Any]) -> Callable[..., Any]:
        return method


def with_callbacks(method: Method) -> Method:
    """Have the callbacks torn down after a method, whether it fails or not."""
    decorated: Method = _tear_down_after(method)
    return decorated
