"""Training of additive models made of small networks; the only part of a fit that needs torch."""
