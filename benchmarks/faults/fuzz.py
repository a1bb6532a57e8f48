"""Coverage-guided fuzzing of what reads files: tables of the command line, models, model states.

    python -m venv build/venv-fuzz && build/venv-fuzz/bin/pip install atheris pandas -e .
    build/venv-fuzz/bin/python benchmarks/faults/fuzz.py --target csv --minutes 10

Targets: ``csv`` (bytes to the table reader, its columns and its target), ``model`` (bytes to
``s2mam.load``), ``json`` (bytes as header or state of a file with valid checksums), ``state``
(forged states with valid checksums to ``s2mam.load`` and ``predict``).
An error of ``s2mam.exceptions`` is an answer; anything else is a finding. Findings are told apart
by type and place, kept with their input in ``build/fuzz/<target>/findings``, and the run goes on.
Every run is a row of ``fuzz.md`` beside this file, made from ``fuzz.jsonl``. Exits with 1 when
there is a finding.
"""

# ruff: noqa: E402  (imports are instrumented)
from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "trust")]

import atheris

with atheris.instrument_imports(include=["s2mam"]):
    import s2mam
    import s2mam.cli
    import s2mam.cli.columns
    import s2mam.cli.reading
    import s2mam.cli.target
    import s2mam.persistence

import numpy as np

from s2mam.cli.columns import choose_columns, require_column
from s2mam.cli.console import Console
from s2mam.cli.reading import TableOptions, read_table
from s2mam.cli.target import Task, read_target
from s2mam.exceptions import S2MAMError
from s2mam.persistence import read_state, write_state
from s2mam.persistence.archive import write_archive

SCRATCH = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").exists() else None))
GOLDEN = sorted((ROOT / "tests" / "trust" / "golden").glob("*/*.s2mam"))
with zipfile.ZipFile(min(GOLDEN, key=lambda path: path.stat().st_size)) as _archive:
    SMALL = {name: _archive.read(name) for name in _archive.namelist()}
CSV_SEEDS = [
    b"a,b,y\n1,2,3\n4,,\n5,6,7\n",
    b"a;b;y\n1,5;x;yes\n2,5;z;no\n",
    b"\xef\xbb\xbfa\tb\ty\n1\t2\t-1\n3\tNA\t1\n",
    'a,ü,y\n1e308,-inf,nan\n"q,""t",\' \',0\n'.encode(),
    "a,y\n1,2\n".encode("utf-16"),
    b"date,id,y\n2020-01-01,1,?\n01.02.2020,2,1\n",
]


def csv(data: bytes) -> None:
    """Read a table as ``s2mam fit`` does, without the fit."""
    path = SCRATCH / "t.csv"
    path.write_bytes(data)
    console = Console(quiet=True, as_json=True)
    frame = read_table(path, console, TableOptions(None, None, ()), target="y")
    target = "y" if "y" in frame.columns else str(frame.columns[-1])
    require_column(frame, target, "t.csv")
    X, categories = choose_columns(frame, target, console)
    labels = read_target(frame[target], Task.auto, None, console)
    reader = s2mam.intake.TableReader(categorical=categories or "auto")
    numbers = reader.fit_transform(X)
    assert numbers.shape == X.shape
    assert not np.isinf(numbers).any()
    assert len(labels.y) == len(X)


def model(data: bytes) -> None:
    """Load bytes as a model."""
    path = SCRATCH / "m.s2mam"
    path.write_bytes(data)
    s2mam.load(path)


def json_member(data: bytes) -> None:
    """Load a sound archive with these bytes as its header or its state."""
    content = dict(SMALL)
    if data[:1] == b"h":
        content["header.json"] = data[1:]
    else:
        header = json.loads(content["header.json"])
        digest = hashlib.sha256(data[1:]).hexdigest()
        header["members"][0] |= {"bytes": len(data) - 1, "sha256": digest}
        content["header.json"] = json.dumps(header).encode()
        content["state.json"] = data[1:]
    path = SCRATCH / "j.s2mam"
    with path.open("wb") as stream:
        write_archive(stream, [(name, len(part), [part]) for name, part in content.items()])
    s2mam.load(path)


def state(data: bytes) -> None:
    """Load a state that is wrong in one to three places, and predict with what loads."""
    from golden_models import table_of
    from wrong_states import changed, leaves, value_at, without, wrong_values

    choose = atheris.FuzzedDataProvider(data)
    source = GOLDEN[choose.ConsumeIntInRange(0, len(GOLDEN) - 1)]
    kind, tree = read_state(source)
    for _ in range(choose.ConsumeIntInRange(1, 3)):
        paths = list(leaves(tree))
        place = paths[choose.ConsumeIntInRange(0, len(paths) - 1)]
        options = [value for _, value in wrong_values(value_at(tree, place))]
        pick = choose.ConsumeIntInRange(0, len(options))
        tree = without(tree, place) if pick == len(options) else changed(tree, place, options[pick])
        if not isinstance(tree, dict) or not tree:
            return
    path = SCRATCH / "s.s2mam"
    write_state(path, kind, tree)
    loaded = s2mam.load(path)
    table = table_of(source.stem, 1, 4)
    assert len(loaded.predict(table)) == 4
    loaded.contributions(table)


TARGETS: dict[str, tuple[Callable[[bytes], None], list[bytes]]] = {
    "csv": (csv, CSV_SEEDS),
    "model": (model, [path.read_bytes() for path in GOLDEN]),
    "json": (json_member, [b"h" + SMALL["header.json"], b"s" + SMALL["state.json"]]),
    "state": (state, [bytes([k]) * 16 for k in range(8)]),
}


class Watcher:
    """Calls a target; keeps one input per kind of finding."""

    def __init__(self, target: Callable[[bytes], None], folder: Path) -> None:
        self.target, self.folder = target, folder
        self.found: dict[str, int] = {}
        self.calls = 0
        folder.mkdir(parents=True, exist_ok=True)

    def __call__(self, data: bytes) -> None:
        self.calls += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.target(data)
        except S2MAMError:
            return
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            ours = [f for f in traceback.extract_tb(error.__traceback__) if "s2mam" in f.filename]
            last = ours[-1] if ours else place
            key = f"{type(error).__name__}-{Path(last.filename).stem}-{last.lineno}"
            if key not in self.found:
                (self.folder / key).write_bytes(data)
                print(f"FINDING {key}: {error}", flush=True)
            self.found[key] = self.found.get(key, 0) + 1


def fuzz(name: str, minutes: float) -> None:
    """Fuzz one target in this process for the given time."""
    target, seeds = TARGETS[name]
    home = ROOT / "build" / "fuzz" / name
    corpus = home / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (corpus / f"seed-{number}").write_bytes(seed)
    watcher = Watcher(target, home / "findings")
    began = time.monotonic()

    def one(data: bytes) -> None:
        watcher(data)
        # An ordinary exit would count as a crash of the target.
        if time.monotonic() - began > 60.0 * minutes:
            print(json.dumps({"inputs": watcher.calls, "findings": watcher.found}), flush=True)
            os._exit(0)

    limits = ["-max_len=60000", "-rss_limit_mb=4096", "-timeout=120"]
    atheris.Setup([sys.argv[0], str(corpus), *limits], one)
    atheris.Fuzz()


def watched(name: str, minutes: float) -> dict[str, object]:
    """Fuzz in a child; its counts, and the coverage that libFuzzer tells on the way."""
    command = [sys.executable, __file__, "--target", name, "--minutes", str(minutes), "--child"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    print(done.stdout[-4000:], flush=True)
    told = re.findall(r"cov: (\d+) ft: \d+ corp: (\d+)", done.stderr)
    if done.returncode != 0 or not told:
        # A crash of the interpreter, an input that hangs or one that eats the memory.
        sys.exit(done.stderr[-4000:])
    counts: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    first, last = told[0], told[-1]
    edges = {"edges_before": int(first[0]), "edges": int(last[0]), "corpus": int(last[1])}
    return {
        "target": name,
        "minutes": minutes,
        **counts,
        **edges,
        "date": time.strftime("%Y-%m-%d"),
    }


def write_page(results: list[dict[str, object]]) -> None:
    """Write ``fuzz.md``."""
    lines = ["# Coverage-guided fuzzing", ""]
    lines += ["| target | minutes | inputs tried | branches reached | corpus | findings | on |"]
    lines += ["| :-- | --: | --: | --: | --: | :-- | :-- |"]
    for one in results:
        found = ", ".join(one["findings"]) or "none"
        lines.append(
            f"| {one['target']} | {one['minutes']:g} | {one['inputs']} | {one['edges']} "
            f"(at the start {one['edges_before']}) | {one['corpus']} | {found} | {one['date']} |"
        )
    lines += ["", (__doc__ or "").split("\n\n", 2)[2].strip(), ""]
    lines += [
        "Runs start from the corpus of earlier ones, so that few new branches mean that there is "
        "little left to reach by such bytes. Branches are counted in all of `s2mam`, most of which "
        "a reader never enters.",
        "",
    ]
    Path(__file__).with_name("fuzz.md").write_text("\n".join(lines), encoding="utf-8")


def main() -> int:
    """Fuzz for the given time and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", choices=TARGETS, required=True)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        fuzz(options.target, options.minutes)
    found = watched(options.target, options.minutes)
    path = Path(__file__).with_name("fuzz.jsonl")
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(found) + "\n")
    write_page([json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()])
    return int(bool(found["findings"]))


if __name__ == "__main__":
    sys.exit(main())
