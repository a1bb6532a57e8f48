"""Fits of files that are larger than the memory that the process may have."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from s2mam.exceptions import InvalidInputError
from s2mam.scale import open_rows, scale_options
from s2mam.scale.npy_rows import npy_layout

ROWS, COLUMNS = 2_500_000, 25

# The limit is of address space, so that maps of the file count too.
FIT = """
import json, resource, sys
from pathlib import Path
import numpy as np
from s2mam import S2MAMRegressor
from s2mam.scale import scale_options

rows, labels = sys.argv[1:]
y = np.load(labels)
few = np.random.default_rng(1).normal(size=(60, 3))
S2MAMRegressor(max_iter=2, random_state=0).fit(few, few[:, 0])  # imports what a fit imports
size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
limit = size + 160 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
refused = 0
for read in (np.load, lambda path: np.load(path, mmap_mode="r")):
    try:
        read(rows)
    except (MemoryError, OSError):
        refused += 1
with scale_options(sample_rows=1000):
    model = S2MAMRegressor(max_iter=5, random_state=0).fit(rows, y)
first = next(iter(model.predict(rows)))
print(json.dumps([refused, model.get_support(indices=True).tolist(), len(first)]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits are those of Linux")
def test_a_file_larger_than_the_limit(tmp_path):
    table = np.lib.format.open_memmap(
        tmp_path / "rows.npy", mode="w+", dtype=np.float32, shape=(ROWS, COLUMNS)
    )
    y = np.full(ROWS, np.nan)
    rng = np.random.default_rng(0)
    for start in range(0, ROWS, 100_000):
        block = rng.standard_normal((100_000, COLUMNS), dtype=np.float32)
        table[start : start + 100_000] = block
        y[start : start + 40] = np.sin(2.0 * block[:40, 3]) + block[:40, 7]
    table.flush()
    del table
    np.save(tmp_path / "labels.npy", y)
    assert (tmp_path / "rows.npy").stat().st_size > 230 * 2**20
    done = subprocess.run(
        [sys.executable, "-c", FIT, str(tmp_path / "rows.npy"), str(tmp_path / "labels.npy")],
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    # Neither the array nor a map of the file fits; the fit and the predictions do.
    assert json.loads(done.stdout) == [2, [3, 7], 16_384]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.int16, "U3"])
def test_rows_of_a_file_in_any_order(order, dtype, tmp_path):
    table = np.asarray(np.arange(60).reshape(20, 3).astype(dtype), order=order)
    np.save(tmp_path / "rows.npy", table)
    with scale_options(block_rows=7):
        blocks = [block.table for block in open_rows(tmp_path / "rows.npy").blocks()]
    assert [len(block) for block in blocks] == [7, 7, 6]
    np.testing.assert_array_equal(np.concatenate(blocks), table)


def test_damaged_files_are_told(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, np.zeros((50, 4)))
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InvalidInputError, match=r"ends before row 50.*50 rows"):
        list(open_rows(path).blocks())
    path.write_bytes(b"PK not numbers")
    with pytest.raises(InvalidInputError, match=r"not an \.npy file"):
        npy_layout(path)
    np.save(path, np.array([[None, 1]], dtype=object))
    with pytest.raises(InvalidInputError, match="Python objects"):
        npy_layout(path)
