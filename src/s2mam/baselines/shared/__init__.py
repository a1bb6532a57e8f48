"""Pieces that several baselines share."""
