"""COIL-20, CelebA and AgeDB on small files in their official layouts."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.datasets import load, load_agedb, load_celeba, load_coil20_images
from s2mam.exceptions import InvalidInputError

Image = pytest.importorskip("PIL.Image")


def picture(path, grey, side=16, mode="L"):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, (side, side), grey if mode == "L" else (grey,) * 3).save(path)


# COIL-20


@pytest.fixture
def coil(tmp_path):
    folder = tmp_path / "coil20_images" / "coil-20-proc"
    for k in (2, 12, 13):
        for view in (0, 1, 10):
            picture(folder / f"obj{k}__{view}.png", 10 * k + view, side=128)
    (folder / "Thumbs.db").write_bytes(b"")
    return folder.parent


def test_coil20(coil):
    data = load_coil20_images(coil, objects=(12, 13))
    assert data.X.shape == (6, 1024)
    np.testing.assert_allclose(data.X[:, 0] * 255, [120, 121, 130, 130, 131, 140], rtol=1e-6)
    assert data.y.tolist() == [0, 0, 0, 1, 1, 1]
    assert data.class_names == ["12", "13"]
    assert data.angle.tolist() == [0, 5, 50, 0, 5, 50]
    assert data.paths[0].name == "obj12__0.png"
    inner = load_coil20_images(coil / "coil-20-proc", size=4)
    assert inner.X.shape == (9, 16)
    assert inner.class_names == ["2", "12", "13"]


def test_coil20_by_name(coil):
    data = load("coil20_images", coil.parent)
    assert (data.origin, data.X.shape, data.task) == ("folder", (9, 1024), "classification")
    assert len(data.feature_names) == 1024


def test_coil20_troubles(coil, tmp_path):
    with pytest.raises(InvalidInputError, match=r"for the objects \[14\]; it has .*columbia"):
        load_coil20_images(coil, objects=(12, 14))
    with pytest.raises(InvalidInputError, match=r"no folder .*none .*columbia"):
        load_coil20_images(tmp_path / "none")
    with pytest.raises(InvalidInputError, match="for the objects asked for"):
        load_coil20_images(tmp_path)


# CelebA


def celeba(folder, images, attributes, lines, count=None):
    for number, line in enumerate(lines):
        picture(folder / images / line.split()[0], 100 * number, mode="RGB")
    text = "\n".join([str(count or len(lines)), "Male Smiling Young ", *lines]) + "\n"
    (folder / attributes).write_text(text)
    return folder


@pytest.fixture
def hq(tmp_path):
    return celeba(
        tmp_path / "celeba" / "CelebAMask-HQ",
        "CelebA-HQ-img",
        "CelebAMask-HQ-attribute-anno.txt",
        ["0.jpg  -1  1 -1", "1.jpg   1 -1 -1", "2.jpg  1  1  1"],
    )


def test_celeba_hq(hq):
    data = load_celeba(hq.parent)
    assert data.X is None
    assert data.y.tolist() == [1, 0, 1]
    assert data.class_names == ["not Smiling", "Smiling"]
    assert data.attribute_names == ["Male", "Smiling", "Young"]
    assert data.attributes.tolist()[2] == [True, True, True]
    assert [path.name for path in data.paths] == ["0.jpg", "1.jpg", "2.jpg"]
    pixels = load_celeba(hq, "Male", size=4, color=True)
    assert pixels.X.shape == (3, 48)
    np.testing.assert_allclose(pixels.X[1] * 255, 100, atol=2)
    assert pixels.y.tolist() == [0, 1, 1]
    by_name = load("celeba", hq.parents[1])
    assert by_name.X.shape == (3, 1024)
    assert isinstance(by_name.X, np.ndarray)


def test_plain_celeba(tmp_path):
    folder = celeba(tmp_path, "img_align_celeba", "list_attr_celeba.txt", ["000001.jpg -1  1 -1"])
    assert load_celeba(folder).y.tolist() == [1]


def test_celeba_troubles(hq, tmp_path):
    with pytest.raises(InvalidInputError, match=r"no attribute 'Hat' .*: Male, Smiling, Young"):
        load_celeba(hq, "Hat")
    (hq / "CelebA-HQ-img" / "1.jpg").unlink()
    with pytest.raises(InvalidInputError, match=r"lacks 1 of 3 images, the first is '1.jpg'"):
        load_celeba(hq)
    with pytest.raises(InvalidInputError, match=r"no file 'CelebAMask.*switchablenorms"):
        load_celeba(tmp_path)
    path = hq / "CelebAMask-HQ-attribute-anno.txt"
    for text, message in [
        ("2\nMale\n0.jpg 1\n", "announces 2 images but lists 1"),
        ("1\nMale\n0.jpg 0\n", "Row 3 of .* 1 values -1 or 1"),
        ("Male\n0.jpg 1\n1.jpg 1\n", "must begin with the number of images"),
    ]:
        path.write_text(text)
        with pytest.raises(InvalidInputError, match=message):
            load_celeba(hq)
    path.write_text("1\nMale\n0.jpg 1\n")
    (hq / "CelebA-HQ-img").rename(hq / "elsewhere")
    with pytest.raises(InvalidInputError, match="no folder CelebA-HQ-img or img_align_celeba"):
        load_celeba(hq, "Male")


# AgeDB


@pytest.fixture
def faces(tmp_path):
    folder = tmp_path / "agedb" / "AgeDB"
    picture(folder / "10_MariaCallas_35_f.jpg", 10)
    picture(folder / "2_MariaCallas_40_f.jpg", 20, side=20)
    picture(folder / "id_1" / "3_Jean_Paul_7_m.JPG", 30)
    return folder


def test_agedb(faces):
    data = load_agedb(faces)
    assert data.y.tolist() == [40, 7, 35]
    assert data.person.tolist() == ["MariaCallas", "Jean_Paul", "MariaCallas"]
    assert data.groups.tolist() == [1, 0, 1]
    assert data.gender.tolist() == ["f", "m", "f"]
    assert data.X is None
    pixels = load_agedb(faces.parent, size=8)
    assert pixels.X.shape == (3, 64)
    np.testing.assert_allclose(pixels.X[[0, 2]][:, 0] * 255, [20, 10], atol=2)
    assert load("agedb", faces.parents[1]).X.shape == (3, 1024)


def test_agedb_troubles(faces, tmp_path):
    picture(faces / "cover.jpg", 0)
    with pytest.raises(InvalidInputError, match=r"cover.jpg is not called <id>_<person>_<age>"):
        load_agedb(faces)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInputError, match=r"no .jpg files .*ibug"):
        load_agedb(tmp_path / "empty")
