"""Checks of the fault table: commands end with one line, a code and nothing half-written."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from fault_registry import fault
from typer.testing import CliRunner

from s2mam import S2MAMClassifier, S2MAMRegressor
from s2mam.cli import app
from s2mam.graphs import memory


@dataclass
class Shell:
    """Runs commands in a folder of its own and watches what they leave there."""

    folder: Path

    def table(self, **changes: Any) -> pd.DataFrame:
        """30 rows: a and b decide, c does not; every third label is missing."""
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(rng.normal(size=(30, 3)), columns=list("abc"))
        frame["y"] = (frame["a"] + frame["b"]).where(np.arange(30) % 3 > 0)
        return frame.assign(**changes)

    def write(self, frame: pd.DataFrame, name: str = "t.csv") -> str:
        frame.to_csv(self.folder / name, index=False)
        return name

    def run(self, *arguments: str) -> Any:
        return CliRunner().invoke(app, list(arguments))

    def model(self) -> str:
        done = self.run("fit", self.write(self.table()), "-t", "y", "-o", "m.s2mam")
        assert done.exit_code == 0, done.output
        return "m.s2mam"

    def fits(self, frame: pd.DataFrame) -> Any:
        """Fit and predict without a word; finite predictions, one per row."""
        arguments = ("fit", self.write(frame), "-t", "y", "--task", "regression", "-q")
        done = self.run(*arguments, "-o", "fits.s2mam")
        assert (done.exit_code, done.stderr) == (0, ""), done.output
        done = self.run("predict", "fits.s2mam", "t.csv", "-q", "-o", "fits.csv")
        assert (done.exit_code, done.stderr) == (0, ""), done.output
        found = pd.read_csv(self.folder / "fits.csv").iloc[:, 0].to_numpy()
        assert found.shape == (len(frame),)
        assert np.isfinite(found).all()
        return found

    def files(self) -> set[str]:
        return set(os.listdir(self.folder))

    def refused(self, *arguments: str, words: tuple[str, ...] = (), code: int = 1) -> None:
        """The command ends with this code, one line of error, and no file more than before."""
        before = self.files()
        done = self.run(*arguments)
        assert done.exit_code == code, (arguments, done.output)
        self.assert_one_line(done.stderr, words)
        assert self.files() == before, arguments

    @staticmethod
    def assert_one_line(text: str, words: tuple[str, ...]) -> None:
        (line,) = [one for one in text.splitlines() if one.startswith("s2mam: error: ")]
        assert "Traceback" not in text
        missing = [word for word in words if word not in line]
        assert not missing, (missing, line)


@fault("NaN or inf in X", "command line")
def cells(shell: Shell):
    frame = shell.table()
    frame.loc[4, "b"] = np.nan
    shell.write(frame)
    assert shell.run("fit", "t.csv", "-t", "y", "-o", "ok.s2mam").exit_code == 0
    frame.loc[4, "b"] = np.inf
    bad = shell.write(frame, "bad.csv")
    shell.refused("fit", bad, "-t", "y", words=("'b'",))
    shell.refused("predict", "ok.s2mam", bad, "-o", "p.csv", words=("'b'",))


@fault("inf in y, NaN in y (regression)", "command line")
def infinite_cell_of_the_target(shell: Shell):
    frame = shell.table()
    frame.loc[4, "y"] = np.inf
    shell.refused("fit", shell.write(frame), "-t", "y", words=("infinity",))


@fault("labels {-1, 1} with marker -1", "command line")
def signs(shell: Shell):
    frame = shell.table(y=np.where(np.arange(30) % 2, 1, -1))
    done = shell.run("fit", shell.write(frame), "-t", "y")
    assert done.exit_code == 0
    assert "one class only" in done.stderr
    done = shell.run("fit", "t.csv", "-t", "y", "--unlabeled", "?", "--json")
    assert done.exit_code == 0
    assert '"-1": 15' in done.stdout


@fault("strings/objects/pandas NA/None markers", "command line")
def text_markers(shell: Shell):
    words = np.array(["yes", "no", "?"])[np.arange(30) % 3]
    done = shell.run(
        "fit", shell.write(shell.table(y=words)), "-t", "y", "--unlabeled", "?", "--json"
    )
    assert done.exit_code == 0
    assert '"labeled": 20' in done.stdout


@fault("none labelled", "command line")
def empty_target(shell: Shell):
    shell.refused("fit", shell.write(shell.table(y=np.nan)), "-t", "y", words=("'y'", "label"))


@fault("all labelled", "command line")
def no_row_without_a_label(shell: Shell):
    frame = shell.table(y=np.arange(30) % 2)
    done = shell.run("fit", shell.write(frame), "-t", "y", "--json")
    assert done.exit_code == 0
    assert '"labeled": 30' in done.stdout
    assert done.stderr == ""


@fault("one label per class; one class only", "command line")
def few_labels(shell: Shell):
    for y, told in (
        (["yes", "no", *[None] * 28], ""),
        (["yes"] * 3 + [None] * 27, "one class only"),
    ):
        done = shell.run("fit", shell.write(shell.table(y=y)), "-t", "y", "-q", "-o", "m.s2mam")
        assert done.exit_code == 0, done.output
        assert told in done.stderr
        found = shell.run("predict", "m.s2mam", "t.csv", "-q")
        assert found.exit_code == 0
        assert len(found.stdout.splitlines()) == 31


@fault("graph component without any label", "command line")
def island_of_rows(shell: Shell):
    frame = shell.table()
    frame.loc[24:, ["a", "b", "c"]] += 1e4
    frame.loc[24:, "y"] = np.nan
    shell.fits(frame)


@fault("query far from all training rows", "command line")
def far_rows(shell: Shell):
    model = shell.model()
    found = []
    for far in (1e6, 1e9):
        shell.write(shell.table()[["a", "b", "c"]] + far, "far.csv")
        done = shell.run("predict", model, "far.csv", "-q", "-o", "p.csv")
        assert done.exit_code == 0, done.output
        found.append(pd.read_csv(shell.folder / "p.csv").iloc[:, 0].to_numpy())
    assert np.isfinite(found[0]).all()
    np.testing.assert_array_equal(found[1], found[0])


@fault("single heavy outlier row", "command line")
def outlying_cells(shell: Shell):
    frame = shell.table()
    frame.loc[5, ["a", "b", "c"]] = [1e9, -1e9, 1e9]
    shell.fits(frame)


@fault("class unseen in a fold, rare class with 1 label", "command line")
def one_row_of_a_class(shell: Shell):
    frame = shell.table(y=["rare", *["yes", "no", None] * 9, None, None])
    done = shell.run("fit", shell.write(frame), "-t", "y", "-q", "-o", "m.s2mam")
    assert done.exit_code == 0, done.output
    done = shell.run("predict", "m.s2mam", "t.csv", "-q", "-o", "p.csv")
    assert done.exit_code == 0, done.output
    chances = pd.read_csv(shell.folder / "p.csv").iloc[:, 1:]
    assert list(chances) == ["probability_no", "probability_rare", "probability_yes"]
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, atol=1e-6)


@fault("n too large for dense W", "command line")
def too_many_rows(shell: Shell):
    shell.write(shell.table())
    before = memory.available_bytes
    memory.available_bytes = lambda: 10_000
    try:
        shell.refused("fit", "t.csv", "-t", "y", "--paper", words=("30", "kB", "neighbors"))
    finally:
        memory.available_bytes = before


@fault("constant column; all columns constant", "command line")
def constant_cells(shell: Shell):
    for frame in (shell.table(b=1.0), shell.table(a=1.0, b=1.0, c=1.0)):
        shell.fits(frame)


@fault("duplicated rows, duplicated columns", "command line")
def repeated(shell: Shell):
    frame = shell.table()
    shell.fits(pd.concat([frame, frame]).assign(a_again=lambda f: f["a"]))
    shell.write(frame)
    text = (shell.folder / "t.csv").read_text().replace("a,b,c,y", "a,a,c,y")
    (shell.folder / "same.csv").write_text(text)
    done = shell.run("fit", "same.csv", "-t", "y")
    assert done.exit_code == 0
    assert "columns of the same name: a;" in done.stderr


@fault("p >> n (p=5000, n=60); n=1; p=1", "command line")
def odd_shapes(shell: Shell):
    frame = shell.table()
    shell.fits(frame[["a", "y"]])
    rng = np.random.default_rng(0)
    shell.fits(frame.join(pd.DataFrame(rng.normal(size=(30, 60))).add_prefix("x")))
    shell.fits(frame[1:2])
    shell.refused("fit", shell.write(frame[["y"]], "bare.csv"), "-t", "y", words=("column",))
    shell.refused("fit", shell.write(frame[:0], "empty.csv"), "-t", "y", words=("row",))


@fault("huge-scale columns N(100,100), 1e12, 1e-12", "command line")
def scaled(shell: Shell):
    frame = shell.table()
    one = shell.fits(frame)
    two = shell.fits(frame.assign(a=frame["a"] * 1e12, b=frame["b"] * 1e-12))
    np.testing.assert_allclose(two, one, atol=1e-5 * np.abs(one).max())


@fault("C = 0, C >= p, non-integer C, C > informative", "command line")
def number_of_columns(shell: Shell):
    shell.write(shell.table())
    for bad in ("0", "-1", "1.5", "many"):
        shell.refused("fit", "t.csv", "-t", "y", "--n-select", bad, words=("--n-select",), code=2)
    shell.refused("fit", "t.csv", "-t", "y", "--n-select", "99", words=("99", "3 columns"))
    assert shell.run("fit", "t.csv", "-t", "y", "--n-select", "3").exit_code == 0


@fault("resume", "command line")
def other_checkpoint(shell: Shell):
    """A checkpoint of other parameters is refused; a fit that was cut short goes on."""
    fit = ("fit", shell.write(shell.table()), "-t", "y", "-q", "-o", "m.s2mam")
    assert shell.run(*fit).exit_code == 0
    whole = shell.run("predict", "m.s2mam", "t.csv", "-q").stdout
    assert shell.run(*fit, "--checkpoint", "c", "--time-limit", "0.05").exit_code == 0
    assert (shell.folder / "c").exists()
    shell.refused(*fit, "--checkpoint", "c", "--seed", "5", words=("'c'", "other parameters"))
    assert shell.run(*fit, "--checkpoint", "c").exit_code == 0
    assert shell.run("predict", "m.s2mam", "t.csv", "-q").stdout == whole


@fault("DataFrame columns reordered or renamed at predict", "command line")
def columns(shell: Shell):
    model = shell.model()
    frame = shell.table()
    straight = shell.run("predict", model, "t.csv", "-q").stdout
    shell.write(frame[["y", "c", "b", "a"]], "turned.csv")
    assert shell.run("predict", model, "turned.csv", "-q").stdout == straight
    shell.write(frame.rename(columns={"b": "other"}), "renamed.csv")
    shell.refused("predict", model, "renamed.csv", "-o", "p.csv", words=("model: b;",))


@fault("corrupted or truncated model file", "command line")
def damaged_model(shell: Shell):
    model = shell.folder / shell.model()
    raw = model.read_bytes()
    for damaged in (b"", raw[:100], raw[:-1], raw[:3000] + b"\x00\xff" + raw[3002:], b"PK" * 40):
        model.write_bytes(damaged)
        shell.refused("predict", "m.s2mam", "t.csv", "-o", "p.csv", words=("m.s2mam",))
        shell.refused("info", "m.s2mam", words=("m.s2mam",))
        shell.refused("report", "m.s2mam", "t.csv", "-t", "y", "-o", "r.html", words=("m.s2mam",))


@fault("KeyboardInterrupt in fit", "command line")
def stopped(shell: Shell):
    shell.write(shell.table())

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    before, kept = shell.files(), {kind: kind.fit for kind in (S2MAMRegressor, S2MAMClassifier)}
    try:
        for kind in kept:
            kind.fit = interrupted
        done = shell.run("fit", "t.csv", "-t", "y")
    finally:
        for kind, fit in kept.items():
            kind.fit = fit
    assert done.exit_code == 130
    assert done.stderr.splitlines()[-1] == "s2mam: stopped."
    assert shell.files() == before


@fault("SIGKILL mid-write, disk full, read-only disk", "command line")
def full_disk(shell: Shell):
    shell.model()
    old = (shell.folder / "m.s2mam").read_bytes()
    (shell.folder / "p.csv").write_text("old")

    def no_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))

    before = shell.files()
    for arguments in (
        ["fit", "t.csv", "-t", "y", "-o", "m.s2mam"],
        ["predict", "m.s2mam", "t.csv", "-o", "p.csv"],
        ["report", "m.s2mam", "t.csv", "-t", "y", "-o", "r.html"],
    ):
        done = subprocess.run(
            [sys.executable, "-B", "-m", "s2mam", *arguments],
            cwd=shell.folder,
            capture_output=True,
            text=True,
            preexec_fn=no_room,
            check=False,
        )
        assert done.returncode == 1, (arguments, done.stderr)
        shell.assert_one_line(done.stderr, ())
        assert shell.files() == before, arguments
    assert (shell.folder / "m.s2mam").read_bytes() == old
    assert (shell.folder / "p.csv").read_text() == "old"


@fault("warnings", "command line")
def quiet_commands(shell: Shell):
    shell.write(shell.table())
    # typer speaks to click in words that newer releases of click deprecate.
    filters = ["-W", "error", "-W", "ignore::DeprecationWarning:typer"]
    done = subprocess.run(
        [sys.executable, *filters, "-m", "s2mam", "fit", "t.csv", "-t", "y", "-q"],
        cwd=shell.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
