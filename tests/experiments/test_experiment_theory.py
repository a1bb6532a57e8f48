from __future__ import annotations

import numpy as np
import pytest

from s2mam.exceptions import InvalidInputError
from s2mam.experiments.theory.complexity import measure_fit
from s2mam.experiments.theory.convergence import (
    MaskTable,
    convergence,
    exact_gradient,
    mapping_norms,
)
from s2mam.experiments.theory.generalization import excess_risk
from s2mam.experiments.theory.rates import best_theta, fit_power, paper_theta

RNG = np.random.default_rng(0)
TABLE = MaskTable(RNG.uniform(size=16))


def phi(s):
    chances = np.where(TABLE.masks > 0, s, 1 - s).prod(axis=1)
    return float(chances @ TABLE.values)


def test_the_table_reads_masks_as_bits():
    assert TABLE.n_columns == 4
    assert TABLE.value([True, False, True, False]) == TABLE.values[5]
    assert [TABLE.value(mask) for mask in TABLE.masks] == TABLE.values.tolist()


def test_the_gradient_is_that_of_differences():
    s = RNG.uniform(0.1, 0.9, size=(3, 4))
    found = exact_gradient(TABLE, s)
    for row, point in enumerate(s):
        for j in range(4):
            step = 1e-6 * np.eye(4)[j]
            slope = (phi(point + step) - phi(point - step)) / 2e-6
            assert found[row, j] == pytest.approx(slope, abs=1e-8)


def test_the_gradient_exists_at_the_corners():
    corner = exact_gradient(TABLE, np.array([[0.0, 1.0, 0.0, 1.0]]))
    assert corner[0, 0] == pytest.approx(
        TABLE.value([1, 1, 0, 1]) - TABLE.value([0, 1, 0, 1]), abs=1e-9
    )


def test_smoothness_bounds_the_change_of_the_gradient():
    a, b = RNG.uniform(size=(2, 200, 4))
    change = np.linalg.norm(exact_gradient(TABLE, a) - exact_gradient(TABLE, b), axis=1)
    assert (change <= TABLE.smoothness() * np.linalg.norm(a - b, axis=1) + 1e-9).all()


def test_the_mapping_is_the_gradient_inside_and_zero_at_a_minimum():
    steps = np.full(1, 1e-3)
    inside = np.full((1, 4), 0.3)
    expected = (exact_gradient(TABLE, inside) ** 2).sum()
    assert mapping_norms(TABLE, inside, steps, 4.0)[0] == pytest.approx(expected, rel=1e-6)
    best = MaskTable(TABLE.masks @ np.array([-1.0, 1.0, 1.0, 1.0]))
    corner = np.array([[1.0, 0.0, 0.0, 0.0]])
    assert mapping_norms(best, corner, steps, 4.0)[0] == 0.0


def test_theta_is_the_smallest_of_the_six_terms():
    assert paper_theta(0.1, 0.5, 5.0) == pytest.approx(0.05)
    assert paper_theta(1.8, 0.5, 5.0) == pytest.approx(0.05)
    assert best_theta(0.5, np.inf)[1] == pytest.approx(1 / 3, abs=1e-3)
    zetas = {0.5: 1.0, 1.25: 2 / 2.25, 4.0: 0.25}
    for smoothness, zeta in zetas.items():
        assert 2 / (2 + zeta) >= paper_theta(2 / 3, 0.5, smoothness)
    with pytest.raises(InvalidInputError):
        paper_theta(1.0, 0.7, 1.0)


def test_powers_are_recovered():
    x = np.array([1.0, 2.0, 5.0, 9.0])
    power = fit_power(x.tolist(), (3 * x**-0.7).tolist())
    assert power.exponent == pytest.approx(-0.7)
    assert power.factor == pytest.approx(3.0)
    assert power.error == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(InvalidInputError):
        fit_power([1.0, 2.0], [0.0, 1.0])


def test_the_convergence_study_reports_and_repeats(tmp_path):
    first, again = (
        convergence(iterations=40, runs=1, n_rows=24, n_junk=0, seed=3) for _ in range(2)
    )
    assert first.rows == again.rows
    smallest = [row["min_mean_G2"] for row in first.rows if row["problem"] == "two moons"]
    assert smallest[0] > 0
    assert all(np.diff(smallest[: len(smallest) // 2]) <= 0)
    for path in first.save(tmp_path):
        assert path.stat().st_size > 100


def test_more_labels_lower_the_excess_risk():
    few, many = (excess_risk("S2MAM", size, 30, 0, 0) for size in (20, 100))
    assert many < 0.5 * few


def test_time_and_memory_of_a_fit_are_positive():
    small, large = (measure_fit("base f_z", n, 8, 4, 0) for n in (60, 240))
    assert small[0] > 0
    assert large[1] > small[1] > 0
