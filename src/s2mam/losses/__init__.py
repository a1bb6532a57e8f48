"""Losses: value, gradient, curvature, conjugate and link of squared, logistic, multinomial."""

from __future__ import annotations

from s2mam.losses.base import Loss
from s2mam.losses.logistic import LogisticLoss
from s2mam.losses.multinomial import MultinomialLoss
from s2mam.losses.squared import SquaredLoss

__all__ = ["LogisticLoss", "Loss", "MultinomialLoss", "SquaredLoss"]
