"""Checks of the fault table: bad and strange input to the estimators."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from fault_registry import fault, refuses
from scipy import sparse
from sklearn.model_selection import cross_val_score
from trust_children import scratch
from trust_models import NETWORKS, OURS, assert_finite, decide, make, table

from s2mam.exceptions import DegenerateGraphWarning, InvalidInputError, NoLabelsError, S2MAMWarning
from s2mam.model_selection import SemiSupervisedKFold, labeled_scorer

BOTH = ("ours", "baselines")
REGRESSION = "regression"


def frame(task, **options):
    X, full, y = table(task, **options)
    return pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])]), full, y


@fault("NaN or inf in X", *BOTH)
def infinite_and_missing_values(name, task):
    X, _, y = frame(task)
    bad = X.copy()
    bad.loc[3, "column 2"] = np.inf
    refuses(InvalidInputError, "'column 2'", "row 3", call=lambda: make(name, task).fit(bad, y))
    X.loc[5, "column 1"] = np.nan
    model = make(name, task).fit(X, y)
    assert_finite(model, X)
    refuses(InvalidInputError, "'column 2'", "row 3", call=lambda: model.predict(bad))


@fault("inf in y, NaN in y (regression)", *BOTH)
def infinite_target(name, task):
    X, full, y = table(task)
    labeled = np.flatnonzero(y == full)
    bad = y.astype(float)
    bad[labeled[2]] = np.inf
    refuses(
        InvalidInputError,
        "infinity",
        f"row {labeled[2]}",
        call=lambda: make(name, task).fit(X, bad),
    )
    marked = np.where(y == full, full.astype(float), np.nan)
    assert make(name, task).fit(X, marked).n_labeled_ == 20


@fault("labels {-1, 1} with marker -1", *BOTH)
def minus_one_as_a_class(name, task):
    if task == REGRESSION:
        return
    X, full, _ = table(task)
    signs = 2 * full - 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if name in OURS:
            assert (make(name, task).fit(X, signs).predict(X) == 1).all()
        else:
            refuses(
                InvalidInputError, "one class only (1)", call=lambda: make(name, task).fit(X, signs)
            )
    told = [str(one.message) for one in caught if one.category is S2MAMWarning]
    assert len(told) == 1, told
    assert "only one class left" in told[0]
    assert "unlabeled=None" in told[0]
    model = make(name, task, unlabeled=None).fit(X, signs)
    np.testing.assert_array_equal(model.classes_, [-1, 1])


@fault("strings/objects/pandas NA/None markers", *BOTH)
def markers(name, task):
    X, full, y = table(task)
    known = y == full
    if task == REGRESSION:
        plain = make(name, task).fit(X, y).predict(X)
        for missing in (None, pd.NA):
            marked = np.array(
                [v if k else missing for v, k in zip(full, known, strict=True)], object
            )
            np.testing.assert_array_equal(make(name, task).fit(X, marked).predict(X), plain)
        return
    texts = np.where(full == 1, "yes", "no")
    found = []
    for missing in (None, float("nan"), pd.NA):
        marked = np.array([t if k else missing for t, k in zip(texts, known, strict=True)], object)
        model = make(name, task).fit(X, marked)
        assert list(model.classes_) == ["no", "yes"]
        assert set(model.predict(X)) <= {"no", "yes"}
        found.append(decide(model, X))
    text_marked = np.where(known, texts, "?")
    model = make(name, task, unlabeled="?").fit(X, pd.Series(text_marked))
    found.append(decide(model, X))
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


@fault("none labelled", *BOTH)
def no_labels(name, task):
    X, _, y = table(task)
    for nothing in (np.full(len(y), np.nan), np.array([None] * len(y), object)):
        refuses(NoLabelsError, "36 rows", call=lambda y=nothing: make(name, task).fit(X, y))


@fault("all labelled", *BOTH)
def all_labels(name, task):
    X, full, _ = table(task)
    model = make(name, task).fit(X, full)
    assert_finite(model, X)
    supervised = make(name, task, unlabeled=None).fit(X, full)
    np.testing.assert_array_equal(decide(model, X), decide(supervised, X))


@fault("one label per class; one class only", *BOTH)
def hardly_any_label(name, task):
    X, full, y = table(task)
    few = np.full(len(y), np.nan)
    for side in (full <= 0, full > 0):
        few[np.flatnonzero(side)[0]] = full[side][0]
    assert_finite(make(name, task).fit(X, few), X)
    if task == REGRESSION:
        same = np.where(np.isnan(y), np.nan, 2.5)
        model = make(name, task).fit(X, same)
        if (name, task) in NETWORKS:  # their output layer has to learn what a constant is
            assert_finite(model, X)
        else:
            np.testing.assert_allclose(model.predict(X), 2.5, atol=1e-6)
        return
    only = np.where(y == full, "only", None)
    if name in OURS:
        model = make(name, task).fit(X, only)
        assert (model.predict(X) == "only").all()
        assert (model.predict_proba(X) == 1.0).all()
    else:
        refuses(
            InvalidInputError, "at least two classes", call=lambda: make(name, task).fit(X, only)
        )


@fault("graph component without any label", *BOTH)
def island(name, task):
    X, _, y = table(task)
    X[-6:] += 1e4
    y[-6:] = np.nan if task == REGRESSION else -1
    assert_finite(make(name, task).fit(X, y), X)


@fault("query far from all training rows", *BOTH)
def far_query(name, task):
    X, _, y = table(task)
    model = make(name, task).fit(X, y)
    for far in (X + 1e6, X - 1e12):
        assert_finite(model, far)
    if name == "posterior":
        # Values far outside are clipped, so that curves do not run away.
        np.testing.assert_array_equal(decide(model, X + 1e6), decide(model, X + 1e9))


@fault("constant column; all columns constant", *BOTH)
def constant_columns(name, task):
    X, _, y = table(task)
    X[:, 2] = 3.0
    model = make(name, task).fit(X, y)
    assert_finite(model, X)
    if name in OURS:
        other = X.copy()
        other[:, 2] = 99.0
        assert not model.contributions(other)[:, 2].any()
        if name != "paper":  # to the letter, a constant kernel is as good as any
            assert model.mask_probabilities_[2] == 0.0
        np.testing.assert_array_equal(decide(model, other), decide(model, X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateGraphWarning)  # the paper has its own bandwidth
        assert_finite(make(name, task).fit(np.ones_like(X), y), np.ones_like(X))


@fault("duplicated rows, duplicated columns", *BOTH)
def duplicates(name, task):
    X, full, y = table(task, n=24, n_labeled=14)
    twice = np.vstack([np.hstack([X, X])] * 2)
    target = np.concatenate([y, y])
    one, two = (make(name, task).fit(twice, target) for _ in range(2))
    assert_finite(one, twice)
    np.testing.assert_array_equal(decide(one, twice), decide(two, twice))
    if name in OURS:
        labeled = np.flatnonzero(y == full)
        again = make(name, task).fit(np.vstack([X, X[labeled]]), np.concatenate([y, y[labeled]]))
        heavy = make(name, task).fit(X, y, sample_weight=np.where(y == full, 2.0, 1.0))
        np.testing.assert_allclose(decide(again, X), decide(heavy, X), atol=1e-8)


@fault("huge-scale columns N(100,100), 1e12, 1e-12", *BOTH)
def scales(name, task):
    X, _, y = table(task)
    unit, shift = np.array([1e12, 1e-12, 100.0, 1.0]), np.array([0.0, 0.0, 100.0, 0.0])
    one = decide(make(name, task).fit(X, y), X)
    two = decide(make(name, task).fit(X * unit + shift, y), X * unit + shift)
    np.testing.assert_allclose(two, one, atol=1e-5 * np.abs(one).max())


@fault("single heavy outlier row", *BOTH)
def outlier(name, task):
    X, _, y = table(task)
    X[5] = [1e9, -1e9, 1e9, 1e6]
    model = make(name, task).fit(X, y)
    assert_finite(model, X)


@fault("bandwidth extremes (W = I or W = 1)", "ours")
def bandwidths(name, task):
    X, _, y = table(task)
    # A sparse graph of equal weights still says who is near, and is no degenerate one.
    for mu, graph in ((1e-9, "dense"), (1e9, "dense"), (1e-9, "neighbors")):
        if name == "paper" and graph != "dense":
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = make(name, task, bandwidth=mu, graph=graph, manifold=0.1).fit(X, y)
        told = [str(w.message) for w in caught if w.category is DegenerateGraphWarning]
        assert len(told) == 1, (mu, graph, told)
        assert f"bandwidth={mu:.3g}" in told[0]
        assert 'bandwidth="auto"' in told[0]
        assert {w.filename for w in caught} == {__file__}, "it should point at the user's line"
        assert_finite(model, X)


@fault("bandwidth extremes (W = I or W = 1)", "baselines")
def widths(name, task):
    known = make(name, task).get_params()
    width = "graph_width" if "graph_width" in known else "width"
    if "graph" not in known or width not in known:
        return  # no graph whose width a user could choose
    X, _, y = table(task)
    for value in (1e-9, 1e9):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = make(name, task, graph="rbf", **{width: value}).fit(X, y)
        told = [str(w.message) for w in caught if w.category is DegenerateGraphWarning]
        assert len(told) == 1, (value, told)
        assert f"{width}={value:.3g}" in told[0]
        assert f"{width}='median'" in told[0]
        assert {w.filename for w in caught} == {__file__}, "it should point at the user's line"
        assert_finite(model, X)


def _refuses_budgets(name, task, X, y):
    for bad in (0, -1, 1.5, "many", True, None):
        refuses(
            InvalidInputError,
            f"n_features_to_select={bad!r}",
            call=lambda bad=bad: make(name, task, n_features_to_select=bad).fit(X, y),
        )


@fault("C = 0, C >= p, non-integer C, C > informative", "ours")
def budgets(name, task):
    if name == "base":
        return
    X, _, y = table(task)
    _refuses_budgets(name, task, X, y)
    model = make(name, task, n_features_to_select=3).fit(X, y)
    assert model.support_.sum() <= 3
    assert_finite(model, X)
    if name == "posterior":
        whole = make(name, task, n_features_to_select=99).fit(X, y)
        assert whole.support_.all()


@fault("C = 0, C >= p, non-integer C, C > informative", "baselines")
def budgets_of_baselines(name, task):
    if "n_features_to_select" not in make(name, task).get_params():
        return
    X, _, y = table(task)
    _refuses_budgets(name, task, X, y)
    # More than the two columns that count, and more than there are.
    for size in (3, 99):
        model = make(name, task, n_features_to_select=size).fit(X, y)
        assert model.get_support().sum() <= size
        assert_finite(model, X)


@fault("float32, int, bool, F-order, strided, read-only memmap", *BOTH)
def memory_layouts(name, task):
    X, _, y = table(task)
    small = X.astype(np.float32)
    plain = decide(make(name, task).fit(small.astype(np.float64), y), X)
    scale = max(1.0, np.abs(plain).max())
    fortran = np.asfortranarray(small)
    strided = np.repeat(small, 2, axis=0)[::2]
    path = scratch(f"{name}-{task}.npy")
    np.save(path, small)
    mapped = np.load(path, mmap_mode="r")
    assert isinstance(mapped, np.memmap)
    for given in (small, fortran, strided, mapped):
        given.flags.writeable = False
        before = given.copy()
        found = decide(make(name, task).fit(given, y), X)
        np.testing.assert_allclose(found, plain, atol=1e-4 * scale)
        np.testing.assert_array_equal(given, before)
    for other in ((10 * X).astype(np.int64), X > 0):
        assert_finite(make(name, task).fit(other, y), other)


@fault("sparse X", *BOTH)
def sparse_table(name, task):
    X, _, y = table(task)
    accepted = make(name, task).__sklearn_tags__().input_tags.sparse
    assert accepted == (name in OURS)
    plain = decide(make(name, task).fit(X, y), X)
    for kind in (sparse.csr_matrix, sparse.csc_array):
        if accepted:
            found = decide(make(name, task).fit(kind(X), y), kind(X))
            np.testing.assert_allclose(found, plain, atol=1e-9)
        else:
            fit = make(name, task).fit
            refuses(TypeError, "parse", ".toarray()", call=lambda kind=kind, f=fit: f(kind(X), y))


@fault("DataFrame columns reordered or renamed at predict", *BOTH)
def names(name, task):
    X, _, y = frame(task)
    model = make(name, task).fit(X, y)
    order = X[["column 1", "column 0", "column 2", "column 3"]]
    refuses(ValueError, "feature names", "order", call=lambda: model.predict(order))
    renamed = X.rename(columns={"column 3": "other"})
    refuses(ValueError, "feature names", "other", "column 3", call=lambda: model.predict(renamed))
    refuses(ValueError, "column 0", call=lambda: model.predict(X.drop(columns="column 0")))


@fault("sample_weight zeros, all zeros, negative, on unlabelled rows", "ours")
def weights(name, task):
    X, full, y = table(task)
    labeled = y == full
    for bad, words in (
        (np.zeros(36), "zero on all labelled rows"),
        (-np.ones(36), "negative"),
        (np.full(36, np.nan), "NaN or infinite"),
    ):
        refuses(
            InvalidInputError,
            "sample_weight",
            words,
            call=lambda bad=bad: make(name, task).fit(X, y, sample_weight=bad),
        )
    weight = np.where(labeled, 1.0, 7.0)
    dropped = np.flatnonzero(labeled)[::4]
    weight[dropped] = 0.0
    one = make(name, task).fit(X, y, sample_weight=weight)
    weight[~labeled] = 0.001
    two = make(name, task).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(decide(one, X), decide(two, X))
    kept = np.delete(np.arange(36), dropped)
    absent = make(name, task).fit(X[kept], y[kept])
    np.testing.assert_allclose(decide(one, X), decide(absent, X), atol=1e-7)


@fault("class unseen in a fold, rare class with 1 label", *BOTH)
def rare_class(name, task):
    if task == REGRESSION:
        return
    X, _, y = table(task, classes=3)
    rare = np.flatnonzero(y == 2)
    y[rare[1:]] = -1
    model = make(name, task).fit(X, y)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    assert decide(model, X).shape == (36, 3)
    assert_finite(model, X)


@fault("class unseen in a fold, rare class with 1 label", "package")
def unseen_class(tmp_path):
    X, _, y = table("classification", classes=3)
    y[np.flatnonzero(y == 2)[1:]] = -1
    folds = SemiSupervisedKFold(4, shuffle=True, random_state=0)
    without = [train for train, _ in folds.split(X, y) if 2 not in y[train]]
    assert len(without) == 1
    for name in (*OURS, "LapRLS", "LapSVM"):
        model = make(name, "classification")
        scores = cross_val_score(model, X, y, cv=folds, scoring=labeled_scorer("accuracy"))
        assert np.isfinite(scores).all(), name
        model.fit(X[without[0]], y[without[0]])
        np.testing.assert_array_equal(model.classes_, [0, 1])
        assert_finite(model, X)
