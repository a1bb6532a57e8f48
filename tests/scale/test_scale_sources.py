"""Sources: the same rows from arrays, maps, files and functions, again and again."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.exceptions import InvalidInputError
from s2mam.scale import ArraySource, IteratorSource, is_streamed, open_rows, scale_options
from s2mam.scale.tables import join

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    table = pandas.DataFrame(
        {
            "a": rng.normal(size=100),
            "b": rng.integers(0, 9, 100),
            "word": rng.choice(["x", "y"], 100),
            "y": np.where(rng.random(100) < 0.5, rng.normal(size=100), np.nan),
        }
    )
    table.loc[5, "a"] = np.nan
    return table


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    place = tmp_path_factory.mktemp("rows")
    np.save(place / "rows.npy", frame[["a", "b"]].to_numpy())
    frame.to_parquet(place / "rows.parquet", row_group_size=16)
    frame.to_csv(place / "rows.csv", index=False)
    frame.to_csv(place / "rows.tsv", index=False, sep="\t")
    (place / "parts").mkdir()
    frame[:40].to_parquet(place / "parts" / "0.parquet", row_group_size=16)
    frame[40:].to_parquet(place / "parts" / "1.parquet", row_group_size=16)
    return place


def collected(source):
    blocks = list(source.blocks())
    starts = [block.start for block in blocks]
    assert starts == np.cumsum([0, *(block.n_rows for block in blocks)])[:-1].tolist()
    target = np.concatenate([block.target for block in blocks])
    return join([block.table for block in blocks]), target, len(blocks)


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv", "rows.tsv", "parts"])
def test_files_give_the_table(name, frame, folder):
    with scale_options(block_rows=32):
        source = open_rows(folder / name, "y")
        for _ in range(2):
            table, target, count = collected(source)
            assert count >= 3
    assert source.names == ["a", "b", "word"]
    np.testing.assert_array_equal(target, frame["y"])
    np.testing.assert_array_equal(np.asarray(table["a"]), frame["a"])
    np.testing.assert_array_equal(np.asarray(table["b"], dtype=float), frame["b"])
    assert np.asarray(table["word"]).tolist() == frame["word"].tolist()


def test_labels_may_be_an_array_beside_a_file(frame, folder):
    with scale_options(block_rows=32):
        source = open_rows(folder / "rows.parquet", frame["y"].to_numpy())
        _, target, _ = collected(source)
    np.testing.assert_array_equal(target, frame["y"])
    assert source.names[-1] == "y"


@pytest.mark.parametrize("kind", ["path", "map", "array", "frame", "function"])
def test_numbers_are_the_same_from_everywhere(kind, frame, folder):
    X, y = frame[["a", "b"]].to_numpy(), frame["y"].to_numpy()
    given = {
        "path": folder / "rows.npy",
        "map": np.load(folder / "rows.npy", mmap_mode="r"),
        "array": X,
        "frame": frame[["a", "b"]],
    }
    with scale_options(block_rows=32):
        if kind == "function":
            source = IteratorSource(
                lambda: ((X[at : at + 32], y[at : at + 32]) for at in range(0, 100, 32))
            )
        else:
            source = open_rows(given[kind], y)
            assert source.n_rows == 100
    for _ in range(2):
        table, target, count = collected(source)
        assert count == 4
        np.testing.assert_array_equal(np.asarray(table), X)
        np.testing.assert_array_equal(target, y)


def test_a_private_map_keeps_its_changes(folder):
    table = np.load(folder / "rows.npy", mmap_mode="c")
    table[3] = -1.0
    with scale_options(block_rows=32):
        first = next(iter(ArraySource(table).blocks())).table
        again = next(iter(ArraySource(table).blocks())).table
    np.testing.assert_array_equal(first[3], [-1.0, -1.0])
    np.testing.assert_array_equal(again[3], [-1.0, -1.0])


def test_frames_may_hold_their_labels(frame):
    source = open_rows(frame, "y", "b")
    assert source.names == ["a", "word"]
    block = next(iter(source.blocks()))
    np.testing.assert_array_equal(block.target, frame["y"])
    np.testing.assert_array_equal(block.weights, frame["b"])


def test_what_is_streamed(frame, folder):
    assert is_streamed(folder / "rows.csv")
    assert is_streamed("anything")
    assert is_streamed(IteratorSource(lambda: [np.zeros((2, 2))]))
    assert not is_streamed(frame)
    assert not is_streamed([[1.0]] * 100)
    with scale_options(stream_rows=99):
        assert is_streamed(frame)
        assert is_streamed(frame[["a"]].to_numpy())
        assert not is_streamed(frame[:99])


def test_whole_numbers_may_turn_to_fractions_further_down(tmp_path):
    lines = ["n,word,y"] + [f"{k},t,{k}" for k in range(5)] + ["0.5,t,1"]
    (tmp_path / "late.csv").write_text("\n".join(lines))
    table, _, _ = collected(open_rows(tmp_path / "late.csv", "y"))
    np.testing.assert_array_equal(np.asarray(table["n"]), [0, 1, 2, 3, 4, 0.5])


def test_text_further_down_is_an_error_that_says_where(tmp_path, monkeypatch):
    monkeypatch.setattr("s2mam.scale.files._CSV_BYTES", 200)
    lines = ["n,y", *(f"{k}.5,1" for k in range(60)), "oops,1"]
    (tmp_path / "late.csv").write_text("\n".join(lines))
    with pytest.raises(InvalidInputError, match=r"late.csv.*after row \d+.*oops"):
        list(open_rows(tmp_path / "late.csv", "y").blocks())


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ("missing.parquet", "y", "no file"),
        ("rows.csv", "price", "no column 'price'"),
        ("rows.npy", "y", "no names"),
        ("rows.npy", [1.0], "y has 1 rows but X has 100"),
        ("rows.parquet", [1.0], "y has 1 rows but X has 100"),
    ],
)
def test_errors_name_what_is_wrong(X, y, message, folder):
    with pytest.raises(InvalidInputError, match=message):
        open_rows(folder / X, y)


def test_an_iterator_is_not_a_source(tmp_path):
    with pytest.raises(InvalidInputError, match="once only"):
        IteratorSource(iter([np.zeros((2, 2))]))
    with pytest.raises(InvalidInputError, match="no block"):
        IteratorSource(list)
    with pytest.raises(InvalidInputError, match="brings its labels"):
        open_rows(ArraySource(np.zeros((2, 2))), [1, 2])
    (tmp_path / "rows.xyz").write_text("")
    with pytest.raises(InvalidInputError, match="unknown ending"):
        open_rows(tmp_path / "rows.xyz")
    np.save(tmp_path / "flat.npy", np.zeros(3))
    with pytest.raises(InvalidInputError, match=r"shape \(3,\)"):
        open_rows(tmp_path / "flat.npy")


def test_options_are_checked():
    with pytest.raises(InvalidInputError, match="no 'rows'"), scale_options(rows=3):
        pass
    with pytest.raises(InvalidInputError, match="block_rows=0"), scale_options(block_rows=0):
        pass
