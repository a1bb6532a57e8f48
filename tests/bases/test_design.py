"""The design: exact kernels, exact evaluation, missing values, state, invariances, bad input."""

from __future__ import annotations

import json

import numpy as np
import pytest

from s2mam.bases import Design, build_design, kernel_matrix
from s2mam.exceptions import InvalidInputError

KERNELS = ["gaussian", "matern32", "matern52", "laplacian"]


def centred(matrix):
    return matrix - matrix.mean(0) - matrix.mean(1)[:, None] + matrix.mean()


def mixed_table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    Z = np.column_stack(
        [
            rng.normal(size=n),
            rng.integers(0, 4, n),
            np.full(n, 7.0),
            rng.random(n) < 0.2,
            rng.random(n),
        ]
    ).astype(float)
    Z[3, 0] = Z[5, 1] = Z[[1, 2, 9], 4] = np.nan
    return Z, ("numeric", "categorical", "constant", "numeric", "numeric")


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("linear", [0.0, 0.3])
def test_products_of_features_are_the_kernel(kernel, center, linear):
    Z = np.random.default_rng(0).normal(size=(50, 3))
    lengths = np.array([0.5, 1.0, 3.0])
    design = build_design(
        Z, ("numeric",) * 3, kernel=kernel, length=lengths, linear=linear, center=center
    )
    for j in range(3):
        exact = kernel_matrix(Z[:, j], Z[:, j], kernel=kernel, length=lengths[j], linear=linear)
        exact = centred(exact) if center else exact
        block = design.features[:, design.block(j)]
        error = np.linalg.norm(exact - block @ block.T, "nuc")
        assert error <= 1e-6 * 50
        assert np.trace(exact) - design.spectra[design.block(j)].sum() <= 1e-6 * 50
        gram = block.T @ block
        np.testing.assert_allclose(gram, np.diag(design.spectra[design.block(j)]), atol=1e-9)
        assert (np.diff(design.spectra[design.block(j)]) <= 0).all()


def test_residuals_bound_what_is_left_out():
    Z = np.random.default_rng(1).normal(size=(300, 2))
    design = build_design(Z, ("numeric",) * 2, kernel="laplacian", max_rank=10)
    np.testing.assert_array_equal(design.ranks, 10)
    for j in range(2):
        exact = centred(kernel_matrix(Z[:, j], Z[:, j], kernel="laplacian"))
        lost = (np.trace(exact) - design.spectra[design.block(j)].sum()) / 300
        assert 1e-3 < lost <= design.residuals[j] + 1e-12


def test_paper_parametrisation_has_the_same_functions_and_norms():
    x = np.random.default_rng(2).normal(size=30)
    design = build_design(x[:, None], ("numeric",), center=False, tolerance=1e-12)
    exact = kernel_matrix(x, x)
    a = np.random.default_rng(3).normal(size=design.spectra.size)
    alpha = (design.features / np.sqrt(design.spectra)) @ a
    np.testing.assert_allclose(
        exact @ alpha, (design.features * np.sqrt(design.spectra)) @ a, atol=1e-9
    )
    assert np.linalg.norm(alpha) == pytest.approx(np.linalg.norm(a))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("center", [True, False])
def test_evaluate_is_the_nystrom_formula(kernel, center):
    rng = np.random.default_rng(4)
    x, new = rng.normal(size=80), 2 * rng.normal(size=25)
    design = build_design(
        x[:, None], ("numeric",), kernel=kernel, center=center, tolerance=1e-6, max_rank=None
    )
    pivots = design.pivots_of(0)
    old_rows, new_rows = (kernel_matrix(v, pivots, kernel=kernel) for v in (x, new))
    if center:
        old_rows, new_rows = old_rows - old_rows.mean(0), new_rows - old_rows.mean(0)
    exact = new_rows @ np.linalg.solve(kernel_matrix(pivots, pivots, kernel=kernel), old_rows.T)
    found = design.evaluate(new[:, None]) @ design.features.T
    np.testing.assert_allclose(found, exact, atol=2e-3)  # the dropped directions: sqrt(tolerance)
    sharp = build_design(
        x[:, None], ("numeric",), kernel=kernel, center=center, tolerance=1e-10, max_rank=None
    )
    truth = kernel_matrix(new, x, kernel=kernel)
    if center:
        train = kernel_matrix(x, x, kernel=kernel)
        truth = truth - truth.mean(1)[:, None] - train.mean(0) + train.mean()
    inside = np.abs(new) < np.abs(x).max()
    found = sharp.evaluate(new[:, None]) @ sharp.features.T
    np.testing.assert_allclose(found[inside], truth[inside], atol=2e-5)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("linear", [0.0, 0.5])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-10])
def test_evaluate_reproduces_the_training_rows(kernel, linear, tolerance):
    Z, kinds = mixed_table()
    design = build_design(Z, kinds, kernel=kernel, linear=linear, tolerance=tolerance)
    np.testing.assert_allclose(design.evaluate(Z), design.features, atol=1e-8)


def test_evaluate_in_many_chunks_equals_evaluate_at_once(monkeypatch):
    Z, kinds = mixed_table(200)
    design = build_design(Z, kinds)
    whole = design.evaluate(Z)
    monkeypatch.setattr("s2mam.bases.design._CHUNK", 900)
    monkeypatch.setattr("s2mam.bases.design._ROWS", 37)
    np.testing.assert_allclose(design.evaluate(Z), whole, atol=1e-13)


def test_evaluate_of_some_columns_reads_only_those():
    Z, kinds = mixed_table()
    design = build_design(Z, kinds)
    whole = design.evaluate(Z)
    expected = np.hstack([whole[:, design.block(4)], whole[:, design.block(1)]])
    Z[:, [0, 2, 3]] = np.inf
    np.testing.assert_array_equal(design.evaluate(Z, columns=[4, 1]), expected)
    by_mask = design.evaluate(Z, columns=np.array([False, True, False, False, True]))
    np.testing.assert_array_equal(by_mask[:, : design.ranks[1]], whole[:, design.block(1)])
    assert design.evaluate(Z, columns=[]).shape == (60, 0)


def test_missing_values_are_zero_and_the_rest_is_as_if_they_were_absent():
    x = np.random.default_rng(5).normal(size=40)
    gaps = np.arange(40) % 7 == 3
    holed = np.where(gaps, np.nan, x)
    design = build_design(holed[:, None], ("numeric",), linear=0.2)
    alone = build_design(x[~gaps, None], ("numeric",), linear=0.2)
    np.testing.assert_array_equal(design.features[gaps], 0.0)
    np.testing.assert_allclose(design.features[~gaps], alone.features, atol=1e-12)
    np.testing.assert_allclose(design.features.sum(axis=0), 0.0, atol=1e-10)
    np.testing.assert_array_equal(design.evaluate([[np.nan]]), 0.0)


def test_constant_columns_have_no_features_unless_the_literal_model_is_asked_for():
    Z = np.full((12, 2), 3.0)
    kinds = ("numeric", "constant")
    np.testing.assert_array_equal(build_design(Z, kinds).ranks, 0)
    literal = build_design(Z, kinds, center=False)
    np.testing.assert_array_equal(literal.ranks, [1, 0])
    np.testing.assert_allclose(literal.features, 1.0)
    np.testing.assert_array_equal(build_design(np.full((4, 1), np.nan), ("numeric",)).ranks, 0)
    assert build_design([[1.0]], ("numeric",)).features.shape == (1, 0)


def test_equal_values_get_equal_features_and_two_values_rank_one():
    Z = (np.arange(50) % 2).astype(float)[:, None]
    design = build_design(Z, ("numeric",), length="auto")
    assert design.ranks[0] == 1
    assert np.unique(design.features).size == 2


def test_column_order_permutes_blocks_and_row_order_permutes_rows():
    Z, kinds = mixed_table(100)
    design = build_design(Z, kinds, length="auto")
    columns = np.array([3, 4, 0, 2, 1])
    shuffled = build_design(Z[:, columns], [kinds[j] for j in columns], length="auto")
    for at, j in enumerate(columns):
        np.testing.assert_array_equal(
            shuffled.features[:, shuffled.block(at)], design.features[:, design.block(j)]
        )
    rows = np.random.default_rng(6).permutation(100)
    np.testing.assert_allclose(
        build_design(Z[rows], kinds, length="auto").features, design.features[rows], atol=1e-12
    )


def test_state_survives_json_and_arrays_bit_for_bit(tmp_path):
    Z, kinds = mixed_table()
    design = build_design(Z, kinds, kernel="matern52", length="auto", linear=0.1)
    state = design.to_state()
    arrays = {k: v for k, v in state.items() if isinstance(v, np.ndarray)}
    scalars = {k: v for k, v in state.items() if k not in arrays}
    np.savez(tmp_path / "design.npz", **arrays)
    with np.load(tmp_path / "design.npz", allow_pickle=False) as stored:
        restored = Design.from_state({**json.loads(json.dumps(scalars)), **stored})
    new = np.random.default_rng(7).normal(size=(30, 5))
    np.testing.assert_array_equal(restored.evaluate(new), design.evaluate(new))
    np.testing.assert_array_equal(restored.spectra, design.spectra)
    assert restored.kinds == design.kinds
    assert restored.features.shape == (0, design.features.shape[1])


def test_extreme_values_stay_finite():
    rng = np.random.default_rng(8)
    Z = rng.normal(size=(60, 4))
    Z[0, 0], Z[:, 1], Z[:, 2] = 1e12, 1e-12 * Z[:, 1], 1e12 * Z[:, 2]
    for length in (1.0, "auto"):
        design = build_design(Z, ("numeric",) * 4, length=length, linear=0.1)
        assert np.isfinite(design.features).all()
        assert np.isfinite(design.evaluate(1e3 * Z)).all()


@pytest.mark.parametrize("outlier", [1e4, 1e8, 1e12])
def test_an_outlier_in_the_linear_kernel_does_not_drown_the_other_rows(outlier):
    x = np.random.default_rng(9).normal(size=50)
    x[0] = outlier
    design = build_design(x[:, None], ("numeric",), linear=0.1, center=False)
    rest = design.features[1:]
    exact = kernel_matrix(x[1:], x[1:], linear=0.1)
    np.testing.assert_allclose(rest @ rest.T, exact, atol=1e-4)
    np.testing.assert_allclose(design.evaluate(x[1:, None]), rest, atol=1e-8)


def test_input_is_not_written_to_and_any_layout_is_accepted():
    Z, kinds = mixed_table()
    expected = build_design(Z, kinds).features
    frozen = np.asfortranarray(Z)
    frozen.setflags(write=False)
    np.testing.assert_array_equal(build_design(frozen, kinds).features, expected)
    single = build_design(Z.astype(np.float32), kinds)
    assert single.features.dtype == np.float64


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernel": "cubic"}, "kernel='cubic'"),
        ({"length": 0.0}, "length must be positive"),
        ({"length": np.ones(2)}, r"length has shape \(2,\)"),
        ({"length": "median"}, "length='median'"),
        ({"linear": -1.0}, "linear=-1.0"),
        ({"tolerance": 0.0}, "tolerance=0.0"),
        ({"max_rank": 0}, "max_rank=0"),
        ({"kinds": ("numeric", "text", "numeric")}, r"kinds\[1\]='text'"),
        ({"kinds": ("numeric",)}, "1 columns are needed"),
        ({"kinds": ()}, "kinds is empty"),
        ({"Z": np.array([[0.0, 1.0, np.inf]])}, "Column 2 of Z"),
        ({"Z": np.empty((0, 3))}, "no rows"),
    ],
)
def test_bad_input_is_refused_with_its_name(change, message):
    arguments = {"Z": np.zeros((4, 3)), "kinds": ("numeric",) * 3} | change
    with pytest.raises(InvalidInputError, match=message):
        build_design(**arguments)
