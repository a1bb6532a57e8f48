"""Members that are straight lines: of few columns, and through values that are far out."""

import numpy as np
import pytest

from s2mam import S2MAMClassifier, S2MAMRegressor
from s2mam.bilevel.views import CLIP, build_far_view
from s2mam.estimators.far_values import squeeze
from s2mam.intake import TableReader


def _heavy(n, p=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(1.5, size=(n, p))
    return X, X[:, 0] - X[:, 1]


def _few_labels(X, y, n_labeled):
    shown = np.full(len(X), np.nan)
    shown[:n_labeled] = y[:n_labeled]
    return shown


def test_a_far_view_holds_lines_and_nothing_else():
    X, _ = _heavy(80)
    reader = TableReader(scale="robust")
    far, table = squeeze(reader, reader.fit_transform(X))
    assert np.abs(table).max() == pytest.approx(CLIP)
    view = build_far_view(table, far.kinds_)
    # Every straight part is the column itself, up to its mean and its spread.
    for j in range(X.shape[1]):
        assert np.corrcoef(view.atoms.straight[:, j], X[:, j])[0, 1] > 1 - 1e-9
        assert view.atoms.straight[:, j].std() == pytest.approx(1.0, rel=1e-2)
    assert np.abs(view.atoms.curved).max() < 0.2 * np.abs(view.atoms.straight).max()


def test_ordinary_columns_need_no_far_view():
    X = np.random.default_rng(1).normal(size=(400, 30))
    reader = TableReader(scale="robust")
    assert squeeze(reader, reader.fit_transform(X)) is None


def test_categories_and_missing_values_are_left_as_they_are():
    pd = pytest.importorskip("pandas")
    X, _ = _heavy(60, p=2)
    X[3, 0] = np.nan
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": list("xyz") * 20})
    reader = TableReader(scale="robust")
    table = reader.fit_transform(frame)
    far, squeezed = squeeze(reader, table)
    np.testing.assert_array_equal(squeezed[:, 2], table[:, 2])
    np.testing.assert_allclose(far.transform(frame), squeezed, rtol=1e-12)
    assert np.isnan(squeezed[3, 0])


def test_the_signal_in_the_tails_is_learned():
    """Clipped at four spreads, half of the variance of these columns is gone."""
    X, y = _heavy(400)
    model = S2MAMRegressor(random_state=0).fit(X[:200], _few_labels(X[:200], y[:200], 60))
    inside = np.abs(X[200:]).max(axis=1) < np.abs(X[:200]).max()
    clipped = np.clip(X[200:, 0], -4, 4) - np.clip(X[200:, 1], -4, 4)
    error = np.mean((model.predict(X[200:]) - y[200:])[inside] ** 2)
    assert error < 0.3 * np.mean((clipped - y[200:])[inside] ** 2)
    assert model.chosen_["member_weights"]["lines"] > 0.5


def test_a_value_further_out_than_all_rows_counts_as_the_furthest():
    X, y = _heavy(200)
    model = S2MAMRegressor(random_state=0).fit(X, _few_labels(X, y, 60))
    furthest, beyond = np.zeros((1, X.shape[1])), np.zeros((1, X.shape[1]))
    furthest[0, 0], beyond[0, 0] = np.abs(X[:, 0]).max(), 1e9
    signed = np.sign(X[np.abs(X[:, 0]).argmax(), 0])
    np.testing.assert_allclose(model.predict(signed * furthest), model.predict(signed * beyond))


def test_the_parts_still_add_up_and_a_file_keeps_them(tmp_path):
    import s2mam

    X, y = _heavy(150)
    model = S2MAMRegressor(random_state=0).fit(X, _few_labels(X, y, 40))
    total = model.contributions(X).sum(axis=1) + model.intercept_
    np.testing.assert_allclose(total, model.predict(X), atol=1e-10 * np.abs(total).max())
    model.save(tmp_path / "model.s2mam")
    np.testing.assert_array_equal(s2mam.load(tmp_path / "model.s2mam").predict(X), model.predict(X))


def test_few_lines_among_many_columns_are_found_with_thirty_labels():
    errors = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(400, 60))
        y = X[:, :4] @ [1.0, -1.0, 0.8, 0.6] + 0.3 * rng.normal(size=400)
        model = S2MAMRegressor(random_state=0).fit(X[:200], _few_labels(X[:200], y[:200], 30))
        errors.append(np.mean((model.predict(X[200:]) - y[200:]) ** 2) / y[200:].var())
    assert np.mean(errors) < 0.4


def test_classes_have_no_such_members():
    X, y = _heavy(120)
    shown = np.where(np.arange(120) < 40, (y > 0).astype(int), -1)
    model = S2MAMClassifier(random_state=0).fit(X, shown)
    assert "lines" not in model.chosen_["member_weights"]
