"""How much a streamed fit reads at once, samples and keeps; one place, changed for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace

from s2mam.exceptions import InvalidInputError

__all__ = ["ScaleOptions", "current_options", "scale_options"]


@dataclass(frozen=True)
class ScaleOptions:
    """Settings of streamed fits.

    Attributes
    ----------
    block_rows : int
        Rows that are read at once.
    device_block_rows : int
        The same for tensors on an accelerator, which wants larger pieces.
    stream_rows : int
        Arrays and data frames in memory with more rows than this are fitted in blocks.
    sample_rows : int
        Unlabelled rows that masks, scales and kernels are learned from.
    labeled_rows : int
        Labelled rows that masks are learned from; the sums use all of them.
    held_rows : int
        Most labelled rows that are held in memory to fit and tune a base model.
    anchors : int
        Anchors of the graph.
    max_features : int
        Most features of a streamed refit; a sum has the square of that many numbers.

    Examples
    --------
    >>> ScaleOptions(block_rows=1000).block_rows
    1000
    """

    block_rows: int = 2**14
    device_block_rows: int = 2**17
    stream_rows: int = 50_000
    sample_rows: int = 5_000
    labeled_rows: int = 300
    held_rows: int = 2_000
    anchors: int = 200
    max_features: int = 2_000

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InvalidInputError(f"{field.name}={value!r} must be a whole number from 1 on.")


_DEFAULT = ScaleOptions()
_current: ContextVar[ScaleOptions] = ContextVar("s2mam_scale_options", default=_DEFAULT)


def current_options() -> ScaleOptions:
    """The options in force.

    Examples
    --------
    >>> current_options().block_rows
    16384
    """
    return _current.get()


@contextmanager
def scale_options(**changes: int) -> Iterator[ScaleOptions]:
    """Change options for the fits inside a ``with`` block.

    Parameters
    ----------
    **changes
        Fields of :class:`ScaleOptions`.

    Examples
    --------
    >>> with scale_options(block_rows=1000):
    ...     current_options().block_rows
    1000
    """
    known = {field.name for field in fields(ScaleOptions)}
    unknown = sorted(set(changes) - known)
    if unknown:
        raise InvalidInputError(
            f"scale_options has no {unknown[0]!r}; use one of {', '.join(sorted(known))}."
        )
    token = _current.set(replace(_current.get(), **changes))
    try:
        yield _current.get()
    finally:
        _current.reset(token)
