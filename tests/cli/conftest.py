"""Tables and a runner for the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from s2mam.cli import app


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run() -> Callable:
    """Run a command in this process."""
    runner = CliRunner()
    return lambda *arguments, **options: runner.invoke(app, list(map(str, arguments)), **options)


@pytest.fixture
def classes() -> pd.DataFrame:
    """80 rows, text classes, 40 of them known; `size` and `colour` decide, `junk` does not."""
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "blue"], 80)
    table = pd.DataFrame(
        {"size": rng.normal(size=80), "colour": colour, "junk": rng.normal(size=80)}
    )
    score = 2 * table["size"] + np.where(colour == "red", 1.5, -1.5)
    table["y"] = np.where(score > 0, "yes", "no")
    return table


@pytest.fixture
def few(classes: pd.DataFrame) -> pd.DataFrame:
    """The same table with every other label hidden."""
    return classes.assign(y=classes["y"].where(np.arange(80) % 2 == 0))


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small regression model: `a` and the text category `kind` decide, `b` does not."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    table["kind"] = rng.choice(["1", "2", "x"], 60)
    table["price"] = 3 * table["a"] + 2.0 * (table["kind"] == "1") + 0.1 * rng.normal(size=60)
    folder = tmp_path_factory.mktemp("model")
    table.to_csv(folder / "all.csv", index=False)
    table.loc[30:, "price"] = np.nan
    table.to_csv(folder / "t.csv", index=False)
    path = folder / "m.s2mam"
    arguments = ["fit", str(folder / "t.csv"), "-t", "price", "-o", str(path), "-q"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert done.output == ""
    return path
