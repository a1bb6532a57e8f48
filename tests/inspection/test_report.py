"""The report: what is in the file, that it is one file, and that it is whole or not there."""

from __future__ import annotations

import base64
import copy
import gzip
import hashlib
import json
import os
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from s2mam import ManifoldAdditiveClassifier, ManifoldAdditiveRegressor, S2MAMClassifier
from s2mam.exceptions import InvalidInputError, MissingDependencyError
from s2mam.inspection.report import report
from s2mam.inspection.report_parts import page as page_module
from s2mam.inspection.report_parts.markup import percent, short_text

EVIL = "<script>window.hacked=1</script>"
NAMES = [
    EVIL,
    "</script><img src=x onerror='window.hacked=1'>",
    "a \"quoted\" 'name' & more\n$title",
    "long " * 80,
    "مرحبا \u202e температура \ufffe",
]
VOID = {"meta", "link", "img"}


class Outline(HTMLParser):
    """Elements, ids, and text; complains about tags that do not match."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.ids, self.text = [], [], [], []
        self.links, self.labels, self.addresses = [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, name, attributes):
        values = dict(attributes)
        self.tags.append(name)
        if name not in VOID:
            self.open.append(name)
        if "id" in values:
            self.ids.append(values["id"])
        if name == "label":
            self.labels.append(values["for"])
        if values.get("href", "").startswith("#"):
            self.links.append(values["href"][1:])
        self.addresses += [values[key] for key in ("src", "href") if key in values]

    def handle_startendtag(self, name, attributes):
        self.tags.append(name)

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("script", "style"):
            self.text.append(data)


def without_plotly(html):
    bundle = page_module._line_ends(page_module.plotly_bundle())
    assert html.count(page_module._packed(bundle)) == 1
    return html.replace(page_module._packed(bundle), "PLOTLY")


def payload(html):
    found = re.search(r'<script type="application/json" id="report-data">(.*?)</script>', html)
    return json.loads(found.group(1))


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(70, 5)), columns=NAMES)
    X["site"] = rng.choice(["north", EVIL, "</script>"], size=70)
    X.iloc[:6, 0] = np.nan
    labels = np.array(["low", EVIL, "high"], dtype=object)
    y = labels[np.digitize(X[NAMES[1]], [-0.4, 0.4])]
    y[40:] = None
    return X, y


@pytest.fixture(scope="module")
def classes(table, tmp_path_factory):
    X, y = table
    model = S2MAMClassifier(max_iter=3, random_state=0).fit(X, y)
    path = tmp_path_factory.mktemp("report") / "classes.html"
    report(model, X, y, path, n_resamples=2, folds=2, title=EVIL, model_path="my <model>.s2mam")
    return model, without_plotly(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = 2.0 * X[:, 0] + 0.1 * rng.normal(size=50)
    y[30:] = np.nan
    return ManifoldAdditiveRegressor(sparsity=0.01, manifold=0.1).fit(X, y), X, y


def write(tmp_path, model, X, y, **options):
    path = report(model, X, y, tmp_path / "a.html", **{"n_resamples": 0, "folds": 0, **options})
    return without_plotly(path.read_text(encoding="utf-8"))


def test_the_page_is_well_formed(classes):
    outline = Outline(classes[1])
    assert len(outline.ids) == len(set(outline.ids))
    assert set(outline.links) <= set(outline.ids)
    assert set(outline.labels) == {"component", "class"}
    for landmark in ("header", "nav", "main", "footer"):
        assert outline.tags.count(landmark) == 1
    assert outline.tags.count("h1") == 1
    assert outline.tags.count("section") == outline.tags.count("h2") == 9


def test_nothing_is_loaded_from_elsewhere(classes):
    outline = Outline(classes[1])
    assert all(address.startswith(("#", "data:")) for address in outline.addresses)
    assert not re.search(r"url\(|@import", classes[1])


def test_hostile_names_are_text(classes):
    html = classes[1]
    outline = Outline(html)
    assert outline.tags.count("script") == 3
    assert "img" not in outline.tags
    assert EVIL not in html
    text = "".join(outline.text)
    assert text.count(EVIL) > 5
    assert "</script><img src=x onerror='window.hacked=1'>" in text
    # The name holds a placeholder of the template, and it stays what it is.
    assert "a \"quoted\" 'name' & more $title" in text


def test_data_of_the_pictures(classes):
    model, html = classes
    data = payload(html)
    assert data["classes"] == [short_text(label) for label in model.classes_]
    first = data["curves"][0]
    assert np.shape(first["values"]) == (3, len(first["grid"]))
    assert np.all(np.array(first["low"]) <= np.array(first["high"]))
    kept = [curve["column"] for curve in data["curves"]]
    assert set(np.flatnonzero(model.support_)) <= set(kept)
    assert data["points"] is None


def test_only_the_two_scripts_may_run(classes):
    html = classes[1]
    policy = re.search(r'Security-Policy" content="([^"]*)"', html).group(1)
    assert "default-src 'none'" in policy
    bundle = page_module._line_ends(page_module.plotly_bundle())
    script = html.rsplit("<script>", 1)[1].split("</script>")[0]
    for source in (bundle, script):
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        assert f"sha256-{digest}" in policy
    assert "unsafe" not in policy.split("script-src")[1].split(";")[0]


def test_the_file_can_be_mailed(numbers, tmp_path):
    model, X, y = numbers
    path = report(model, X, y, tmp_path / "a.html", n_resamples=0, folds=0)
    packed = re.search(r'id="plotly-packed">([^<]*)<', path.read_text(encoding="utf-8")).group(1)
    source = gzip.decompress(base64.b64decode(packed)).decode("utf-8")
    assert source == page_module._line_ends(page_module.plotly_bundle())
    assert path.stat().st_size < 0.5 * len(source.encode())


def test_words_of_the_page(classes):
    text = " ".join("".join(Outline(classes[1]).text).split())
    assert "70 rows, 40 of them labelled, and 6 columns" in text
    assert "2 folds over the 40 labelled rows" in text
    assert "most frequent class" in text
    assert "labelled rows only" in text
    assert "s2mam.load('my <model>.s2mam')" in text
    assert "random_state" in text
    assert "missing (6 rows)" in text


def test_numbers(numbers, tmp_path):
    model, X, y = numbers
    html = write(tmp_path, model, X, y, n_resamples=2, folds=3, feature_names=["a", "b", "c"])
    data = payload(html)
    assert len(data["points"]["truth"]) == 30
    assert data["classes"] == [""]
    assert "a" in data["columns"]["short"]
    assert 'id="class"' not in html
    assert "root mean squared error" in html


def test_columns_that_were_not_kept_are_not_passed_over(numbers, tmp_path):
    model, X, y = numbers
    assert "of the effects; the rest comes" not in write(tmp_path, model, X, y)
    model = copy.deepcopy(model)
    sizes = model.contributions(X).std(axis=0)
    assert sizes.argmax() == 0
    model.support_ = np.array([False, True, True])
    html = write(tmp_path, model, X, y)
    share = percent(sizes[1:].sum() / sizes.sum())
    assert f"They carry {share} of the effects; the rest comes lightly" in html


def test_rows_stay_out_on_demand(numbers, tmp_path):
    model, X, y = numbers
    data = payload(write(tmp_path, model, X, y, folds=3, show_rows=False))
    assert data["points"] is None
    assert all("marks" not in curve for curve in data["curves"])
    shown = payload(write(tmp_path, model, X, y, folds=3))
    assert shown["curves"][0]["marks"]


def test_test_rows(numbers, tmp_path):
    model, X, y = numbers
    html = write(tmp_path, model, X, y, test=(X[:9] + 0.01, y[:9]))
    assert "9 labelled rows of a test table" in html


def test_without_refits(numbers, tmp_path):
    model, X, y = numbers
    steps = []
    html = write(tmp_path, model, X, y, progress=steps.append)
    assert (steps[0], steps[-1][:7]) == ("reading the table", "writing")
    assert payload(html)["curves"][0]["low"] is None
    assert "kept in refits" not in html
    assert "folds=0" in html


def test_the_plain_model_and_unequal_tables(table, tmp_path):
    X, y = table
    model = ManifoldAdditiveClassifier(sparsity=0.05, manifold=0.1).fit(X, y)
    html = write(tmp_path, model, X.iloc[:60], y[:60], n_resamples=2)
    assert "Not the table of the fit" in html


def test_columns_that_say_nothing(tmp_path):
    """A selected column may hold one value, or none at all."""
    X = np.column_stack([np.full(20, 3.0), np.full(20, np.nan)])
    y = np.where(np.arange(20) < 10, np.arange(20.0), np.nan)
    model = ManifoldAdditiveRegressor(sparsity=0.01, manifold=0.1).fit(X, y)
    model.support_ = np.ones(2, dtype=bool)
    html = write(tmp_path, model, X, y, n_resamples=2, folds=2)
    assert "No value is known." in html
    assert "nothing but missing values" in html
    assert "No better than the null model" in html


def test_warnings_of_the_refits_are_told_not_raised(numbers, tmp_path):
    model, X, y = numbers
    few = np.where(np.arange(50) < 3, y, np.nan)
    html = write(tmp_path, model, X, few, folds=5)
    assert "5 splits reduced to 3" in html


def test_same_input_same_file(numbers, tmp_path):
    model, X, y = numbers
    pages = [write(tmp_path, model, X, y, n_resamples=2, folds=2) for _ in range(2)]
    assert len({re.sub(r"on \d{4}-[\d: -]+", "", html) for html in pages}) == 1


def test_the_model_is_not_changed(numbers, tmp_path):
    model, X, y = numbers
    before = model.predict(X).tolist(), dict(model.get_params())
    write(tmp_path, model, X, y, n_resamples=2, folds=2)
    assert before == (model.predict(X).tolist(), model.get_params())


def test_a_failure_leaves_the_old_file(numbers, tmp_path, monkeypatch):
    model, X, y = numbers
    path = tmp_path / "a.html"
    path.write_text("old", encoding="utf-8")

    real = os.fdopen

    def fdopen(*args, **kwargs):
        stream = real(*args, **kwargs)
        stream.write(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("s2mam.persistence.atomic.os.fdopen", fdopen)
    with pytest.raises(OSError, match="No space"):
        report(model, X, y, path, n_resamples=0, folds=0)
    assert path.read_text(encoding="utf-8") == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.html"]


def test_plotly_is_asked_for_before_any_work(numbers, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 's2mam\[report\]'"):
        report(numbers[0], None, None, tmp_path / "a.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 1}, "n_resamples=1"),
        ({"folds": 1}, "folds=1"),
        ({"level": 1.0}, "level=1.0"),
    ],
)
def test_bad_options_are_named(numbers, tmp_path, options, message):
    with pytest.raises(InvalidInputError, match=message):
        report(*numbers, tmp_path / "a.html", **options)


def test_bad_places_and_tables_are_named(numbers, tmp_path):
    with pytest.raises(InvalidInputError, match="is a folder"):
        report(*numbers, tmp_path)
    with pytest.raises(InvalidInputError, match="no folder"):
        report(*numbers, tmp_path / "absent" / "a.html")
    model, X, y = numbers
    with pytest.raises(InvalidInputError, match="2 columns, but the model was fitted to 3"):
        report(model, X[:, :2], y, tmp_path / "a.html")
