"""Loading: files in the documented layout, scikit-learn's sets, generated ones, the registry."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

from s2mam.datasets import info, list_datasets, load, make_moons
from s2mam.datasets.routes import all_routes
from s2mam.exceptions import InvalidInputError, S2MAMError

REAL = Path(os.environ.get("S2MAM_DATA_HOME", "no folder"))


def write(home, name, **arrays):
    folder = home / name
    folder.mkdir()
    np.savez_compressed(folder / "data.npz", **arrays)
    return folder / "data.npz"


@pytest.fixture
def with_checksum(known):
    """Let the registry know a file."""

    def change(name, path):
        known(name, sha256=hashlib.sha256(path.read_bytes()).hexdigest())

    return change


def test_file_in_the_documented_layout(tmp_path, with_checksum):
    path = write(
        tmp_path,
        "parkinsons",
        X=np.array([[1, 2], [3, 4], [5, 6]], dtype=np.int8),
        y=np.array([0, 1, 1], dtype=np.int16),
        feature_names=np.array(["a", "b"]),
        target_name="status",
        class_names=np.array(["healthy", "ill"]),
        groups=np.array([0, 0, 1]),
        row_index=np.arange(3),
    )
    with_checksum("parkinsons", path)
    data = load("parkinsons", tmp_path)
    assert data.X.dtype == np.float64
    assert data.y.tolist() == [0, 1, 1]
    assert data.feature_names == ["a", "b"]
    assert data.class_names == ["healthy", "ill"]
    assert (data.task, data.target_name, data.origin) == ("classification", "status", "file")
    assert data.groups.tolist() == [0, 0, 1]
    assert data.row_index.tolist() == [0, 1, 2]
    assert data.informative is None


def test_home_from_the_environment(tmp_path, monkeypatch):
    write(tmp_path, "mine", X=np.eye(2), y=np.array([0.5, 1.5]))
    monkeypatch.setenv("S2MAM_DATA_HOME", str(tmp_path))
    data = load("mine")
    assert data.task == "regression"
    assert data.feature_names == ["x1", "x2"]
    assert data.class_names is None


def test_own_file_with_text_classes(tmp_path):
    write(tmp_path, "mine", X=np.eye(3), y=np.array(["b", "a", "b"]))
    data = load("mine", tmp_path)
    assert data.y.tolist() == [1, 0, 1]
    assert data.class_names == ["a", "b"]


def test_sensitive_columns_are_left_out_unless_asked_for(tmp_path, with_checksum):
    path = write(
        tmp_path,
        "boston",
        X=np.arange(6.0).reshape(2, 3),
        y=np.ones(2),
        feature_names=["A", "B", "C"],
        feature_group=np.array([0, 1, 2]),
    )
    with_checksum("boston", path)
    assert load("boston", tmp_path).feature_names == ["A", "C"]
    np.testing.assert_array_equal(load("boston", tmp_path).X, [[0, 2], [3, 5]])
    assert load("boston", tmp_path).feature_group.tolist() == [0, 2]
    assert load("boston", tmp_path, sensitive=True).X.shape == (2, 3)


def test_known_informative_columns(tmp_path, with_checksum):
    path = write(
        tmp_path, "waveform5000", X=np.eye(3), y=np.arange(3), feature_names=["x1", "x2", "x22"]
    )
    with_checksum("waveform5000", path)
    assert load("waveform5000", tmp_path).informative.tolist() == [False, True, False]


def test_damaged_files(tmp_path):
    path = write(tmp_path, "boston", X=np.eye(2), y=np.ones(2))
    with pytest.raises(InvalidInputError, match="is not the known file for 'boston'"):
        load("boston", tmp_path)
    own = write(tmp_path, "mine", X=np.eye(2), y=np.ones(3))
    with pytest.raises(InvalidInputError, match="X has 2 rows but y has 3"):
        load("mine", tmp_path)
    own.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InvalidInputError, match="not a readable npz"):
        load("mine", tmp_path)
    write(tmp_path, "half", X=np.eye(2))
    with pytest.raises(InvalidInputError, match="must hold a table"):
        load("half", tmp_path)


def test_pickles_are_refused(tmp_path):
    write(tmp_path, "mine", X=np.eye(2), y=np.array([{}, []], dtype=object))
    with pytest.raises(InvalidInputError, match="not a readable npz"):
        load("mine", tmp_path)


@pytest.mark.parametrize("name", ["breast_cancer", "digits", "diabetes", "wine", "iris"])
def test_sets_of_scikit_learn(name):
    data, facts = load(name), info(name)
    assert data.origin == "scikit-learn"
    assert data.X.shape == (facts.n_rows, facts.n_columns)
    if facts.task == "classification":
        assert len(data.class_names) == facts.n_classes == len(np.unique(data.y))


def test_no_download_when_told_so_or_nowhere_to_go(tmp_path):
    with pytest.raises(S2MAMError, match="'ionosphere' is not on this machine"):
        load("ionosphere", tmp_path, download=False)
    with pytest.raises(S2MAMError, match="'coil20' is not on this machine"):
        load("coil20", tmp_path, download=False)


def test_unknown_name(tmp_path):
    with pytest.raises(InvalidInputError, match="Unknown data set 'nothing'; known are: additive"):
        load("nothing", tmp_path)
    with pytest.raises(InvalidInputError, match="Unknown data set"):
        info("nothing")


@pytest.mark.parametrize("name", [3, None, "", "..", "../data/boston", "boston/", "a\\b", "a\0"])
def test_names_are_no_paths(name, tmp_path):
    write(tmp_path, "boston", X=np.eye(2), y=np.ones(2))
    with pytest.raises(InvalidInputError, match=r"^name=.* must be a name of list_datasets\(\)"):
        load(name, tmp_path / "boston" if name == "../data/boston" else tmp_path)
    with pytest.raises(InvalidInputError, match="Unknown data set"):
        info(name)


def test_sets_without_a_checksum_are_known():
    known = {name: info(name).unverified for name in list_datasets()}
    found = sum(len(sites) for sites in known.values())
    assert found == sum(r.checksum is None for routes in all_routes().values() for r in routes)
    assert known["ionosphere"] == ("uci",)
    assert known["iris"] == known["boston"] == ()


def test_registry_is_complete():
    names = list_datasets()
    assert len(names) == 50
    assert set(list_datasets("regression")) | set(list_datasets("classification")) == set(names)
    for name in names:
        facts = info(name)
        assert facts.source
        assert facts.terms
        assert facts.licence
        assert facts.kind in ("table", "scikit-learn", "generated", "folder")
        assert (facts.n_classes is not None) == (facts.task == "classification")
        assert (facts.openml_id is None) == (facts.openml_name is None)
    with pytest.raises(InvalidInputError, match="task must be"):
        list_datasets("clustering")


def test_sets_of_the_paper():
    numbers = sorted(info(name).paper for name in list_datasets(paper=True))
    assert numbers == list(range(1, 17))


@pytest.mark.parametrize(
    "name", ["friedman", "additive_regression", "additive_classification", "moons"]
)
def test_generated_sets(name, tmp_path):
    data, facts = load(name, tmp_path), info(name)
    assert (data.origin, data.task) == ("generated", facts.task)
    assert data.X.shape == (facts.n_rows, facts.n_columns)
    assert 0 < data.informative.sum() < facts.n_columns
    if facts.task == "classification":
        assert len(data.class_names) == facts.n_classes
    if name == "moons":
        np.testing.assert_array_equal(data.X, make_moons(random_state=0).X)


def test_cache_folder_of_the_user(tmp_path, monkeypatch):
    monkeypatch.delenv("S2MAM_DATA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "s2mam").mkdir()
    write(tmp_path / "s2mam", "mine", X=np.eye(2), y=np.array([0.5, 1.5]))
    assert load("mine").origin == "file"


@pytest.mark.skipif(not REAL.is_dir(), reason="S2MAM_DATA_HOME names no folder")
@pytest.mark.parametrize("name", [n for n in list_datasets() if info(n).sha256])
def test_real_files(name):
    if not (REAL / name / "data.npz").is_file():
        pytest.skip(f"{REAL} has no {name}")
    data, facts = load(name, sensitive=True, download=False), info(name)
    assert data.origin == "file"
    assert data.X.shape == (facts.n_rows, facts.n_columns)
    assert len(data.feature_names) == facts.n_columns
    assert data.target_name == facts.target
    assert data.task == facts.task
    if facts.task == "classification":
        assert len(data.class_names) == facts.n_classes
        np.testing.assert_array_equal(np.unique(data.y), np.arange(facts.n_classes))
