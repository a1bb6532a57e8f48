"""What notebooks show of an estimator."""

from __future__ import annotations

from typing import Any

__all__ = ["ComponentReprMixin"]


class ComponentReprMixin:
    """Adds the largest components to what notebooks show of a fitted estimator.

    It stands before ``BaseEstimator`` among the base classes; scikit-learn's own diagram, with the
    box of parameters, comes first, the curves below it. An estimator that is not fitted shows the
    diagram alone.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> class Unfitted(ComponentReprMixin, BaseEstimator):
    ...     pass
    >>> "s2mam-components" in Unfitted()._repr_mimebundle_()["text/html"]
    False
    """

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._component_part()  # type: ignore[misc]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._component_part()
        return bundle

    def _component_part(self) -> str:
        if not hasattr(self, "_model"):
            return ""
        # Only notebooks need the drawings.
        from s2mam.inspection.html import component_html

        return component_html(self)  # type: ignore[arg-type]
