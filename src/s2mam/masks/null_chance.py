"""How likely is each of many p-values one of a true null hypothesis?

Where nothing is to be found p-values are uniform; where something is they are small, but how small,
and how many there are, is only seen by looking at all of them together.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logsumexp

from s2mam._typing import FloatArray

__all__ = ["null_probability"]

# Shares of true nulls, and powers of the density power * p**(power - 1) of the other p-values.
_SHARES = expit(np.linspace(-5.0, 5.0, 31))
_POWERS = np.geomspace(1e-3, 0.7, 30)
# Smaller p-values than this are as good as zero.
_SMALLEST = -600.0


def null_probability(log_p: FloatArray) -> FloatArray:
    """Posterior probability that a null hypothesis is true, for each p-value.

    P-values are a mixture of uniform ones and of draws from a beta density that is largest at zero.
    The share of the mixture and the power of the density are averaged over a grid of both, on which
    the prior is flat.

    Parameters
    ----------
    log_p : (m,) array
        Logarithms of p-values.

    Returns
    -------
    (m,) array

    Examples
    --------
    >>> few = np.log([1e-9, 1e-8, 0.04, 0.3, 0.6, 0.9, 0.2, 0.5])
    >>> null_probability(few).round(2)[:3]
    array([0.  , 0.  , 0.57])
    >>> many = np.log([1e-9, 1e-8, 0.04, 0.01, 0.003, 0.05, 0.001, 0.1])
    >>> null_probability(many).round(2)[:3]
    array([0.  , 0.  , 0.04])
    """
    log_p = np.clip(log_p, _SMALLEST, 0.0)
    if log_p.size == 0:
        return log_p
    fits = np.array([_log_density(log_p, power).sum(axis=1) for power in _POWERS])
    posterior = np.exp(fits - logsumexp(fits))
    null = np.zeros(log_p.size)
    for power, weights in zip(_POWERS, posterior, strict=True):
        if weights.sum() > 1e-9:
            null += weights @ (_SHARES[:, None] * np.exp(-_log_density(log_p, power)))
    return np.minimum(null, 1.0)


def _log_density(log_p: FloatArray, power: float) -> FloatArray:
    """Log-density of the p-values under each share of true nulls."""
    found = np.log(power) + (power - 1.0) * log_p
    density: FloatArray = np.logaddexp(
        np.log(_SHARES)[:, None], np.log1p(-_SHARES)[:, None] + found
    )
    return density
