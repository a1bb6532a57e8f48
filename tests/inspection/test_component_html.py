"""The piece of HTML for notebooks."""

from __future__ import annotations

import re
import warnings
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import s2mam
from s2mam import S2MAMRegressor
from s2mam.exceptions import InvalidInputError
from s2mam.inspection import component_curves, component_html
from s2mam.inspection.learned import learned_curves


class Balance(HTMLParser):
    """Counts open tags."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_names_are_escaped_and_tags_closed(patients):
    text = component_html(patients.model)
    assert "<mg>" not in text
    assert "dose &lt;mg&gt;" in text
    assert "script" not in text
    assert "http" not in text
    balance = Balance()
    balance.feed(text)
    assert balance.open == []
    for label in patients.model.classes_:
        assert f"{label}</span>" in text


def test_lines_follow_the_curves(numbers):
    curves = learned_curves(numbers.model)
    text = component_html(numbers.model, max_columns=1)
    points = re.search(r'points="([^"]+)"', text).group(1).split()
    down = np.array([float(point.split(",")[1]) for point in points])
    # Up on the page is more.
    np.testing.assert_allclose(np.corrcoef(down, curves[0].values)[0, 1], -1.0, atol=1e-3)
    assert curves[0].name in text


def test_curves_without_rows_are_the_contributions(patients):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        curves = {curve.name: curve for curve in learned_curves(patients.model)}
    rows = patients.X.iloc[[0] * len(curves["age"].grid)].copy()
    rows["age"] = curves["age"].grid
    np.testing.assert_allclose(
        curves["age"].values, patients.model.contributions(rows)[:, 0], atol=1e-10
    )
    site = component_curves(patients.model, patients.X, columns=["site"])[0]
    np.testing.assert_allclose(curves["site"].values, site.values, atol=1e-10)
    assert curves["age"].grid[0] == patients.X["age"].min()
    assert curves["age"].grid[-1] == patients.X["age"].max()


def test_loaded_models_show_the_same(patients, tmp_path):
    patients.model.save(tmp_path / "model.s2mam")
    assert component_html(s2mam.load(tmp_path / "model.s2mam")) == component_html(patients.model)


def test_rows_may_be_given(patients):
    text = component_html(patients.model, patients.X, max_columns=2)
    assert text.count("role=") == 2
    with pytest.raises(InvalidInputError, match="max_columns=0"):
        component_html(patients.model, max_columns=0)


def test_other_learners_and_empty_models():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    paper = S2MAMRegressor(**(s2mam.PAPER | {"max_iter": 2}), random_state=0).fit(X, X[:, 0])
    assert "<polyline" in component_html(paper)
    constant = S2MAMRegressor().fit(X, np.ones(30))
    assert "no column adds anything" in component_html(constant)
    with pytest.raises(NotFittedError):
        component_html(S2MAMRegressor())


def test_notebooks_show_the_parameter_box_and_below_it_the_components(numbers):
    fresh = S2MAMRegressor(max_iter=2, random_state=0)
    for text in (fresh._repr_html_(), fresh._repr_mimebundle_()["text/html"]):
        assert "s2mam-components" not in text
        assert "max_iter" in text
    fitted = fresh.fit(numbers.X, numbers.y)
    for text in (fitted._repr_html_(), fitted._repr_mimebundle_()["text/html"]):
        assert text.count("s2mam-components") == 1
        assert text.index("sk-container") < text.index("max_iter") < text.index("s2mam-components")
        assert component_html(fitted) in text


def test_every_estimator_shows_its_components(patients, numbers):
    shown = [
        patients.model,
        S2MAMRegressor(**s2mam.PAPER | {"max_iter": 2}).fit(numbers.X, numbers.y),
        s2mam.ManifoldAdditiveRegressor().fit(numbers.X, numbers.y),
        s2mam.ManifoldAdditiveClassifier().fit(numbers.X, numbers.X[:, 0] > 0.5),
        s2mam.ManifoldAdditiveRegressor().fit(numbers.X, np.ones(len(numbers.X))),
    ]
    for model in shown:
        text = model._repr_mimebundle_()["text/html"]
        assert text.count('class="s2mam-components"') == 1
        assert "text/plain" in model._repr_mimebundle_()


def test_inside_a_pipeline_the_diagram_is_scikit_learns(numbers):
    pipeline = make_pipeline(StandardScaler(), S2MAMRegressor(max_iter=2, random_state=0))
    pipeline.fit(numbers.X, numbers.y)
    assert "S2MAMRegressor" in pipeline._repr_html_()


def test_text_displays_stay_text(numbers):
    with config_context(display="text"):
        assert "text/html" not in numbers.model._repr_mimebundle_()
