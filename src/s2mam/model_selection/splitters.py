"""Cross-validation in which unlabelled rows always train and never test."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator, KFold, ShuffleSplit
from sklearn.model_selection import StratifiedKFold as _StratifiedKFold
from sklearn.model_selection import StratifiedShuffleSplit as _StratifiedShuffleSplit
from sklearn.utils import check_random_state

from s2mam._typing import IntArray
from s2mam.exceptions import InvalidInputError
from s2mam.intake.labels import LabeledTarget
from s2mam.intake.notices import warn_user
from s2mam.model_selection.labeled_rows import TargetTask, read_target


class _LabeledRowSplitter(BaseCrossValidator):  # type: ignore[misc]
    """Splits the labelled rows and adds all others to every training part."""

    n_splits: int
    unlabeled: Any
    task: TargetTask

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of splits.

        Parameters
        ----------
        X, groups : object
            Ignored.
        y : array-like of shape (n,), optional
            With it, the number after folds were reduced for want of labels.

        Returns
        -------
        int
        """
        return self.n_splits if y is None else self._effective_splits(self._read(y))

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Row numbers of each training and test part.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Only its length is used.
        y : array-like of shape (n,)
            Target with markers.
        groups : object
            Ignored.

        Yields
        ------
        train, test : ndarray of int
            Every unlabelled row is in `train`.
        """
        target = self._read(y)
        effective = self._effective_splits(target)
        if effective < self.n_splits:
            warn_user(f"{self.n_splits} splits reduced to {effective}: too few labels for more.")
        rows = np.flatnonzero(target.labeled)
        everything = np.arange(len(target.labeled))
        for tested in self._test_parts(target, effective):
            test = rows[np.sort(tested)]
            yield np.setdiff1d(everything, test, assume_unique=True), test

    def _read(self, y: Any) -> LabeledTarget:
        if y is None:
            raise InvalidInputError(
                f"{type(self).__name__} needs y to know which rows are labelled."
            )
        return read_target(y, self.unlabeled, self.task)

    @abstractmethod
    def _effective_splits(self, target: LabeledTarget) -> int:
        """Number of splits that the labels allow."""

    @abstractmethod
    def _test_parts(self, target: LabeledTarget, n_splits: int) -> Iterator[IntArray]:
        """Positions among the labelled rows that each split tests on."""

    def _iter_test_indices(
        self, X: Any = None, y: Any = None, groups: Any = None
    ) -> Iterator[IntArray]:
        for _, test in self.split(X, y, groups):
            yield test

    def _check_splits(self, least: int) -> None:
        if self.n_splits < least:
            raise InvalidInputError(f"n_splits must be at least {least}, got {self.n_splits}.")


class SemiSupervisedKFold(_LabeledRowSplitter):
    """K folds of the labelled rows; unlabelled rows train in every split.

    With fewer labels than folds, there is one fold per label, and a note.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    shuffle : bool, default=False
        Whether to shuffle the labelled rows first.
    random_state : int, RandomState or None, default=None
        Seed of the shuffle.
    unlabeled : "auto", scalar or None, default="auto"
        Marker of unlabelled rows, read as the estimators read it.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether -1 marks unlabelled rows: it does for classes. "auto" takes a target of whole
        numbers, text or bool as classes; say "regression" for whole-number targets.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1.5, np.nan, 2.5, np.nan])
    >>> for train, test in SemiSupervisedKFold(2).split(np.zeros((4, 1)), y):
    ...     print(train, test)
    [1 2 3] [0]
    [0 1 3] [2]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: Any = None,
        unlabeled: Any = "auto",
        task: TargetTask = "auto",
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.task = task

    def _effective_splits(self, target: LabeledTarget) -> int:
        self._check_splits(2)
        if target.n_labeled < 2:
            raise InvalidInputError("Cross-validation needs at least 2 labelled rows, y has 1.")
        return min(self.n_splits, target.n_labeled)

    def _test_parts(self, target: LabeledTarget, n_splits: int) -> Iterator[IntArray]:
        seed = self.random_state if self.shuffle else None
        folds = KFold(n_splits, shuffle=self.shuffle, random_state=seed)
        for _, test in folds.split(target.y):
            yield test


class SemiSupervisedStratifiedKFold(_LabeledRowSplitter):
    """K folds of the labelled rows with the class shares kept; unlabelled rows always train.

    Folds are reduced, with a note, to the size of the smallest class that has two labels. A class
    with a single label always trains, so that every model knows it.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    shuffle : bool, default=False
        Whether to shuffle within classes first.
    random_state : int, RandomState or None, default=None
        Seed of the shuffle.
    unlabeled : "auto", scalar or None, default="auto"
        Marker of unlabelled rows, read as the classifiers read it.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, 0, 1, 1, -1])
    >>> for train, test in SemiSupervisedStratifiedKFold(2).split(np.zeros((5, 1)), y):
    ...     print(train, test)
    [1 3 4] [0 2]
    [0 2 4] [1 3]
    """

    task: TargetTask = "classification"

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: Any = None,
        unlabeled: Any = "auto",
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state
        self.unlabeled = unlabeled

    def _effective_splits(self, target: LabeledTarget) -> int:
        self._check_splits(2)
        counts = np.bincount(target.y)
        return min(self.n_splits, int(counts[target.y[_testable(target)]].min()))

    def _test_parts(self, target: LabeledTarget, n_splits: int) -> Iterator[IntArray]:
        positions = _testable(target)
        seed = self.random_state if self.shuffle else None
        folds = _StratifiedKFold(n_splits, shuffle=self.shuffle, random_state=seed)
        for _, test in folds.split(positions, target.y[positions]):
            yield positions[test]


class SemiSupervisedShuffleSplit(_LabeledRowSplitter):
    """Repeated random test parts of the labelled rows; unlabelled rows always train.

    Class shares are kept for classes, and a class with a single label always trains.

    Parameters
    ----------
    n_splits : int, default=10
        Number of splits.
    test_size : float or int, default=0.2
        Share or number of the labelled rows to test on; at least one per class.
    random_state : int, RandomState or None, default=None
        Seed.
    unlabeled : "auto", scalar or None, default="auto"
        Marker of unlabelled rows, read as the estimators read it.
    task : {"auto", "classification", "regression"}, default="auto"
        As in `SemiSupervisedKFold`.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, 0, 1, 1, -1, -1])
    >>> splits = SemiSupervisedShuffleSplit(3, test_size=0.5, random_state=0)
    >>> [len(test) for _, test in splits.split(np.zeros((6, 1)), y)]
    [2, 2, 2]
    """

    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: float = 0.2,
        random_state: Any = None,
        unlabeled: Any = "auto",
        task: TargetTask = "auto",
    ) -> None:
        self.n_splits = n_splits
        self.test_size = test_size
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.task = task

    def _effective_splits(self, target: LabeledTarget) -> int:
        self._check_splits(1)
        return self.n_splits

    def _test_parts(self, target: LabeledTarget, n_splits: int) -> Iterator[IntArray]:
        rng = check_random_state(self.random_state)
        if target.classes is None:
            positions, least = np.arange(target.n_labeled), 1
            splits: Any = ShuffleSplit
        else:
            positions = _testable(target)
            least = len(np.unique(target.y[positions]))
            splits = _StratifiedShuffleSplit
        size = self._test_count(len(positions), least)
        splitter = splits(n_splits, test_size=size, random_state=rng)
        for _, test in splitter.split(positions, target.y[positions]):
            yield positions[test]

    def _test_count(self, available: int, least: int) -> int:
        if available < 2:
            raise InvalidInputError("A split needs at least 2 labelled rows, y has 1.")
        size = self.test_size
        if not (0 < size < 1 or (size == int(size) and 1 <= size < available)):
            raise InvalidInputError(
                f"test_size must be a share in (0, 1) or a number below the {available} labelled "
                f"rows, got {size}."
            )
        wanted = int(np.ceil(size * available)) if size < 1 else int(size)
        # One row of every class on both sides, which stratification insists on.
        return min(max(wanted, least), available - least)


def _testable(target: LabeledTarget) -> IntArray:
    """Positions of labels whose class has another label."""
    positions = np.flatnonzero(np.bincount(target.y)[target.y] > 1)
    if len(positions) == 0:
        raise InvalidInputError(
            f"Every one of the {target.n_labeled} labelled rows is the only one of its class, so "
            "no class can be both trained and tested; add labels or use SemiSupervisedKFold."
        )
    return positions
