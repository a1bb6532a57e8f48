"""Build wheel and sdist, install each in an empty environment without extras, and use it.

make test-install        (python tests/trust/install_check.py build/install)
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

USE = """
import importlib.util, sys, tempfile, pathlib
import numpy as np
absent = [n for n in ("pandas", "matplotlib", "plotly", "torch") if importlib.util.find_spec(n)]
assert not absent, f"extras are there: {absent}"
import s2mam
assert "site-packages" in s2mam.__file__, s2mam.__file__
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 4))
y = np.where(rng.random(40) < 0.5, X[:, 0] + X[:, 1], np.nan)
model = s2mam.S2MAMRegressor(max_iter=5, random_state=0).fit(X, y)
path = pathlib.Path(tempfile.mkdtemp()) / "m.s2mam"
model.save(path)
assert np.array_equal(s2mam.load(path).predict(X), model.predict(X))
classes = np.where(np.isnan(y), -1, (y > 0).astype(float))
s2mam.ManifoldAdditiveClassifier().fit(X, classes).predict_proba(X)
from s2mam.baselines import all_baselines
all_baselines("regression")["LapRLS"]().fit(X, y)
assert pathlib.Path(s2mam.__file__).with_name("py.typed").exists()
print("used", s2mam.__version__)
"""


def run(*command: object, fails: bool = False) -> str:
    """Run a command; its standard error when it is expected to fail, else its output."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd="/tmp")
    if (done.returncode != 0) != fails:
        sys.exit(f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stderr if fails else done.stdout


def check(artifact: Path, folder: Path) -> None:
    """Install one artifact and use it."""
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", artifact)
    run(python, "-m", "pip", "check")
    sys.stdout.write(run(python, "-c", USE))
    sys.stdout.write(run(folder / "bin" / "s2mam", "--version"))
    error = run(folder / "bin" / "s2mam", "demo", "--output", folder / "demo.png", fails=True)
    if "pip install" not in error or "Traceback" in error:
        sys.exit(f"s2mam demo without matplotlib should name the extra:\n{error}")
    (folder / "t.csv").write_text("a,y\n1,2\n2,3\n3,4\n4,\n", encoding="utf-8")
    error = run(folder / "bin" / "s2mam", "fit", folder / "t.csv", "-t", "y", fails=True)
    if "pip install" not in error or "Traceback" in error:
        sys.exit(f"s2mam fit without pandas should name the extra:\n{error}")
    sys.stdout.write(f"{artifact.name}: {error}")


def main(target: Path) -> None:
    """Build both artifacts and check them."""
    shutil.rmtree(target, ignore_errors=True)
    tools = target / "tools"
    venv.create(tools, with_pip=True)
    run(tools / "bin" / "python", "-m", "pip", "install", "--quiet", "build", "hatchling")
    run(tools / "bin" / "python", "-m", "build", "--outdir", target / "dist", ROOT)
    artifacts = sorted((target / "dist").iterdir())
    if {path.suffix for path in artifacts} != {".whl", ".gz"}:
        sys.exit(f"unexpected artifacts: {artifacts}")
    for artifact in artifacts:
        check(artifact, target / f"venv-{artifact.suffix[1:]}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
