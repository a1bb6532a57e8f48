"""Frozen networks: evaluated by hand, and stored."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.bases.neural import LINE_REACH, NeuralColumns


@pytest.fixture
def nets():
    rng = np.random.default_rng(0)
    levels = np.full((2, 4), np.nan)
    levels[1, :3] = [2.0, 0.0, 5.0]
    return NeuralColumns(
        columns=np.array([3, 1]),
        first_weights=rng.normal(size=(2, 2, 5)),
        first_biases=rng.normal(size=(2, 2, 5)),
        second_weights=rng.normal(size=(2, 2, 3, 5)),
        second_biases=rng.normal(size=(2, 2, 3)),
        outputs=rng.normal(size=(2, 2, 2, 4)),
        levels=levels,
        shifts=rng.normal(size=(2, 2)),
    )


def by_hand(nets, z, e):
    """One number through one network of the first column."""
    layer = zip(nets.first_weights[e, 0], nets.first_biases[e, 0], strict=True)
    first = [np.tanh(w * z + b) for w, b in layer]
    hidden = [LINE_REACH * np.tanh(z / LINE_REACH)]
    for h in range(3):
        total = sum(w * v for w, v in zip(nets.second_weights[e, 0, h], first, strict=True))
        hidden.append(np.tanh(total + nets.second_biases[e, 0, h]))
    pairs = [zip(nets.outputs[e, 0, k], hidden, strict=True) for k in range(2)]
    return [sum(w * v for w, v in each) for each in pairs]


def test_numbers_go_through_every_layer(nets):
    table = np.full((1, 4), np.nan)
    table[0, 3] = 0.7
    expected = np.mean([by_hand(nets, 0.7, e) for e in range(2)], axis=0) - nets.shifts[0]
    np.testing.assert_allclose(nets.evaluate(table)[0, 0], expected, rtol=1e-12)


def test_levels_have_a_value_each_and_unknown_ones_none(nets):
    table = np.zeros((3, 4))
    table[:, 1] = [5.0, 2.0, 7.0]
    found = nets.evaluate(table)[:, 1]
    mean = nets.outputs[:, 1].mean(axis=0)
    expected = np.array([mean[:, 2], mean[:, 0], np.zeros(2)]) - nets.shifts[1]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_missing_values_contribute_nothing(nets):
    assert not nets.evaluate(np.full((2, 4), np.nan)).any()


def test_state_gives_the_same_bits(nets):
    again = NeuralColumns.from_state(nets.to_state())
    table = np.random.default_rng(1).normal(size=(7, 4))
    assert np.array_equal(again.evaluate(table), nets.evaluate(table))
