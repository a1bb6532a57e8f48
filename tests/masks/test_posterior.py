"""The jump process against exact enumeration of all masks."""

from __future__ import annotations

import itertools
from math import comb

import numpy as np
import pytest

from s2mam.masks.labeled_atoms import labeled_atoms
from s2mam.masks.mask_prior import MaskPrior, column_codes, size_prior
from s2mam.masks.posterior import average_masks
from s2mam.masks.posterior_evidence import MaskPosterior
from s2mam.masks.posterior_start import Mode, best_modes


def _posterior(seed, *, amplitudes=(0.5,), curve_shares=(0.3,), signal=0.6, p=3, rows=15):
    rng = np.random.default_rng(seed)
    straight = rng.normal(size=(rows, p))
    curved = np.stack([np.column_stack([x**2 - 1, x**3 - 3 * x]) for x in straight.T]) / 2
    target = signal * (straight[:, :1] + straight[:, 1:2] ** 2) + rng.normal(size=(rows, 1))
    atoms = labeled_atoms(straight, curved, np.arange(rows), target, np.ones(rows))
    prior = MaskPrior.of(size_prior(p), np.zeros(p))
    return MaskPosterior(atoms, prior, np.array(amplitudes), np.array(curve_shares))


def _enumerate(posterior):
    """Every state, its probability, and the marginal probability of each column."""
    p = posterior.atoms.n_columns
    hypers = list(
        itertools.product(range(posterior.amplitudes.size), range(posterior.curve_shares.size))
    )
    masks = [np.array(bits, dtype=bool) for bits in itertools.product([0, 1], repeat=2 * p)]
    states = [(mask, hyper) for mask in masks for hyper in hypers]
    values = np.array([posterior.value(mask, hyper) for mask, hyper in states])
    share = np.exp(values - values.max())
    share /= share.sum()
    inside = np.array([column_codes(mask) > 0 for mask, _ in states])
    return states, share, share @ inside


def _run(posterior, steps, seed=0):
    mask = np.zeros(2 * posterior.atoms.n_columns, dtype=bool)
    rng = np.random.default_rng(seed)
    start = Mode(mask, (0, 0), posterior.value(mask, (0, 0)))
    return average_masks(posterior, [start], steps=steps, burn_in=steps // 20, rng=rng)


@pytest.mark.parametrize("seed", [1, 3])
def test_probabilities_are_those_of_the_enumeration(seed):
    posterior = _posterior(seed)
    _, _, exact = _enumerate(posterior)
    average = _run(posterior, 5000)
    np.testing.assert_allclose(average.probabilities, exact, atol=0.03)


def test_probabilities_with_lines_and_curves_equally_likely():
    """A column that may come in as a line or as a curve is counted for both."""
    rng = np.random.default_rng(0)
    rows = 12
    straight = rng.normal(size=(rows, 3))
    curved = rng.normal(size=(3, rows, 1))
    target = rng.normal(size=(rows, 1))
    atoms = labeled_atoms(straight, curved, np.arange(rows), target, np.ones(rows))
    # Shapes have prior 0.45 (line), 0.1 (curve) and 0.45 (both) in the product with the odds.
    prior = MaskPrior.of(size_prior(3) + np.arange(4), np.zeros(3))
    posterior = MaskPosterior(atoms, prior, np.array([0.2]), np.array([1.0]))
    _, _, exact = _enumerate(posterior)
    assert exact.min() > 0.2
    assert exact.max() < 0.9
    average = _run(posterior, 5000)
    np.testing.assert_allclose(average.probabilities, exact, atol=0.03)


@pytest.mark.parametrize("seed", [0, 2])
def test_probabilities_with_amplitudes_and_shares_that_move(seed):
    posterior = _posterior(seed, amplitudes=(0.05, 0.5, 5.0), curve_shares=(0.1, 1.0))
    _, _, exact = _enumerate(posterior)
    average = _run(posterior, 6000)
    np.testing.assert_allclose(average.probabilities, exact, atol=0.03)


def test_the_averaged_function_is_the_posterior_mean():
    posterior = _posterior(1)
    states, share, _ = _enumerate(posterior)
    average = _run(posterior, 5000)
    exact = sum(
        weight * posterior.fit(mask, hyper).straight
        for weight, (mask, hyper) in zip(share, states, strict=True)
    )
    np.testing.assert_allclose(average.fit.straight, exact, atol=0.02)


def test_path_is_the_log_posterior_and_the_size_of_the_visited_states():
    posterior = _posterior(0)
    average = _run(posterior, 200)
    possible = {
        (round(posterior.value(mask, hyper), 6), int(np.count_nonzero(column_codes(mask))))
        for mask, hyper in _enumerate(posterior)[0]
    }
    visited = set(zip(average.log_posterior.round(6), average.size.astype(int), strict=True))
    assert visited <= possible
    assert len(visited) > 5
    assert (np.diff(average.log_posterior) != 0).all()  # every step is a jump


def test_same_generator_same_run():
    posterior = _posterior(0)
    one, two, other = _run(posterior, 50), _run(posterior, 50), _run(posterior, 50, seed=1)
    np.testing.assert_array_equal(one.log_posterior, two.log_posterior)
    np.testing.assert_array_equal(one.fit.curved, two.fit.curved)
    assert not np.array_equal(one.log_posterior, other.log_posterior)


def test_a_run_without_any_usable_atom_stays_with_the_empty_mask():
    rows = 8
    target = np.arange(rows, dtype=float)[:, None]
    none = np.zeros((rows, 3)), np.zeros((3, rows, 2))
    atoms = labeled_atoms(*none, np.arange(rows), target, np.ones(rows))
    posterior = MaskPosterior(atoms, MaskPrior.of(size_prior(3), np.zeros(3)))
    average = _run(posterior, 20)
    assert np.isfinite(average.log_posterior).all()
    assert (average.size == 0).all()
    np.testing.assert_array_equal(average.probabilities, np.zeros(3))


def test_a_run_that_has_nowhere_to_go_stays():
    """One column that surely matters: no jump has a rate above zero."""
    rows = 400
    rng = np.random.default_rng(0)
    x = rng.normal(size=rows)
    straight, curved = x[:, None], (x**2 - 1)[None, :, None]
    target = (x + x**2)[:, None] + 1e-3 * rng.normal(size=(rows, 1))
    atoms = labeled_atoms(straight, curved, np.arange(rows), target, np.ones(rows))
    posterior = MaskPosterior(
        atoms, MaskPrior.of(size_prior(1), np.zeros(1)), np.array([1.0]), np.array([1.0])
    )
    start = np.ones(2, dtype=bool)
    mode = Mode(start, (0, 0), posterior.value(start, (0, 0)))
    average = average_masks(posterior, [mode], steps=10, burn_in=2, rng=np.random.default_rng(0))
    assert average.probabilities == pytest.approx(1.0)
    assert np.ptp(average.log_posterior) < 100.0


def test_runs_from_several_modes_share_the_posterior():
    """Two far starts, runs long enough to visit everything: the average is still the posterior."""
    posterior = _posterior(0)
    _, _, exact = _enumerate(posterior)
    n = 2 * posterior.atoms.n_columns
    starts = [
        Mode(mask, (0, 0), posterior.value(mask, (0, 0)))
        for mask in (np.zeros(n, dtype=bool), np.ones(n, dtype=bool))
    ]
    rng = np.random.default_rng(0)
    average = average_masks(posterior, starts, steps=6000, burn_in=100, rng=rng)
    np.testing.assert_allclose(average.probabilities, exact, atol=0.03)


def test_a_run_in_a_hopeless_place_does_not_count():
    """A run that stays where the posterior is negligible leaves the average as it was."""
    posterior = _posterior(0, signal=8.0)
    n = 2 * posterior.atoms.n_columns
    best = best_modes(posterior, [(np.zeros(n, dtype=bool), (0, 0))], n_modes=1)
    poor = Mode(np.zeros(n, dtype=bool), (0, 0), best[0].value - 60.0)
    rng = np.random.default_rng(0)
    alone = average_masks(posterior, best, steps=40, burn_in=1, rng=np.random.default_rng(0))
    both = average_masks(posterior, [*best, poor], steps=80, burn_in=1, rng=rng)
    np.testing.assert_allclose(both.probabilities, alone.probabilities, atol=0.02)


def test_the_sharp_average_is_that_of_a_power_of_the_posterior():
    posterior = _posterior(3)
    states, share, _ = _enumerate(posterior)
    power = share**4 / np.sum(share**4)
    start = Mode(np.zeros(6, dtype=bool), (0, 0), posterior.value(np.zeros(6, dtype=bool), (0, 0)))
    rng = np.random.default_rng(0)
    average = average_masks(posterior, [start], steps=3000, burn_in=10, rng=rng, sharp=True)
    parts = [posterior.fit(*state) for state in states]
    for name in ("straight", "curved", "intercept"):
        exact = sum(one * getattr(part, name) for one, part in zip(power, parts, strict=True))
        np.testing.assert_allclose(getattr(average.sharp, name), exact, atol=0.01)


def test_the_sharp_average_counts_states_that_a_run_left_at_once():
    """The run begins at the best mask and has left it when the burn-in ends."""
    posterior = _posterior(0)
    states, share, _ = _enumerate(posterior)
    mask, hyper = states[int(np.argmax(share))]
    mode = Mode(mask, hyper, posterior.value(mask, hyper))
    rng = np.random.default_rng(1)
    average = average_masks(posterior, [mode], steps=2, burn_in=1, rng=rng, sharp=True)
    best = posterior.fit(mask, hyper)
    near, far = (np.abs(fit.straight - best.straight).max() for fit in (average.sharp, average.fit))
    assert near < far
    rng = np.random.default_rng(1)
    plain = average_masks(posterior, [mode], steps=2, burn_in=1, rng=rng)
    assert plain.sharp is None
    np.testing.assert_array_equal(plain.fit.straight, average.fit.straight)


@pytest.mark.parametrize("p", [1, 2, 7, 30])
def test_size_prior_sums_to_one_over_masks(p):
    total = sum(comb(p, k) * np.exp(value) for k, value in enumerate(size_prior(p)))
    assert total == pytest.approx(1.0)


def test_size_prior_peaks_at_the_number_asked_for():
    p = 9
    by_size = size_prior(p, 4) + np.log([comb(p, k) for k in range(p + 1)])
    np.testing.assert_allclose(by_size - by_size.max(), -3.0 * np.abs(np.arange(p + 1) - 4))
