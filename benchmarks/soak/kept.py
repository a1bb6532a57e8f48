"""What is it that stays? Python's blocks between early and late pieces of work, by their origin.

    python benchmarks/soak/kept.py [--pieces 400] [--seed 0]

The random pieces of work of ``run.py``, with a record of where every block of Python comes from
(``tracemalloc``). After a fifth of the pieces and at the end garbage and caches of a fixed size are
cleared and the blocks are counted, by the line that made them and by the type of the object. A leak
of the package is a line whose count grows with the pieces. Writes ``kept.md`` beside this file.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import tempfile
import time
import tracemalloc
from collections import Counter
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.common.environment import ROOT, run_facts
from benchmarks.soak.figures import figures, fill_the_cache_of_numpy
from benchmarks.soak.work import Worker

#: Lines of the measurement itself are no growth.
_OURSELVES = (tracemalloc.__file__, __file__, str(ROOT / "benchmarks" / "soak" / "figures.py"))


def look(folder: Path, name: str) -> None:
    """Write down blocks by their origin, objects by their type, and the number of all blocks.

    To files: what was seen early would else be among the blocks that are seen late.
    """
    blocks = figures()[2]
    types = Counter(type(thing).__name__ for thing in gc.get_objects())
    (folder / f"{name}.json").write_text(json.dumps([blocks, types]), encoding="utf-8")
    del types
    outside = [tracemalloc.Filter(False, file, all_frames=True) for file in _OURSELVES]
    tracemalloc.take_snapshot().filter_traces(outside).dump(folder / name)


def measure(pieces: int, seed: int) -> tuple[list[str], list[str], float, dict[str, int]]:
    """Work, and tell what stayed: lines of the source, types, blocks, and what was done."""
    worker = Worker(seed)
    worker.warm_up()
    fill_the_cache_of_numpy()
    tracemalloc.start(8)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for _ in range(pieces // 5):
            worker.step()
        look(folder, "early")  # what it needs itself
        look(folder, "early")
        for _ in range(pieces - pieces // 5):
            worker.step()
        look(folder, "late")
        early, late = (tracemalloc.Snapshot.load(folder / name) for name in ("early", "late"))
        (before, known), (after, found) = (
            json.loads((folder / f"{name}.json").read_text()) for name in ("early", "late")
        )
    grown = [one for one in late.compare_to(early, "traceback") if one.count_diff > 0]
    grown.sort(key=lambda one: -one.count_diff)
    places = [
        f"| {one.count_diff:+d} | {one.size_diff:+d} | {origin(one.traceback)} |" for one in grown
    ]
    growth = {name: count - known.get(name, 0) for name, count in found.items()}
    types = [
        f"| {growth[name]:+d} | `{name}` |"
        for name in sorted(growth, key=lambda name: -growth[name])
        if growth[name] > 0
    ]
    return places, types, after - before, worker.counts


def origin(traceback: tracemalloc.Traceback) -> str:
    """The line that made a block, and the nearest line of this package above it."""
    frames = [(frame.filename, frame.lineno) for frame in reversed(list(traceback))]
    ours = next((frame for frame in frames if "s2mam" in Path(frame[0]).parts), None)
    told = [f"`{Path(name).name}:{line}`" for name, line in (frames[0], ours or frames[0])]
    return " from ".join(dict.fromkeys(told))


def main() -> int:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pieces", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("kept.md"))
    options = parser.parse_args()
    facts = run_facts("kept", __doc__ or "")
    began = time.monotonic()
    places, types, blocks, counts = measure(options.pieces, options.seed)
    minutes = (time.monotonic() - began) / 60.0
    done = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    late = options.pieces - options.pieces // 5
    lines = [
        "# What stays after a fit",
        "",
        f"{options.pieces} pieces of work ({done}) in {minutes:.0f} minutes, seed {options.seed}. "
        f"Over the last {late} of them Python's blocks changed by {blocks:+.0f}.",
        "",
        "| blocks | bytes | made by |",
        "| --: | --: | :-- |",
        *(places or ["| 0 | 0 | none |"]),
        "",
        "| objects | type |",
        "| --: | :-- |",
        *(types or ["| 0 | none |"]),
        "",
        (__doc__ or "").split("\n\n")[-1].strip(),
        "",
        f"Commit {facts['commit']}, source {facts['source']}; {facts['machine']}.",
    ]
    page = "\n".join(lines) + "\n"
    options.output.write_text(page, encoding="utf-8")
    print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
