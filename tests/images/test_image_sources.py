"""What can be read as images."""

from __future__ import annotations

import os

import numpy as np
import pytest

from s2mam.datasets import ImageTable
from s2mam.exceptions import InvalidInputError
from s2mam.images.sources import image_files, open_images

SETTINGS = {"shape": None, "size": 4, "color": False}


@pytest.fixture
def folder(tmp_path):
    image = pytest.importorskip("PIL.Image")
    for k, name in enumerate(["b/2.png", "a/1.png", "c.PNG"]):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        image.fromarray(np.full((8, 8), 51 * k, dtype=np.uint8)).save(tmp_path / name)
    (tmp_path / "notes.txt").write_text("no image")
    return tmp_path


def test_a_folder_is_its_files_by_name(folder):
    assert [path.name for path in image_files(folder)] == ["1.png", "2.png", "c.PNG"]
    source = open_images(folder, **SETTINGS)
    assert len(source) == 3
    images = source.read(0, 3)
    assert images.shape == (3, 4, 4, 1)
    np.testing.assert_allclose(images[:, 0, 0, 0], [0.2, 0.0, 0.4])


def test_files_and_lazy_tables_are_the_same_images(folder):
    paths = image_files(folder)
    expected = open_images(folder, **SETTINGS).read(0, 3)
    assert np.array_equal(open_images(paths, **SETTINGS).read(0, 3), expected)
    table = ImageTable(paths, 4)
    assert np.array_equal(open_images(table, **SETTINGS).read(0, 3), expected)
    assert open_images(paths, shape=None, size=4, color=True).read(1, 2).shape == (1, 4, 4, 3)


def test_bytes_and_rows_of_pixels():
    array = np.arange(2 * 12, dtype=np.uint8).reshape(2, 12)
    source = open_images(array, shape=(3, 4), size=9, color=False)
    np.testing.assert_allclose(source.read(1, 2)[0, 2, 3, 0], 23 / 255)
    assert open_images(array, shape=(2, 2, 3), size=9, color=False).read(0, 1).shape == (1, 2, 2, 3)


def test_fingerprints_follow_the_images(folder):
    array = np.zeros((2, 3, 3))
    other = array.copy()
    other[1, 1, 1] = 1.0
    marks = {open_images(one, **SETTINGS).fingerprint() for one in (array, other, array.copy())}
    assert len(marks) == 2
    before = open_images(folder, **SETTINGS).fingerprint()
    os.utime(folder / "c.PNG", (1, 1))
    assert open_images(folder, **SETTINGS).fingerprint() != before


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.zeros((2, 7)), "shape="),
        (np.zeros((2, 3, 3, 1, 1)), "5 dimensions"),
        (np.zeros((0, 3, 3)), "no images"),
        (np.full((1, 3, 3), np.nan), "missing or infinite"),
        (np.array([["x"]]), "cannot be read"),
        ("/no/such/folder", "no folder"),
    ],
)
def test_what_is_no_image_is_refused(bad, message):
    with pytest.raises(InvalidInputError, match=message):
        open_images(bad, **SETTINGS)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="no image below"):
        open_images(tmp_path, **SETTINGS)


@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.float32, np.float64])
def test_numbers_to_255_are_the_same_images_as_bytes(kind):
    pixels = np.random.default_rng(0).integers(0, 256, size=(3, 4, 4))
    found = open_images(pixels.astype(kind), **SETTINGS).read(0, 3)
    np.testing.assert_allclose(found[..., 0], pixels / 255.0, rtol=1e-6)


def test_pixels_outside_of_black_and_white_are_an_error():
    for pixels in (np.full((2, 4, 4), -0.1), np.full((2, 4, 4), 256.0)):
        with pytest.raises(InvalidInputError, match="Pixels go from"):
            open_images(pixels, **SETTINGS)
    with pytest.raises(InvalidInputError, match="white is 1 here"):
        open_images(np.full((2, 4, 4), 7.0), **SETTINGS, white=1.0)
