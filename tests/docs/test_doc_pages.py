"""Every piece of code on every page runs, and prints what the page says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from page_blocks import DOCS, ROOT, blocks, commands, pages, run_python
from typer.testing import CliRunner

from s2mam.cli import app

WITH_PYTHON = [p for p in pages() if any(b.language in ("python", "pycon") for b in blocks(p))]
COMMAND_LINE = DOCS / "guide" / "command_line.md"


def _name(page: Path) -> str:
    return str(page.relative_to(DOCS))


@pytest.mark.parametrize("page", WITH_PYTHON, ids=_name)
def test_python_of_the_page_runs(page: Path, empty_folder: Path):
    assert "".join(run_python(page)) == ""


def test_a_wrong_output_would_be_seen(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("Text\n\n```pycon\n>>> 1 + 1\n3\n\n```\n")
    assert "Got:\n    2" in "".join(run_python(page))


def test_an_error_would_be_seen(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1\n```\n\n```python\nx.missing\n```\n")
    with pytest.raises(AttributeError, match="missing"):
        run_python(page)


def test_commands_of_the_page_run(empty_folder: Path):
    """The page makes its tables first; then every command has to end well."""
    run_python(COMMAND_LINE)
    found = commands(COMMAND_LINE)
    assert {words[0] for words in found} >= {"fit", "predict", "info", "report"}
    for words in found:
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, (words, result.output)


@pytest.mark.parametrize("page", [p for p in pages() if p != COMMAND_LINE], ids=_name)
def test_commands_elsewhere_exist(page: Path):
    """Studies take hours, so that elsewhere only names and options are checked."""
    groups = {group.name for group in app.registered_groups}
    known = {command.name or command.callback.__name__ for command in app.registered_commands}
    for words in commands(page):
        assert words[0] in known | groups, words
        path = words[:2] if words[0] in groups else words[:1]
        shown = CliRunner().invoke(app, [*path, "--help"])
        assert shown.exit_code == 0, words
        options = [word.split("=")[0] for word in words if word.startswith("--")]
        assert [option for option in options if option not in shown.output] == []


@pytest.mark.slow
def test_the_table_of_the_demo_is_current(empty_folder: Path):
    """A change of the learner changes it, and the picture beside it (``s2mam demo`` draws both)."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = re.search(r"^\| method \| unlabelled rows.*?\n\n", text, flags=re.M | re.S)
    assert table is not None
    lines = [line.strip("| ").split(" | ") for line in table[0].strip().splitlines()[2:]]
    scores = json.loads(CliRunner().invoke(app, ["demo", "--json"]).stdout)["scores"]
    assert [line[0].strip("*") for line in lines] == [one["name"] for one in scores]
    for (_, unlabeled, test, real, junk), one in zip(lines, scores, strict=True):
        # Other platforms round otherwise.
        assert 100 * one["unlabeled"] == pytest.approx(float(unlabeled.rstrip("% ")), abs=2.0)
        assert 100 * one["test"] == pytest.approx(float(test.rstrip("% ")), abs=2.0)
        if real != "–":
            assert one["n_real"] == pytest.approx(int(real), abs=1)
            assert one["n_junk"] == pytest.approx(int(junk), abs=1)
