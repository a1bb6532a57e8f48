"""The public checks: our own parts pass, and each way to break a contract is caught by its law."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from s2mam.baselines import all_baselines
from s2mam.baselines.base import BaselineClassifier, BaselineRegressor
from s2mam.bases import build_design
from s2mam.conformance import ConformanceError, check_baseline, check_criterion, check_graph
from s2mam.datasets import make_friedman
from s2mam.exceptions import InvalidInputError, S2MAMError
from s2mam.graphs import build_graph
from s2mam.masks import EvidenceCriterion, labeled_kernels

build = partial(build_graph, warn=False)


# ---- graphs ----
@pytest.mark.parametrize("kind", ["dense", "neighbors"])
@pytest.mark.parametrize("normalized", [False, True])
def test_our_graphs_pass(kind, normalized):
    held = check_graph(partial(build, kind=kind, normalized=normalized, n_neighbors=5))
    assert len(held) == 12


@pytest.mark.parametrize("kind", ["anchors", "nystrom", "fourier"])
def test_our_approximate_graphs_pass(kind):
    # Which rows become anchors, and which waves are drawn, depends on their order.
    held = check_graph(partial(build, kind=kind), skip=["order of the rows"])
    assert len(held) == 11


class Graph:
    """A graph from any matrix."""

    def __init__(self, matrix, n=None):
        self.matrix, self.n = matrix, len(matrix) if n is None else n

    def apply(self, F):
        return self.matrix @ F

    def quadratic(self, F):
        product = F.T @ self.matrix @ F
        return (product + product.T) / 2.0


def laplacian(Z, mask, power=2.0):
    masked = np.nan_to_num(Z * mask)
    W = np.exp(-((masked[:, None] - masked) ** power).sum(axis=2))
    return np.diag(W.sum(axis=1)) - W


def test_a_graph_written_in_five_lines_passes():
    assert "quadratic form" in check_graph(lambda Z, mask: Graph(laplacian(Z, mask)))


def _writes(Z, mask):
    L = laplacian(Z, mask)
    Z[:] = 0.0
    return Graph(L)


def _vector_only(Z, mask):
    graph = Graph(laplacian(Z, mask))
    graph.apply = lambda F: graph.matrix @ F.reshape(len(F), -1)
    return graph


def _wrong_form(Z, mask):
    graph = Graph(laplacian(Z, mask))
    graph.quadratic = lambda F: 2.0 * F.T @ graph.matrix @ F
    return graph


STATE = np.random.default_rng(5)
BROKEN = {
    "size": lambda Z, mask: Graph(laplacian(Z, mask), n=3),
    "symmetric": lambda Z, mask: Graph(np.triu(laplacian(Z, mask))),
    "not negative": lambda Z, mask: Graph(-laplacian(Z, mask)),
    "constants": lambda Z, mask: Graph(laplacian(Z, mask) + np.eye(len(Z))),
    "vectors and matrices": _vector_only,
    "quadratic form": _wrong_form,
    "masked columns are silent": lambda Z, mask: Graph(laplacian(Z, np.ones(4))),
    "order of the rows": lambda Z, mask: Graph(_chain(len(Z))),
    "same again": lambda Z, mask: Graph(laplacian(Z, mask) * (1.0 + 1e-13 * STATE.random())),
    "missing values": lambda Z, mask: Graph(_no_gaps(Z, mask)),
    "empty mask": lambda Z, mask: Graph(laplacian(Z, mask) / mask.sum()),
    "input is left alone": _writes,
}


def _chain(n):
    W = np.eye(n, k=1) + np.eye(n, k=-1)
    return np.diag(W.sum(axis=1)) - W


def _no_gaps(Z, mask):
    W = np.exp(-(((Z[:, None] - Z) * mask) ** 2).sum(axis=2))
    return np.diag(W.sum(axis=1)) - W


@pytest.mark.parametrize("law", BROKEN)
@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero")
def test_a_broken_graph_is_caught_by_its_law(law):
    with pytest.raises(ConformanceError, match=rf"^{law}: "):
        check_graph(BROKEN[law])
    assert issubclass(ConformanceError, S2MAMError)


def test_laws_can_be_left_out_by_name():
    held = check_graph(BROKEN["order of the rows"], skip=["order of the rows"])
    assert "order of the rows" not in held
    with pytest.raises(InvalidInputError, match="no law 'speed'"):
        check_graph(build, skip=["speed"])


# ---- criteria ----
@pytest.fixture(scope="module")
def evidence():
    data = make_friedman(30, 2, 0, random_state=0)
    Z = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    design = build_design(Z, ("numeric",) * Z.shape[1])
    return EvidenceCriterion(labeled_kernels(design.features, design.offsets, data.y))


def toy(value, n_columns=6):
    return SimpleNamespace(n_columns=n_columns, value=value)


def test_a_toy_criterion_passes():
    held = check_criterion(toy(lambda mask: float(np.sum(mask))))
    assert held == ["columns", "finite", "input is left alone", "same again", "any type of mask"]


class Drifting:
    n_columns = 6

    def __init__(self):
        self.calls = 0

    def value(self, mask):
        self.calls += 1
        return float(np.sum(mask)) + 1e-3 * self.calls


def _bool_only(mask):
    return (
        float(len(mask[mask])) if isinstance(mask, np.ndarray) and mask.dtype.kind == "b" else 99.0
    )


def _written(mask):
    total = float(np.sum(mask))
    if isinstance(mask, np.ndarray):
        mask[:] = 0
    return total


@pytest.mark.parametrize(
    ("law", "criterion"),
    [
        ("columns", toy(lambda mask: 0.0, n_columns=0)),
        ("finite", toy(lambda mask: np.log(np.sum(mask)))),
        ("finite", toy(lambda mask: np.asarray(mask, dtype=float))),
        ("same again", Drifting()),
        ("any type of mask", toy(_bool_only)),
        ("input is left alone", toy(_written)),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_broken_criterion_is_caught_by_its_law(law, criterion):
    with pytest.raises(ConformanceError, match=rf"^{law}: "):
        check_criterion(criterion)


class Smooth:
    """A quadratic in s and ln(noise)."""

    n_columns = 4
    is_loss = True

    def value(self, mask):
        return self.value_and_gradient(mask, self.noise_of(mask))[0]

    def gradient(self, s):
        return self.value_and_gradient(s, self.noise_of(s))[1]

    def noise_of(self, mask):
        return 1.0

    def value_and_gradient(self, s, noise):
        s = np.asarray(s, dtype=float)
        return float((s - 0.3) @ (s - 0.3) + np.log(noise) ** 2), 2 * (s - 0.3), 2 * np.log(noise)

    def addition_values(self, mask, noise):
        on = np.asarray(mask, dtype=float)
        return np.array([self.value_and_gradient(np.maximum(on, e), noise)[0] for e in np.eye(4)])


def test_smooth_criteria_are_checked_by_finite_differences(evidence):
    assert check_criterion(Smooth())[-3:] == ["gradient", "derivative by the noise", "additions"]
    assert "additions" in check_criterion(evidence)
    broken = {
        "gradient": {"gradient": lambda s: np.ones(4)},
        "derivative by the noise": {
            "value_and_gradient": lambda s, noise: (*Smooth().value_and_gradient(s, noise)[:2], 7.0)
        },
        "additions": {"addition_values": lambda mask, noise: np.zeros(4)},
    }
    for law, methods in broken.items():
        criterion = Smooth()
        vars(criterion).update(methods)
        with pytest.raises(ConformanceError, match=rf"^{law}: "):
            check_criterion(criterion)


# ---- baselines ----
@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("name", ["SpAM", "LapRLS", "f-FME"])
def test_our_baselines_pass(task, name):
    baseline = all_baselines(task)[name]()
    if "random_state" in baseline.get_params():
        baseline.set_params(random_state=0)
    assert len(check_baseline(baseline)) == 14


class Mean(BaselineRegressor):
    """Mean of the labels plus a slope."""

    paper_name: ClassVar[str] = "mean"
    grid: ClassVar[Any] = {"slope": (0.0, 1.0)}

    def __init__(self, *, slope=0.5, scale="standard", categorical="auto", unlabeled="auto"):
        self.slope = slope
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _learn(self, rows):
        self.mean_ = float(rows.target.mean())

    def _scores(self, table):
        return self.mean_ + self.slope * table[:, 0]


class Majority(BaselineClassifier):
    """Always the same class."""

    paper_name: ClassVar[str] = "majority"

    def __init__(self, *, scale="standard", categorical="auto", unlabeled="auto"):
        self.scale = scale
        self.categorical = categorical
        self.unlabeled = unlabeled

    def _learn(self, rows):
        self.most_ = int(np.bincount(rows.target).argmax())

    def _scores(self, table):
        scores = np.zeros((len(table), len(self.classes_)))
        scores[:, self.most_] = 1.0
        return scores[:, 1] - 0.5 if len(self.classes_) == 2 else scores


def test_baselines_of_twenty_lines_pass():
    assert len(check_baseline(Mean())) == 14
    assert len(check_baseline(Majority())) == 14


def broken(law, kind=Mean, **body):
    return pytest.param(law, type(kind.__name__, (kind,), body), id=law)


def _random_scores(self, table):
    return STATE.random(len(table))


def _count_marks(self, X, y):
    Mean.fit(self, X, y)
    self.n_labeled_ = len(X)
    return self


def _reads_none(self, X, y):
    if any(mark is None for mark in np.asarray(y, dtype=object)):
        y = np.where(np.equal(np.asarray(y, dtype=object), None), 0.0, y).astype(float)
    return Mean.fit(self, X, y)


class Writing(Mean):
    """Writes to its input."""

    def fit(self, X, y):
        super().fit(X, y)
        if isinstance(X, np.ndarray):
            X[:] = 0.0
        return self


class Forgetful(Mean):
    """Another model after pickling."""

    def __setstate__(self, state):
        vars(self).update(state, slope=9.0)


class Hiding(Mean):
    """Holds what cannot be pickled."""

    def _learn(self, rows):
        super()._learn(rows)
        self.call_ = lambda: None


def _row_dependent(self, table):
    return self.mean_ + table[:, 0] - table[:, 0].mean()


def _selected(self, rows):
    Mean._learn(self, rows)
    self._encoded_weights = np.zeros(rows.table.shape[1])


def _forgets_names(self, X, y):
    return Mean.fit(self, np.asarray(X), y)


def _no_gaps_please(self, rows):
    Mean._learn(self, rows)
    self.mean_ += float("nan") if rows.table.shape[1] != 4 else 0.0


def _needs_hidden(self, rows):
    Mean._learn(self, rows)
    if not rows.unlabeled.size:
        self.n_labeled_ = 0


def _two_only(self, table):
    return np.zeros(len(table)) if len(self.classes_) > 2 else Majority._scores(self, table)


def _answers_nothing(self, X, y):
    try:
        return Mean.fit(self, X, y)
    except InvalidInputError:
        return self


@pytest.mark.parametrize(
    ("law", "kind"),
    [
        broken("facts", paper_name=""),
        broken("facts", grid={"depth": (1, 2)}),
        broken("answers", fit=_count_marks),
        broken("hidden labels", fit=_reads_none),
        broken("same again", _scores=_random_scores),
        broken("inductive", _scores=_row_dependent),
        broken("columns", selects_columns=True, _learn=_selected),
        broken("names", fit=_forgets_names),
        broken("mixed tables", _learn=_no_gaps_please),
        broken("all rows labelled", _learn=_needs_hidden),
        broken("several classes", Majority, _scores=_two_only),
        broken("clear errors", fit=_answers_nothing),
        pytest.param("copies", Forgetful, id="copies"),
        pytest.param("copies", Hiding, id="cannot be pickled"),
        pytest.param("input is left alone", Writing, id="input is left alone"),
    ],
)
def test_a_broken_baseline_is_caught_by_its_law(law, kind):
    with pytest.raises(ConformanceError, match=rf"^{law}: "):
        check_baseline(kind())


def test_a_constructor_that_does_more_than_store_is_caught():
    class Eager(Mean):
        """Learns too early."""

        def __init__(self, *, slope=0.5, scale="standard", categorical="auto", unlabeled="auto"):
            super().__init__(slope=slope, scale=scale, categorical=categorical, unlabeled=unlabeled)
            self.mean_ = 0.0

    with pytest.raises(ConformanceError, match=r"^constructor: .*mean_"):
        check_baseline(Eager())
