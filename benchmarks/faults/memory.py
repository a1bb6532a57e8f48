"""Is the memory that a graph announces the memory that it takes?

    python benchmarks/faults/memory.py

Builds graphs of twelve sizes, each in a fresh process, and compares the estimate that the refusal
of too large graphs rests on (``s2mam.graphs.memory.estimate_bytes``) with the peak of the resident
memory. Linux only: the peak is reset through /proc. Writes ``memory.md`` beside this file; exits
with 1 when an estimate is more than 20 % off.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.common.environment import run_facts, single_thread

#: Kind, rows, columns.
CASES = [
    ("dense", 2000, 10),
    ("dense", 2000, 300),
    ("dense", 3000, 20),
    ("dense", 4000, 10),
    ("dense", 6000, 10),
    ("dense", 8000, 50),
    ("neighbors", 20_000, 10),
    ("neighbors", 50_000, 5),
    ("neighbors", 50_000, 20),
    ("neighbors", 100_000, 10),
    ("neighbors", 20_000, 100),
    ("neighbors", 8000, 300),
]
_LIMIT = 0.2


def _resident(field: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {field} in /proc/self/status")


def measure(kind: str, n: int, p: int) -> None:
    """Build one graph in this process and print estimate and peak."""
    import numpy as np

    from s2mam.graphs import build_graph
    from s2mam.graphs.memory import estimate_bytes

    rng = np.random.default_rng(0)
    build_graph(rng.normal(size=(60, p)), kind=kind)  # what is loaded on first use
    Z = rng.normal(size=(n, p))
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = _resident("VmRSS")
    graph = build_graph(Z, kind=kind, memory_limit=10**12)
    peak = _resident("VmHWM") - before
    assert graph.n == n
    print(json.dumps({"estimate": estimate_bytes(n, kind, n_columns=p), "peak": peak}))


def main() -> int:
    """Measure all cases and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        kind, n, p = options.measure
        measure(kind, int(n), int(p))
        return 0
    lines = [
        "# Memory of graphs: announced and taken",
        "",
        "| graph | rows | columns | estimate MB | peak MB | estimate / peak |",
        "| :-- | --: | --: | --: | --: | --: |",
    ]
    worst = 0.0
    for kind, n, p in CASES:
        found = _child(kind, n, p)
        ratio = found["estimate"] / found["peak"]
        worst = max(worst, abs(ratio - 1.0))
        lines.append(
            f"| {kind} | {n} | {p} | {found['estimate'] / 1e6:.0f} | {found['peak'] / 1e6:.0f} "
            f"| {ratio:.2f} |"
        )
        print(lines[-1], flush=True)
    facts = run_facts("memory", __doc__ or "")
    lines += ["", f"Farthest off: {100 * worst:.0f} %. Goal: {100 * _LIMIT:.0f} %.", ""]
    lines += [(__doc__ or "").split("\n\n")[-1].strip(), ""]
    lines.append(f"Commit {facts['commit']}, source {facts['source']}; {facts['machine']}.")
    page = Path(__file__).with_name("memory.md")
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return int(worst > _LIMIT)


def _child(kind: str, n: int, p: int) -> dict[str, int]:
    command = [sys.executable, __file__, "--measure", kind, str(n), str(p)]
    environment = {**os.environ, **single_thread()}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    sys.exit(main())
