"""The command line in processes of its own, as a shell runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

COMMAND = [sys.executable, "-m", "s2mam"]


def call(*arguments: object, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False, **options
    )


def test_a_table_from_start_to_end(tmp_path: Path, classes: pd.DataFrame, few: pd.DataFrame):
    done = call("fit", "-", "-t", "y", "--json", input=few.to_csv(index=False), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert json.loads(done.stdout)["labeled"] == 40
    classes.to_csv(tmp_path / "all.csv", index=False)
    done = call("predict", "model.s2mam", "all.csv", "-t", "y", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 81
    assert "accuracy" in done.stderr


def test_the_tab_key_completes_commands_options_and_values():
    def complete(line):
        words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
        done = subprocess.run(
            COMMAND,
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "_S2MAM_COMPLETE": "complete_bash", **words},
        )
        return done.stdout.split()

    assert complete("s2mam re") == ["report"]
    assert complete("s2mam fit t.csv --keep") == ["--keep-on-stop"]
    assert set(complete("s2mam fit t.csv --task ")) == {"auto", "classification", "regression"}
    assert complete("s2mam fit t") == []  # the shell then offers files


def test_a_reader_that_goes_away(tmp_path: Path, model: Path):
    rng = np.random.default_rng(0)
    big = pd.DataFrame(rng.normal(size=(20_000, 2)), columns=["a", "b"]).assign(kind="x")
    big.to_csv(tmp_path / "big.csv", index=False)
    with subprocess.Popen(
        [*COMMAND, "predict", str(model), "big.csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=60) == 141


def test_ctrl_c_ends_a_fit_without_a_trace(tmp_path: Path):
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(1500, 60)), columns=[f"x{j}" for j in range(60)])
    wide["y"] = wide["x0"] + rng.normal(size=1500)
    wide.to_csv(tmp_path / "t.csv", index=False)
    with subprocess.Popen(
        [*COMMAND, "fit", "t.csv", "-t", "y"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        # A job in the background of a shell, and all below it, would not hear the signal.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert "regression" in process.stderr.readline()  # the fit starts now
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert err == "s2mam: stopped.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_ctrl_c_keeps_the_model_when_asked_for(tmp_path: Path):
    rng = np.random.default_rng(0)
    # So many rows that the fit goes on for seconds after its first checkpoint.
    table = pd.DataFrame(rng.normal(size=(1500, 8)), columns=list("abcdefgh"))
    table["y"] = table["a"] + rng.normal(size=1500)
    table.to_csv(tmp_path / "t.csv", index=False)
    options = ["--keep-on-stop", "--json"]
    with subprocess.Popen(
        [*COMMAND, "fit", "t.csv", "-t", "y", "--paper", "--checkpoint", "fit.ckpt", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    ) as process:
        checkpoint = tmp_path / "fit.ckpt"  # there after the first iterations of many
        deadline = time.monotonic() + 120
        while not checkpoint.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    told = json.loads(out)
    assert told["stop_reason"] == "interrupted"
    assert "ended early" in told["warnings"][0]
    assert call("predict", "model.s2mam", "t.csv", cwd=tmp_path).returncode == 0


def test_the_package_imports_without_the_modules_of_the_extras_and_the_command_line():
    # scikit-learn imports pandas and rich where it finds them, so they are taken away here.
    code = (
        "import sys\n"
        "class Gone:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('typer', 'rich', 'matplotlib', 'pandas'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Gone())\n"
        "import s2mam, s2mam.inspection\n"
        "print(s2mam.S2MAMRegressor(max_iter=2, random_state=0)"
        ".fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]).n_labeled_)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "4", done.stderr


def test_importing_brings_no_more_than_is_needed():
    code = (
        "import sys, s2mam, s2mam.inspection\n"
        "print({'typer', 'matplotlib'} & set(sys.modules))\n"
        "import s2mam.cli\n"
        "print({'matplotlib', 'plotly', 's2mam.experiments', 's2mam._demo', 's2mam.cli.contest'} "
        "& set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["set()", "set()"]
