"""Images as rows of numbers: features from networks, made in batches that can go on later."""

from s2mam.images.embedder import ImageEmbedder

__all__ = ["ImageEmbedder"]
