"""CPU minutes of the networks are sums over the committed studies."""

from __future__ import annotations

from benchmarks.common.store import ResultStore
from benchmarks.deep.minutes import ROOT, Share, networks, of_regression, of_tables, table

HEADER = "setting,system,metric,test_mean,seconds,cells,failed\n"


def test_the_networks_are_those_that_need_torch():
    names = networks()
    assert {"SSNP", "FlexMatch", "SemiReward", "DAN", "SSDKL", "VAE", "AVAE", "PLF", "M2"} <= names
    assert "LapSVM" not in names


def test_fits_of_tables_count_with_failed_ones(tmp_path):
    lines = "a,SSNP,accuracy,60,12,9,1\nb,SSNP,accuracy,60,6,10,0\na,LapSVM,accuracy,60,9,9,0\n"
    (tmp_path / "table2.csv").write_text(HEADER + lines + "b,DAN,accuracy,,,0,0\n")
    (tmp_path / "convergence.csv").write_text("iteration,norm\n1,2.0\n")
    shares = of_tables(tmp_path, {"SSNP", "DAN"})
    assert shares == [Share("SSNP", "table2", 120.0, 10), Share("SSNP", "table2", 60.0, 10)]
    assert "| SSNP | 3.0 (20) | 3.0 (20) |" in table(shares)


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
    names = networks()
    regression = ROOT / "benchmarks" / "deep_regression" / "results.jsonl"
    shares = of_tables(ROOT / "benchmarks" / "paper", names) + of_regression(regression, names)
    page = (ROOT / "benchmarks" / "deep" / "minutes.md").read_text(encoding="utf-8")
    assert table(shares) in page
