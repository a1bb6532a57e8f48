"""Who does the work of a pass over the rows: this process, joblib's workers, or Dask's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import threadpool_limits

from s2mam.exceptions import InvalidInputError
from s2mam.scale.blocks import Block, ReadBlock, RowSource
from s2mam.scale.reduction import FAN, Mergeable, SumTree, fold_blocks

__all__ = ["sum_blocks"]

Sums = TypeVar("Sums", bound=Mergeable)


def sum_blocks(
    source: RowSource, function: Callable[[Block], Sums], *, n_jobs: int | None = None
) -> Sums:
    """Sum a function of blocks over all blocks of a source.

    Parameters
    ----------
    source : RowSource
        Is read once. Rows of Dask are summed by Dask, on the cluster they live on.
    function : callable
        From a block to a small sum with a method ``merge``. Pure: it may run anywhere, and twice.
    n_jobs : int or None
        Workers of joblib: threads, unless ``joblib.parallel_config`` says otherwise.

    Returns
    -------
    The sum, the same bits whoever did the work.
    """
    if hasattr(source, "sum_delayed"):
        total = source.sum_delayed(function)
    elif effective_n_jobs(n_jobs) == 1:
        tree = SumTree()
        with threadpool_limits(limits=1, user_api="blas"):
            for group in _groups(source.readers()):
                tree.push(fold_blocks(function, group))
        total = tree.total()
    else:
        total = _sum_parallel(source, function, n_jobs)
    if total is None:
        raise InvalidInputError("The source has no rows; at least one block is needed.")
    result: Sums = total
    return result


def _sum_parallel(source: RowSource, function: Callable[[Block], Any], n_jobs: int | None) -> Any:
    tree = SumTree()
    run = Parallel(
        n_jobs=n_jobs,
        prefer="threads",
        return_as="generator",
        pre_dispatch="n_jobs",
        batch_size=1,
    )
    # Threads share one BLAS, whose own threads would only get in each other's way.
    with threadpool_limits(limits=1, user_api="blas"):
        for value in run(
            delayed(_fold_alone)(function, group) for group in _groups(source.readers())
        ):
            tree.push(value)
    return tree.total()


def _fold_alone(function: Callable[[Block], Any], group: list[ReadBlock]) -> Any:
    """A group summed in a worker, which may have a BLAS of its own."""
    with threadpool_limits(limits=1, user_api="blas"):
        return fold_blocks(function, group)


def _groups(readers: Iterable[ReadBlock]) -> Iterator[list[ReadBlock]]:
    ordered = iter(readers)
    while group := list(islice(ordered, FAN)):
        yield group
