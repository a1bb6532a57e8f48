"""Sums in a fixed tree: the same bits whoever computes them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from joblib import parallel_config

from s2mam.exceptions import InvalidInputError
from s2mam.scale import ArraySource, Block, IteratorSource, scale_options
from s2mam.scale.executors import sum_blocks
from s2mam.scale.reduction import FAN, SumTree, fold, fold_blocks


@dataclass(frozen=True)
class Written:
    """Writes down the order of additions."""

    text: str

    def merge(self, later: Written) -> Written:
        return Written(f"({self.text}{later.text})")


@dataclass(frozen=True)
class Total:
    value: np.ndarray

    def merge(self, later: Total) -> Total:
        return Total(self.value + later.value)


def gram(block: Block) -> Total:
    # Sums of numbers of very different size: any other order shows in the last bits.
    return Total(block.table.T @ block.table)


def level_by_level(values: list[Written]) -> Written:
    while len(values) > 1:
        values = [fold(values[at : at + FAN]) for at in range(0, len(values), FAN)]
    return values[0]


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 63, 64, 65, 72, 73, 511, 512, 513, 600])
def test_values_that_arrive_one_by_one_make_the_same_tree(count):
    values = [Written(f"[{at}]") for at in range(count)]
    tree = SumTree()
    for value in values:
        tree.push(value)
    assert tree.total() == level_by_level(values)


def test_a_group_is_folded_from_left_to_right():
    source = ArraySource(np.arange(6.0)[:, None])
    with scale_options(block_rows=2):
        source = ArraySource(np.arange(6.0)[:, None])
    found = fold_blocks(lambda block: Written(str(int(block.table[0, 0]))), source.readers())
    assert found.text == "((02)4)"


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(5000, 4)) * 10.0 ** rng.integers(-8, 8, size=(5000, 1))


def test_the_bits_do_not_depend_on_the_workers(rows):
    with scale_options(block_rows=64):
        source = ArraySource(rows)
    alone = sum_blocks(source, gram).value
    np.testing.assert_allclose(alone, rows.T @ rows, rtol=1e-12)
    for n_jobs in (2, 3, 5):
        np.testing.assert_array_equal(sum_blocks(source, gram, n_jobs=n_jobs).value, alone)
    with parallel_config(backend="loky"):
        np.testing.assert_array_equal(sum_blocks(source, gram, n_jobs=2).value, alone)


def test_blocks_from_a_function_give_the_same_sum(rows):
    with scale_options(block_rows=64):
        alone = sum_blocks(ArraySource(rows), gram).value
    made = IteratorSource(lambda: (rows[at : at + 64] for at in range(0, 5000, 64)))
    np.testing.assert_array_equal(sum_blocks(made, gram).value, alone)
    np.testing.assert_array_equal(sum_blocks(made, gram, n_jobs=2).value, alone)


def test_no_rows_are_an_error():
    with pytest.raises(InvalidInputError, match="no rows"):
        sum_blocks(ArraySource(np.zeros((0, 3))), gram)
