"""What a loss offers to the solvers; a loss knows nothing of penalties or algorithms."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from s2mam._typing import AnyArray, FloatArray

__all__ = ["Loss"]


@runtime_checkable
class Loss(Protocol):
    """A convex loss of decision values, averaged with weights that sum to one.

    Scalar losses take decision values ``f`` of shape ``(l,)``; a loss with ``n_outputs = K > 1``
    takes ``(l, K)``. Gradients, curvatures and dual points carry the weights already.

    Attributes
    ----------
    name : str
        Short name for messages.
    n_outputs : int
        Number of decision values per row (1 for scalar losses).
    is_quadratic : bool
        The curvature does not depend on ``f``: one quadratic model is the whole story.
    curvature_bound : float
        A number ``k`` such that the curvature of row ``i`` never exceeds ``k * w[i]``
        (in every direction, for several outputs).
    """

    @property
    def name(self) -> str: ...

    @property
    def n_outputs(self) -> int: ...

    @property
    def is_quadratic(self) -> bool: ...

    @property
    def curvature_bound(self) -> float: ...

    def value(self, y: AnyArray, f: FloatArray, w: FloatArray) -> float:
        """Weighted loss."""
        ...

    def gradient(self, y: AnyArray, f: FloatArray, w: FloatArray) -> FloatArray:
        """Derivative with respect to ``f``, of the shape of ``f``."""
        ...

    def curvature(self, y: AnyArray, f: FloatArray, w: FloatArray) -> FloatArray:
        """Second derivative: ``(l,)`` for scalar losses, ``(l, K, K)`` otherwise."""
        ...

    def conjugate(self, y: AnyArray, theta: FloatArray, w: FloatArray) -> float:
        """Supremum over ``f`` of ``<theta, f> - value(f)``; infinite outside its domain."""
        ...

    def null_intercept(self, y: AnyArray, w: FloatArray) -> FloatArray:
        """Best constant decision value, shape ``()`` or ``(K,)``."""
        ...

    def inverse_link(self, f: FloatArray) -> FloatArray:
        """Decision values to the scale of the answer (mean or probability)."""
        ...
