"""Orthonormal contrasts: the complement of a constant, of rows or of classes."""

from __future__ import annotations

import numpy as np

from s2mam._typing import AnyArray, FloatArray

__all__ = ["class_contrasts", "complement"]


def class_contrasts(codes: AnyArray, n_classes: int) -> FloatArray:
    """Return orthonormal contrasts of one-hot classes, (l, n_classes - 1).

    Examples
    --------
    >>> import numpy as np
    >>> class_contrasts(np.array([0, 1]), 2).round(3)
    array([[ 0.707],
           [-0.707]])
    """
    one_hot = np.eye(n_classes)[np.asarray(codes, dtype=np.intp)]
    contrasts: FloatArray = one_hot @ complement(np.ones(n_classes))
    return contrasts


def complement(direction: FloatArray) -> FloatArray:
    """Return (l, l - 1) orthonormal columns orthogonal to a positive vector (Householder)."""
    axis = direction / np.linalg.norm(direction)
    pivot = axis.copy()
    pivot[-1] += 1.0  # axis is positive, so nothing cancels
    reflector = np.eye(axis.size) - np.outer(pivot, pivot) / pivot[-1]
    complement: FloatArray = reflector[:, :-1]
    return complement
