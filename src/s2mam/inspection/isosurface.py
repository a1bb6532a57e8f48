"""Triangles of the surface on which a function of three variables has a given level."""

from __future__ import annotations

import itertools

import numpy as np

from s2mam._typing import AnyArray, FloatArray

__all__ = ["level_surface"]

# The six tetrahedra of a cube around its diagonal from corner 0 to corner 7; bits of a corner are
# its steps along the axes.
_TETRAHEDRA = np.array(
    [
        [0, sum(1 << axis for axis in order[:1]), sum(1 << axis for axis in order[:2]), 7]
        for order in itertools.permutations(range(3))
    ]
)


def level_surface(grids: tuple[AnyArray, ...], values: FloatArray, level: float) -> FloatArray:
    """Triangles where the linear interpolation of `values` equals the level.

    Every cell of the grid is cut in six tetrahedra, and a plane cuts a tetrahedron in one triangle
    or two.

    Parameters
    ----------
    grids : tuple of three arrays
        Values along the axes, rising.
    values : ndarray of shape (a, b, c)
        The function at the nodes.
    level : float
        Where to cut.

    Returns
    -------
    ndarray of shape (m, 3, 3)
        Corners of the triangles.

    Examples
    --------
    >>> import numpy as np
    >>> axis = np.linspace(-1.0, 1.0, 17)
    >>> x, y, z = np.meshgrid(axis, axis, axis, indexing="ij")
    >>> triangles = level_surface((axis, axis, axis), x**2 + y**2 + z**2, 0.64)
    >>> bool(np.allclose(np.linalg.norm(triangles, axis=2), 0.8, atol=0.01))
    True
    """
    corners, heights = _tetrahedra(grids, values - level)
    above = heights > 0
    pieces = []
    for count in (1, 2, 3):
        chosen = above.sum(axis=1) == count
        # Corners above the level first.
        order = np.argsort(~above[chosen], axis=1, kind="stable")
        points = np.take_along_axis(corners[chosen], order[:, :, None], axis=1)
        tops = np.take_along_axis(heights[chosen], order, axis=1)
        if count == 2:
            a, b = _cross(points, tops, 0, 2), _cross(points, tops, 0, 3)
            c, d = _cross(points, tops, 1, 2), _cross(points, tops, 1, 3)
            pieces += [np.stack([a, b, c], axis=1), np.stack([b, c, d], axis=1)]
        else:
            pairs = [(0, 1), (0, 2), (0, 3)] if count == 1 else [(0, 3), (1, 3), (2, 3)]
            pieces.append(np.stack([_cross(points, tops, i, j) for i, j in pairs], axis=1))
    return np.concatenate(pieces)


def _tetrahedra(grids: tuple[AnyArray, ...], values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Corners (m, 4, 3) of all tetrahedra and the function there (m, 4)."""
    nodes = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1).astype(np.float64)
    points, heights = [], []
    for corner in range(8):
        at = tuple(
            slice((corner >> axis) & 1, values.shape[axis] - 1 + ((corner >> axis) & 1))
            for axis in range(3)
        )
        points.append(nodes[at].reshape(-1, 3))
        heights.append(values[at].ravel())
    cubes, tops = np.stack(points, axis=1), np.stack(heights, axis=1)
    return (
        np.concatenate([cubes[:, four] for four in _TETRAHEDRA]),
        np.concatenate([tops[:, four] for four in _TETRAHEDRA]),
    )


def _cross(points: FloatArray, heights: FloatArray, i: int, j: int) -> FloatArray:
    """Where the edge from corner i to corner j meets the level."""
    share = heights[:, i] / (heights[:, i] - heights[:, j])
    crossing: FloatArray = points[:, i] + share[:, None] * (points[:, j] - points[:, i])
    return crossing
