"""The systems the paper compares with, under one contract."""

from s2mam.baselines.registry import all_baselines

__all__ = ["all_baselines"]
