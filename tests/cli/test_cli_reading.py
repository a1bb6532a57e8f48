"""Tables of all kinds, as people have them."""

from __future__ import annotations

import builtins
import gzip
import io
import sys

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2mam.cli.console import Console
from s2mam.cli.reading import TableOptions, read_table
from s2mam.cli.text import guess_delimiter, unique_names
from s2mam.exceptions import InvalidInputError, MissingDependencyError

TABLE = pd.DataFrame({"größe": [1.5, -2.0, None], "kind": ["a", "b, c", None], "n": [1, 2, 3]})


def read(path, console=None, *, options=None, **known):
    return read_table(path, Console(quiet=True) if console is None else console, options, **known)


def same(frame: pd.DataFrame) -> bool:
    pd.testing.assert_frame_equal(frame, TABLE, check_dtype=False)
    return True


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_encoding_and_delimiter_are_seen(tmp_path, encoding, separator):
    path = tmp_path / "t.csv"
    TABLE.to_csv(path, index=False, sep=separator, encoding=encoding)
    assert same(read(path))


def test_other_encodings_are_named(tmp_path):
    path = tmp_path / "t.csv"
    TABLE.rename(columns={"größe": "g"}).assign(kind=["a", "ß", None]).to_csv(
        path, index=False, encoding="latin-1"
    )
    with pytest.raises(InvalidInputError, match=r"t\.csv, line 3: the byte 0xdf is not UTF-8"):
        read(path)
    assert read(path, options=TableOptions("latin-1"))["kind"].tolist()[1] == "ß"
    with pytest.raises(InvalidInputError, match="--encoding klingon is unknown"):
        read(path, options=TableOptions("klingon"))


def test_gzip_by_content_and_standard_input(tmp_path, monkeypatch):
    text = TABLE.to_csv(index=False).encode()
    path = tmp_path / "t.csv"
    path.write_bytes(gzip.compress(text))
    assert same(read(path))
    path.write_bytes(gzip.compress(text)[:-9])
    with pytest.raises(InvalidInputError, match="damaged gzip"):
        read(path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert same(read(type(path)("-")))


def test_parquet_without_pyarrow(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame(TABLE.astype(object).where(TABLE.notna(), None).to_dict("list")).write_parquet(
        path
    )
    assert same(read(path))
    path.write_bytes(b"PAR1 no more")
    with pytest.raises(InvalidInputError, match="as a parquet file"):
        read(path)


@pytest.mark.parametrize(
    ("name", "package"), [("t.xlsx", "openpyxl"), ("t.ods", "odfpy"), ("t.xls", "xlrd")]
)
def test_the_package_of_a_spreadsheet_is_named(tmp_path, monkeypatch, name, package):
    real = builtins.__import__

    def without(module, *rest, **more):
        if module.split(".")[0] in ("openpyxl", "xlrd", "odf"):
            raise ImportError(module)
        return real(module, *rest, **more)

    path = tmp_path / name
    # The magic bytes of the old format, or a zip with the parts that pandas looks for.
    path.write_bytes(_spreadsheet(name))
    monkeypatch.setattr(builtins, "__import__", without)
    for module in ("openpyxl", "xlrd", "odf"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError, match=f"pip install {package}"):
        read(path)


def _spreadsheet(name: str) -> bytes:
    import zipfile

    if name.endswith(".xls"):
        return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("xl/workbook.xml" if name.endswith(".xlsx") else "content.xml", "")
    return stream.getvalue()


def test_excel(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "t.xlsx"
    TABLE.to_excel(path, index=False)
    assert same(read(path))


def test_decimal_commas(tmp_path):
    path = tmp_path / "t.csv"
    TABLE.to_csv(path, index=False, sep=";", decimal=",")
    assert same(read(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n1,2,3\n", "Expected 2 fields in line 3, saw 3"),
        ("a,b\n1,2,3\n1,2,3\n", "more cells than its first line has names"),
        ('a,b\n1,"2\n', "EOF inside string"),
        ("a,b\n1,\x00\n", "not a text table"),
    ],
)
def test_bad_text_is_refused_in_a_sentence(tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(InvalidInputError, match=message):
        read(path)


def test_marks_of_missing_numbers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c,d\n1,1,x,?\n?,oops,1,?\n3,3,y,b\n4,4,z,c\n5,5,z,c\n6,6,z,c\n")
    console = Console(quiet=True)
    frame = read(path, console)
    assert frame["a"].tolist()[2:] == [3.0, 4.0, 5.0, 6.0]
    assert frame["a"].isna().sum() == 1
    assert console.notes == ["Read '?' as missing in a, d."]
    assert "column 'b' holds numbers but for 'oops' (1 cells)" in console.warned[0]
    assert frame["d"].isna().tolist()[:3] == [True, True, False]
    frame = read(path, options=TableOptions(missing=("oops",)))
    assert frame["b"].isna().sum() == 1
    assert frame["b"].dtype.kind == "f"


def test_columns_of_a_model_keep_their_type(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("code,number\n1,?\n2,?\n")
    frame = read(path, text={"code"}, numeric={"number"})
    assert frame["code"].tolist() == ["1", "2"]
    assert frame["number"].isna().all()
    assert frame["number"].dtype.kind == "f"


def test_none_is_a_class_but_not_a_value(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\nNone,None\n1,mild\n,NA\n")
    frame = read(path, target="y")
    assert frame["y"].tolist()[:2] == ["None", "mild"]
    assert frame["y"].isna().tolist() == [False, False, True]
    assert frame["a"].isna().tolist() == [True, False, True]


def test_names_are_never_empty_nor_twice(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",a,a, b\n1,2,3,4\n")
    console = Console(quiet=True)
    assert list(read(path, console).columns) == ["column 1", "a", "a.1", "b"]
    assert "'a.1'" in console.notes[0]


@settings(deadline=None, max_examples=50)
@given(st.lists(st.sampled_from(["", "a", "a.1", "b", "column 1", " "]), max_size=8))
def test_unique_names_are_unique_and_keep_the_first(names):
    unique = unique_names(names)
    assert len(set(unique)) == len(unique) == len(names)
    assert all(name.strip() for name in unique)
    firsts = {name: names.index(name) for name in names if name.strip()}
    assert all(unique[place] == name for name, place in firsts.items() if name != "column 1")


@settings(deadline=None, max_examples=50)
@given(
    st.sampled_from([",", ";", "\t", "|"]),
    st.lists(
        st.tuples(st.text("abc,;| ", min_size=1), st.integers(), st.floats(-9, 9)),
        min_size=1,
        max_size=6,
    ),
)
def test_the_delimiter_of_any_written_table_is_found(sign, rows):
    text = pd.DataFrame(rows, columns=["p", "q", "r"]).to_csv(sep=sign, index=False)
    assert guess_delimiter(text) == sign


def test_a_sheet_can_be_named(tmp_path):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"words": ["read me"]}).to_excel(book, sheet_name="about", index=False)
        TABLE.to_excel(book, sheet_name="rows", index=False)
    console = Console(quiet=True)
    assert list(read(path, console)) == ["words"]
    assert console.notes == [f"{path} has 2 sheets; read 'about' (--sheet for another)."]
    assert same(read(path, options=TableOptions(sheet="rows")))
    with pytest.raises(InvalidInputError, match="has no sheet 'row'; did you mean 'rows'"):
        read(path, options=TableOptions(sheet="row"))


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "xlsx"])
def test_names_are_the_same_from_all_kinds_of_files(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    table = pd.DataFrame({" age": [1], "size ": [2], "a\nb": [3], "": [4], "x": [5]})
    if ending == "parquet":
        table.to_parquet(path)
    elif ending == "xlsx":
        table.to_excel(path, index=False)
    else:
        table.to_csv(path, index=False, sep="," if ending == "csv" else "\t")
    assert list(read(path)) == ["age", "size", "a\nb", "column 4", "x"]
