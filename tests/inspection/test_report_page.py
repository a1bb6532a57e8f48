"""Pieces of the page: escaping, bundled scripts, numbers to read, and colours."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from s2mam.exceptions import MissingDependencyError
from s2mam.inspection.report_parts import page as page_module
from s2mam.inspection.report_parts.markup import alike, as_json, number, render, table, tag


def test_the_small_bundle_is_preferred(tmp_path, monkeypatch):
    folder = tmp_path / "package_data"
    folder.mkdir()
    for name in ("plotly.min.js", "plotly-basic.min.js"):
        (folder / name).write_text(name, encoding="utf-8")
    monkeypatch.setattr(resources, "files", lambda _: Path(tmp_path))
    assert page_module.plotly_bundle() == "plotly-basic.min.js"
    (folder / "plotly-basic.min.js").unlink()
    assert page_module.plotly_bundle() == "plotly.min.js"
    (folder / "plotly.min.js").unlink()
    with pytest.raises(MissingDependencyError, match=r"no plotly\.js"):
        page_module.plotly_bundle()


def test_scripts_cannot_end_early():
    assert "</script" not in page_module._inline("a = '</script>'; b = '<!--'")
    assert page_module._inline("a\r\nb\rc") == "a\nb\nc"


def test_markup_escapes_all_but_markup():
    assert render("<&\"'\x00") == "&lt;&amp;&quot;&#x27;\ufffd"
    assert tag("p", tag("b", "<"), title='"') == '<p title="&quot;"><b>&lt;</b></p>'
    assert json.loads(as_json({"a": "</script>\u2028", "b": np.float64("inf")})) == {
        "a": "</script>\u2028",
        "b": None,
    }
    assert not re.search("[<>&\u2028]", as_json("</script>&\u2028"))


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (-0.5, "−0.5"), (2e-7, "2.00e−07"), (98765.4, "98,765")]
)
def test_numbers_to_read(value, text):
    assert number(value) == text


def test_numbers_beside_each_other_have_the_same_decimals():
    assert alike([0.5291, 0.476, 0.58]) == ["0.529", "0.476", "0.580"]
    assert alike([-0.00262, -0.0181, -2.08e-05]) == ["−0.0026", "−0.0181", "0.0000"]
    assert alike([1234.5, -20.0]) == ["1,234", "−20"]
    assert alike([2e-7, 1e-8]) == [number(2e-7), number(1e-8)]


def test_columns_of_numbers_stand_to_the_right():
    rows = [["a", "0.5", "0.5 (0.1 to 0.9)"], ["b", "−1,200", "12"]]
    html = table("c", ["name", "value", "interval"], rows)
    assert html.count('class="number"') == 3  # a header and two cells
    assert '<td role="cell" data-label="value" class="number">−1,200</td>' in html


def luminance(color):
    channels = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0
    linear = np.where(channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("scheme", [0, 1, 2])
def test_colors_have_enough_contrast(scheme):
    css = page_module._file("page.css")
    block = re.findall(r":root(?:\.paper)? \{(.*?)\}", css, flags=re.S)[scheme]
    colors = dict(re.findall(r"--(\w+): (#\w{6})", block))

    def contrast(a, b):
        low, high = sorted([luminance(colors[a]), luminance(colors[b])])
        return (high + 0.05) / (low + 0.05)

    for text in ("ink", "soft", "accent", "serious"):
        assert contrast(text, "paper") >= 4.5
        assert contrast(text, "card") >= 4.5
    for k in range(7):
        assert contrast(f"c{k}", "paper") >= 3.0


def test_half_a_character_does_not_stop_the_page():
    """numpy tables can hold names that no file can; pandas refuses them by itself."""
    text = render("a\ud800b")
    assert text == "a\ufffdb"
    text.encode("utf-8")
