"""OpenML and public copies, from a server on this machine, and what happens without any."""

from __future__ import annotations

import gzip
import io
import json
import urllib.error
import urllib.request
from dataclasses import replace

import numpy as np
import pytest
import scipy.io
from packing import rows

from s2mam.datasets import info, list_datasets, load
from s2mam.datasets.routes import SITES, all_routes
from s2mam.exceptions import InvalidInputError, S2MAMError


def describe(site, dataset, **changes):
    facts = info(dataset)
    about = {
        "name": facts.openml_name,
        "url": f"{site.url}data/{dataset}.arff",
        "default_target_attribute": "class",
        "ignore_attribute": ["id"],
        "row_id_attribute": "row",
        **changes,
    }
    content = json.dumps({"data_set_description": about}).encode()
    site.files[f"openml/{facts.openml_id}"] = content


HEART = b"""@relation heart
@attribute row real
@attribute id {u,v}
@attribute age real
@attribute class {present, absent}
@attribute chest {typical,'not typical'}
@data
1,u,70,present,typical
2,v,60,absent,'not typical'
"""


def test_openml(site, known, tmp_path):
    known("heart_statlog", n_rows=2, n_columns=2)
    describe(site, "heart_statlog")
    site.files["data/heart_statlog.arff"] = HEART
    data = load("heart_statlog", tmp_path, mirrors=site.mirrors)
    assert data.origin == "openml"
    assert data.feature_names == ["age", "chest"]
    np.testing.assert_array_equal(data.X, [[70, 0], [60, 1]])
    assert (data.y.tolist(), data.class_names) == ([1, 0], ["absent", "present"])
    asked = len(site.asked)
    load("heart_statlog", tmp_path, mirrors=site.mirrors)
    assert [path for path, _ in site.asked[asked:]] == ["uci/145/statlog+heart.zip"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "another"}, "data set 53 is 'another', not 'heart-statlog'"),
        ({"default_target_attribute": "class,age"}, "no single target"),
        ({"default_target_attribute": None}, "no single target"),
        ({"md5_checksum": "0" * 32}, "not the known file .md5"),
        ({"url": "file:///etc/hostname"}, "not an http or https address"),
        ({}, "2 rows and 2 columns, not 270 and 13"),
    ],
)
def test_openml_troubles(site, known, tmp_path, changes, message):
    known("heart_statlog")
    describe(site, "heart_statlog", **changes)
    site.files["data/heart_statlog.arff"] = HEART
    with pytest.raises(S2MAMError, match=message):
        load("heart_statlog", tmp_path, mirrors=site.mirrors)


def test_unreadable_description_is_not_kept(site, known, tmp_path):
    known("heart_statlog", n_rows=2, n_columns=2)
    site.files["openml/53"] = b"<html>"
    with pytest.raises(S2MAMError, match="description of data set 53 is unreadable"):
        load("heart_statlog", tmp_path, mirrors=site.mirrors)
    describe(site, "heart_statlog")
    site.files["data/heart_statlog.arff"] = HEART
    assert load("heart_statlog", tmp_path, mirrors=site.mirrors).origin == "openml"


def github(site, name, content):
    route = next(r for r in all_routes()[name] if r.site == "github")
    site.files[f"github/{route.path}"] = content


def matlab(**arrays):
    stream = io.BytesIO()
    scipy.io.savemat(stream, arrays)
    return stream.getvalue()


def test_public_copy_in_matlab_form(site, known, tmp_path):
    known("g50c", n_rows=3)
    content = matlab(
        X=np.ones((3, 50)),
        y=np.array([[1], [-1], [1]]),
        idxLabs=np.array([[1, 2]]),
        idxUnls=np.array([[3]]),
    )
    github(site, "g50c", content)
    data = load("g50c", tmp_path, mirrors=site.mirrors)
    assert (data.origin, data.y.tolist(), data.class_names) == ("github", [1, 0, 1], ["-1", "1"])
    assert data.idx_labeled.tolist() == [[0, 1]]
    assert data.idx_unlabeled.tolist() == [[2]]


def test_pixels_of_a_public_copy_are_named(site, known, tmp_path):
    known("yale_faces", n_rows=2, n_columns=4)
    github(site, "yale_faces", matlab(X=np.eye(2, 4), Y=np.array([[2], [1]])))
    data = load("yale_faces", tmp_path, mirrors=site.mirrors)
    assert data.feature_names == ["pix_c00_r00", "pix_c00_r01", "pix_c01_r00", "pix_c01_r01"]
    github(site, "orl_faces", b"no matlab")
    known("orl_faces")
    with pytest.raises(S2MAMError, match="MATLAB file cannot be read"):
        load("orl_faces", tmp_path, mirrors=site.mirrors)


def test_one_hot_columns(site, known, tmp_path):
    content = b"""@relation autoMpg
@attribute horsepower real
@attribute origin { 1, 3, 2}
@attribute class real
@data
130,1,18
?,2,15
90,3,21
"""
    known("auto_mpg", n_rows=2, n_columns=4)
    github(site, "auto_mpg", content)
    data = load("auto_mpg", tmp_path, mirrors=site.mirrors)
    assert data.feature_names == ["horsepower", "origin=1", "origin=3", "origin=2"]
    np.testing.assert_array_equal(data.X, [[130, 1, 0, 0], [90, 0, 1, 0]])
    assert data.feature_group.tolist() == [0, 1, 1, 1]


def test_columns_with_many_gaps(site, known, tmp_path):
    header = "state,county,community,communityname string,fold,a,b,c,ViolentCrimesPerPop"
    lines = [header, "1,?,?,x,1,1,?,?,0.1", "1,?,?,x,1,3,5,?,0.2", "1,?,?,x,1,?,6,7,0.3"]
    known("communities_crime", n_rows=3, n_columns=2)
    github(site, "communities_crime", "\n".join(lines).encode())
    data = load("communities_crime", tmp_path, mirrors=site.mirrors)
    assert data.feature_names == ["a", "b"]
    np.testing.assert_array_equal(data.X, [[1, 5.5], [3, 5], [2, 6]])


def test_sampled_rows(site, known, tmp_path, monkeypatch):
    known("kin40k", n_rows=5)
    routes = tuple(replace(route, sample=5) for route in all_routes()["kin40k"])
    monkeypatch.setitem(all_routes(), "kin40k", routes)
    github(site, "kin40k", gzip.compress(rows(9, 8, range(9))))
    data = load("kin40k", tmp_path, mirrors=site.mirrors)
    assert data.y.tolist() == data.row_index.tolist() == sorted(set(data.row_index))
    assert len(data.X) == 5


def test_sites_are_tried_in_turn_and_the_trouble_is_one_sentence(site, known, tmp_path):
    known("ionosphere")
    with pytest.raises(S2MAMError) as caught:
        load("ionosphere", tmp_path, mirrors=site.mirrors)
    message = str(caught.value)
    assert [path.split("/")[0] for path, _ in site.asked] == ["uci", "openml", "github"]
    assert message.startswith("The data set 'ionosphere' could not be fetched (uci: ")
    assert "download https://archive.ics.uci.edu/static/public/52/ionosphere.zip" in message
    assert f"put it at {tmp_path / 'downloads/uci/52/ionosphere.zip'}" in message
    assert "S2MAM_DATA_HOME" in message
    assert "\n" not in message


def test_without_a_network_the_sentence_tells_the_reason_once(monkeypatch, tmp_path):
    reason = "Name or service not known"

    def no_network(*arguments, **more):
        raise urllib.error.URLError(OSError(-2, reason))

    monkeypatch.setattr(urllib.request, "urlopen", no_network)
    with pytest.raises(S2MAMError) as caught:
        load("ionosphere", tmp_path)
    message = str(caught.value)
    assert message.startswith(
        "The data set 'ionosphere' could not be fetched (uci, openml, github: no connection, "
        f"{reason}): download https://archive.ics.uci.edu/static/public/52/ionosphere.zip elsewhere"
    )
    assert message.count("https://") == 1


def test_unknown_mirror(tmp_path):
    with pytest.raises(InvalidInputError, match=r"mirrors names \['mars'\]"):
        load("ionosphere", tmp_path, mirrors={"mars": "http://mars/"})
    assert all(address.startswith("https://") for address in SITES.values())


def test_every_table_has_a_route():
    for name in list_datasets():
        facts = info(name)
        if facts.kind == "table":
            assert all_routes()[name]
