from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from experiment_systems import friedman, moons
from PIL import Image
from sklearn.utils import Bunch

import s2mam.datasets
from s2mam.exceptions import InvalidInputError, S2MAMError, S2MAMWarning
from s2mam.experiments import Corruption, Labels, Protocol, Rows, Setting, Source
from s2mam.experiments.problem import _load, check_sources, draw_problem, draw_seeds
from s2mam.experiments.restricted import stand_in
from s2mam.experiments.studies import make_protocol, shorten

SEEDS = draw_seeds(0, 0)


@pytest.fixture(autouse=True)
def _no_kept_sets(monkeypatch):
    monkeypatch.delenv("S2MAM_DATA_HOME", raising=False)
    _load.cache_clear()
    yield
    _load.cache_clear()


def write_set(folder, name, **arrays):
    (folder / name).mkdir(parents=True)
    np.savez(folder / name / "data.npz", **arrays)


def test_the_text_of_table2_gives_five_labels_and_a_hundred_columns():
    setting = make_protocol("table2").settings[0]
    labels = []
    for repeat in range(20):
        problem = draw_problem(setting, draw_seeds(0, repeat))
        assert problem.X.shape == problem.X_test.shape == (100, 100)
        assert problem.informative.sum() == 2
        labels.append(int((~problem.hidden).sum()))
    assert set(labels) <= {4, 5, 6}
    assert np.median(labels) == 5


def test_corruption_adds_columns_and_leaves_the_rest_alone():
    clean = draw_problem(moons(), SEEDS)
    noisy = draw_problem(moons(n_noisy=3), SEEDS)
    np.testing.assert_array_equal(noisy.X[:, :2], clean.X)
    np.testing.assert_array_equal(noisy.y, clean.y)
    assert noisy.informative.tolist() == [True, True, False, False, False]
    assert noisy.mask_known
    assert abs(noisy.X[:, 2:].mean() - 100) < 40


def test_repeats_differ_and_seeds_repeat():
    first, second = (draw_problem(friedman(), draw_seeds(0, k)) for k in (0, 1))
    assert not np.array_equal(first.X, second.X)
    again = draw_problem(friedman(), draw_seeds(0, 1))
    np.testing.assert_array_equal(second.y, again.y)
    assert (~first.hidden).sum() == 12
    np.testing.assert_array_equal(first.y[~first.hidden], first.truth[~first.hidden])


def test_a_set_from_a_file_is_split_with_class_shares(tmp_path):
    y = np.repeat([0, 1], [90, 30])
    X = np.arange(240.0).reshape(120, 2)
    write_set(tmp_path, "mine", X=X, y=y)
    setting = Setting(
        "mine",
        "classification",
        Source("dataset", "mine"),
        Rows(0.5, 0.5, max_train=40, max_test=20),
        Labels(per_class=2),
    )
    problem = draw_problem(setting, SEEDS, tmp_path)
    assert problem.truth.tolist().count(1) == 10
    assert problem.y_test.size == 20
    assert not set(problem.X[:, 0]) & set(problem.X_test[:, 0])
    assert problem.informative is None
    noisy = draw_problem(replace(setting, corruption=Corruption(0, 1)), SEEDS, tmp_path)
    assert noisy.informative.tolist() == [True, True, False]
    assert not noisy.mask_known


def test_chosen_classes_get_codes_of_their_own(tmp_path):
    y = np.tile([0, 1, 2], 20)
    X = np.column_stack([y, np.arange(60)]).astype(float)
    write_set(tmp_path, "mine", X=X, y=y, class_names=np.array(["a", "b", "c"]))
    source = Source("dataset", "mine", classes=("a", "c"))
    setting = Setting("mine", "classification", source, Rows(0.5, 0.5), Labels(per_class=3))
    problem = draw_problem(setting, SEEDS, tmp_path)
    np.testing.assert_array_equal(problem.truth, problem.X[:, 0] / 2)
    absent = replace(setting, source=replace(source, classes=("d",)))
    with pytest.raises(InvalidInputError, match="no rows of the classes d"):
        draw_problem(absent, SEEDS, tmp_path)


def test_rows_that_belong_together_stay_together(tmp_path):
    groups = np.repeat(np.arange(20), 5)
    X = groups[:, None] + np.zeros((100, 2))
    write_set(tmp_path, "mine", X=X, y=groups * 1.5, groups=groups)
    setting = Setting(
        "mine",
        "regression",
        Source("dataset", "mine"),
        Rows(0.5, 0.5, max_test=20),
        Labels(n_labeled=5),
        metric="mse",
    )
    problem = draw_problem(setting, SEEDS, tmp_path)
    assert len(problem.X) == 50
    assert len(problem.X_test) == 20
    assert not set(problem.X[:, 0]) & set(problem.X_test[:, 0])


def test_one_of_several_targets(tmp_path, monkeypatch):
    y = np.column_stack([np.arange(30.0), -np.arange(30.0)])
    y[3, 1] = np.nan
    data = Bunch(X=np.zeros((30, 2)), y=y, target_names=["Fluency", "ADAS"])
    monkeypatch.setattr(s2mam.datasets, "load_adni", lambda folder: data, raising=False)
    (tmp_path / "adni").mkdir()
    setting = make_protocol("adni").settings[-1]
    assert setting.source.target == "ADAS"
    problem = draw_problem(setting, SEEDS, tmp_path)
    assert problem.truth.max() <= 0
    assert len(problem.truth) + len(problem.y_test) in (28, 29)
    with pytest.raises(InvalidInputError, match="no target 'MMSE'; it has Fluency, ADAS"):
        draw_problem(
            replace(setting, source=replace(setting.source, target="MMSE")), SEEDS, tmp_path
        )


@pytest.mark.parametrize("name", ["adni", "celeba", "agedb"])
def test_restricted_data_say_what_to_put_where(name, tmp_path):
    with pytest.raises(S2MAMError) as caught:
        check_sources(make_protocol(name), tmp_path)
    message = str(caught.value)
    assert f"into {tmp_path / name} and pass --data-home" in message
    assert len(message.splitlines()) == 1


def test_pictures_without_features_say_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(
        s2mam.datasets, "load_agedb", lambda folder, size: Bunch(X=None, y=[1.0]), raising=False
    )
    (tmp_path / "agedb").mkdir()
    with pytest.raises(S2MAMError, match=r"need features first.*data\.npz"):
        check_sources(make_protocol("agedb"), tmp_path)


def test_features_in_a_file_go_before_pictures(tmp_path):
    write_set(tmp_path, "agedb", X=np.zeros((4, 2)), y=np.arange(4.0), groups=np.arange(4))
    check_sources(make_protocol("agedb"), tmp_path)


def test_faces_without_persons_are_refused(tmp_path):
    write_set(tmp_path, "agedb", X=np.zeros((4, 2)), y=np.arange(4.0))
    with pytest.raises(S2MAMError, match="no array 'groups': add the person of each row"):
        check_sources(make_protocol("agedb"), tmp_path)


def test_scores_in_a_file_go_by_their_names(tmp_path):
    y = np.column_stack([np.arange(40.0), -np.arange(40.0)])
    names = np.array(["Fluency", "ADAS"])
    write_set(tmp_path, "adni", X=np.zeros((40, 2)), y=y, target_names=names)
    check_sources(make_protocol("adni"), tmp_path)
    problem = draw_problem(make_protocol("adni").settings[-1], SEEDS, tmp_path)
    assert problem.truth.max() <= 0


def test_one_score_in_a_file_is_named_or_refused(tmp_path):
    X, y = np.zeros((40, 2)), np.arange(40.0)
    write_set(tmp_path / "named", "adni", X=X, y=y, target_name="ADAS")
    study = shorten(make_protocol("adni"), settings="ADAS*")
    check_sources(study, tmp_path / "named")
    assert len(draw_problem(study.settings[0], SEEDS, tmp_path / "named").truth) == 20
    write_set(tmp_path / "nameless", "adni", X=X, y=y)
    for folder, has in (("named", "ADAS"), ("nameless", "y")):
        with pytest.raises(InvalidInputError, match=f"no target 'Fluency'; it has {has}. In a"):
            check_sources(make_protocol("adni"), tmp_path / folder)


def test_pictures_stand_in_for_the_table_of_coil20(tmp_path):
    folder = tmp_path / "coil20_images" / "coil-20-proc"
    folder.mkdir(parents=True)
    for number in (12, 13):
        for view in range(20):
            shade = Image.new("L", (128, 128), 10 * (number - 10) + view)
            shade.save(folder / f"obj{number}__{view}.png")
    study = shorten(make_protocol("coil20"), settings="objects*")
    with pytest.warns(S2MAMWarning, match="no coil20/data.npz, so the pictures in coil20_images"):
        check_sources(study, tmp_path)
    problem = draw_problem(study.settings[0], SEEDS, tmp_path)
    assert problem.X.shape == (20, 1024)
    assert sorted(set(problem.truth)) == [0, 1]
    write_set(tmp_path, "coil20", X=np.zeros((8, 3)), y=np.tile([0, 1], 4))
    assert stand_in("coil20", tmp_path) == "coil20"


def test_generators_need_numbers_of_rows():
    with pytest.raises(InvalidInputError, match="numbers of rows, not shares"):
        draw_problem(replace(moons(), rows=Rows(0.5, 0.5)), SEEDS)
    with pytest.raises(InvalidInputError, match="no generator 'load'"):
        draw_problem(replace(moons(), source=Source("generator", "load")), SEEDS)


def test_a_missing_set_is_found_before_any_work(tmp_path):
    setting = replace(moons(), source=Source("dataset", "nowhere"))
    with pytest.raises(InvalidInputError, match="nowhere"):
        check_sources(Protocol("try", "A try", (setting,), ("null",)), tmp_path)
