"""Semi-supervised meta additive models: few labels, many rows, many junk columns."""

from s2mam._version import __version__

__all__ = ["__version__"]
