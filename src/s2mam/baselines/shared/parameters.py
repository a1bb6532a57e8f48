"""Checks of the parameters of baselines; they are the ones that training uses too."""

from s2mam.training.parameters import choice, nonnegative, positive, share, whole

__all__ = ["choice", "nonnegative", "positive", "share", "whole"]
