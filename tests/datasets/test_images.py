"""Images as rows of a table: exact means, lazy reading, clear errors."""

from __future__ import annotations

import builtins

import numpy as np
import pytest

from s2mam.datasets import ImageTable
from s2mam.datasets.images import pixel_names, read_pixels
from s2mam.exceptions import InvalidInputError, MissingDependencyError

Image = pytest.importorskip("PIL.Image")
RNG = np.random.default_rng(0)


def save(path, side=8, color=False):
    shape = (side, side, 3) if color else (side, side)
    pixels = RNG.integers(0, 256, shape).astype(np.uint8)
    Image.fromarray(pixels).save(path)
    return pixels


def test_shrinking_takes_means_of_blocks(tmp_path):
    pixels = save(tmp_path / "a.png").astype(float)
    expected = pixels.reshape(4, 2, 4, 2).mean(axis=(1, 3)).ravel() / 255
    np.testing.assert_allclose(read_pixels(tmp_path / "a.png", 4), expected, rtol=1e-6)
    np.testing.assert_allclose(read_pixels(tmp_path / "a.png", 8), pixels.ravel() / 255, rtol=1e-6)


def test_colors(tmp_path):
    pixels = save(tmp_path / "a.png", color=True)
    values = read_pixels(tmp_path / "a.png", 8, color=True)
    np.testing.assert_allclose(values, pixels.ravel() / 255, rtol=1e-6)
    assert len(pixel_names(8, True)) == len(values)
    assert pixel_names(2, True)[:4] == [f"pix_r00_c00_{b}" for b in "rgb"] + ["pix_r00_c01_r"]


def test_table_reads_what_is_asked_for(tmp_path):
    paths = [tmp_path / f"{k}.png" for k in range(3)]
    save(paths[0], 4)
    save(paths[2], 4)
    table = ImageTable(paths, 2)  # the second file does not exist
    assert (table.shape, table.ndim, len(table)) == ((3, 4), 2, 3)
    assert table[0].shape == (4,)
    np.testing.assert_array_equal(table[[2, 0]][1], table[0])
    np.testing.assert_array_equal(table[np.array([True, False, True])], table[::2])
    np.testing.assert_array_equal(table[-1], table[2])
    with pytest.raises(InvalidInputError, match=r"1.png is not a readable image"):
        np.asarray(table)
    save(paths[1], 4)
    assert np.asarray(table).shape == (3, 4)
    assert np.asarray(table, dtype=np.float32).dtype == np.float32


def test_refusals(tmp_path, monkeypatch):
    (tmp_path / "a.png").write_bytes(b"text")
    with pytest.raises(InvalidInputError, match="not a readable image"):
        read_pixels(tmp_path / "a.png", 4)
    with pytest.raises(InvalidInputError, match="size must be at least 1, got 0"):
        ImageTable([], 0)

    true_import = builtins.__import__

    def without_pillow(name, *arguments):
        if name == "PIL":
            raise ImportError(name)
        return true_import(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without_pillow)
    with pytest.raises(MissingDependencyError, match=r"s2mam\[images\]"):
        read_pixels(tmp_path / "a.png", 4)
