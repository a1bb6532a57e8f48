"""CPU minutes of the networks are sums over the committed studies."""

from __future__ import annotations

from benchmarks.common.store import ResultStore
from benchmarks.deep.minutes import (
    ROOT,
    Share,
    committed,
    networks,
    of_cells,
    of_regression,
    table,
)


def test_the_networks_are_those_that_need_torch():
    names = networks()
    assert {"SSNP", "FlexMatch", "SemiReward", "DAN", "SSDKL", "VAE", "AVAE", "PLF", "M2"} <= names
    assert "LapSVM" not in names


def test_a_cell_in_two_files_counts_once(tmp_path):
    for folder, systems in (("one", ("SSNP", "LapSVM")), ("two", ("SSNP", "DAN"))):
        store = ResultStore(tmp_path / folder / "table2.jsonl")
        for repeat, system in enumerate(systems):
            cell = {"setting": "a", "system": system, "repeat": repeat, "mark": "m"}
            store.append({"cell": cell, "seconds": 60.0 * (repeat + 1)})
    shares = of_cells(sorted(tmp_path.glob("*/table2.jsonl")), {"SSNP", "DAN"})
    assert shares == [Share("SSNP", "table2", 60.0, 1), Share("DAN", "table2", 120.0, 1)]
    assert "| DAN | 2.0 (1) | 2.0 (1) |" in table(shares)


def test_cells_of_the_regression_study_are_added(tmp_path):
    store = ResultStore(tmp_path / "results.jsonl")
    for seed, (method, cpu) in enumerate([("vae", 30.0), ("vae", 60.0), ("dkl", 6.0), ("null", 1)]):
        store.append({"cell": {"method": method, "seed": seed}, "run": "x", "cpu": cpu})
    shares = of_regression(store.path, {"VAE", "SSNP"})
    text = table([*shares, Share("SSNP", "table2", 60.0, 1)])
    assert "| VAE | 1.5 (2) | – | 1.5 (2) |" in text
    assert "| SSNP | – | 1.0 (1) | 1.0 (1) |" in text
    assert "| SSDKL without unlabelled rows | 0.1 (1) |" in text


def test_the_committed_page_is_up_to_date():
    page = (ROOT / "benchmarks" / "deep" / "minutes.md").read_text(encoding="utf-8")
    assert table(committed()) in page
