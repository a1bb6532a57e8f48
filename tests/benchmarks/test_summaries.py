"""Tables compare like with like."""

from __future__ import annotations

from benchmarks.few_labels.summary import summarize
from benchmarks.selection.summary import summarize as summarize_selection
from benchmarks.unlabeled.summary import paired_gains
from benchmarks.unseen.summary import summarize as summarize_unseen
from benchmarks.unseen.tables import tables


def row(method, seed, test, data="iris", columns="clean"):
    cell = {"data": data, "columns": columns, "method": method, "seed": seed}
    return {"cell": cell, "run": "r", "cpu": 0.1, "test": test}


def line(text, method):
    """Fields of the first table line of a method."""
    found = next(entry for entry in text.splitlines() if entry.startswith(f"| {method} |"))
    return [field.strip() for field in found.strip("|").split("|")]


def test_wins_use_the_seeds_that_both_have_and_rare_methods_have_no_rank():
    rows = [row("s2mam", 0, 0.8), *(row("s2mam", seed, 0.2) for seed in (1, 2, 3))]
    rows += [row("svm", seed, 0.7) for seed in range(4)] + [row("ebm", 0, 0.75)]
    text = summarize(rows)
    # Over all seeds svm is better; on the one seed that ebm has, s2mam is.
    assert line(text, "svm")[1] == "1.00"
    assert line(text, "s2mam")[1] == "2.00"
    assert line(text, "svm")[7] == "0 / 0 / 1"
    assert line(text, "ebm")[1] == "–"
    assert line(text, "ebm")[7] == "1 / 0 / 0"


def test_ranks_use_the_seeds_that_all_have():
    rows = [row("s2mam", seed, 0.8 if seed else 0.0) for seed in range(10)]
    rows += [row("svm", seed, 0.7 if seed else 9.9) for seed in range(10)]
    rows += [row("gp", seed, 0.9) for seed in range(1, 10)]
    rows += [row("lasso", seed, 0.95) for seed in range(1, 9)]
    text = summarize(rows)
    ranks = {method: line(text, method)[1] for method in ("gp", "s2mam", "svm", "lasso")}
    assert ranks == {"gp": "1.00", "s2mam": "2.00", "svm": "3.00", "lasso": "–"}
    assert "over the 1 sets and 9 seeds" in text


def test_failures_are_counted_and_leave_the_means_alone():
    failed = {"cell": row("svm", 1, 0)["cell"], "run": "r", "failure": "time limit"}
    text = summarize([row("svm", 0, 0.7), failed])
    assert line(text, "svm")[2] == "0.700"
    assert line(text, "svm")[-1] == "1 (1 failed)"


def test_gains_are_paired_by_seed():
    def of(seed, size, test):
        return {"cell": {"data": "d", "u": size, "method": "m", "seed": seed}, "test": test}

    rows = [of(0, "0", 0.5), of(0, "all", 0.75), of(1, "0", 0.5), of(2, "all", 0.0)]
    assert paired_gains(rows, "0", "all") == [0.25]


def test_selection_scores_stand_between_null_and_oracle():
    def of(method, test, **more):
        cell = {"problem": "additive_50", "reading": "sd", "method": method, "seed": 0}
        return {"cell": cell, "cpu": 1.0, "test": test, **more}

    rows = [of("oracle", 1.0), of("null", 51.0), of("s2mam", 26.0, top=0.5, prec=1.0, rec=0.25)]
    fields = line(summarize_selection(rows), "s2mam")
    assert fields[1:3] == ["1.000", "0.250"]
    assert fields[8:11] == ["26.00", "0.51", "0.50"]
    assert line(summarize_selection(rows), "authors' code, C given")[6] == "6.182 ± 13.071"


def test_the_tables_without_choices_are_ranked_apart():
    looked_at, other = list(tables())[:2]
    rows = []
    for columns in ("clean", "junk"):
        rows += [row("s2mam", 0, 0.9, data=looked_at, columns=columns)]
        rows += [row("svm", 0, 0.5, data=looked_at, columns=columns)]
        rows += [row("s2mam", 0, 0.6, data=other, columns=columns)]
        rows += [row("svm", 0, 0.8, data=other, columns=columns)]
    _, half = summarize_unseen(rows).split("### The 1 tables that no choice was made on")
    assert line(half, "s2mam") == ["s2mam", "2.00", "0.600", "2.00", "0.600"]
    assert line(half, "svm") == ["svm", "1.00", "0.800", "1.00", "0.800"]


def test_gains_by_unlabelled_rows_are_paired_by_seed_and_table():
    name = "keel/vehicle"
    rows = [row("s2mam", seed, 0.7 + seed / 100, data=name) for seed in range(3)]
    rows += [row("s2mam_labels", seed, 0.72, data=name) for seed in range(2)]
    rows += [row("svm", seed, 0.6, data=name) for seed in range(3)]
    text = summarize_unseen(rows)
    assert "-1.5 points of accuracy on average over 1 tables" in text
    assert "keel/vehicle -1.5 ± 0.5" in text
    assert "s2mam_labels |" not in text  # it is no competitor
    assert "| keel/vehicle | 0.710 ± 0.010 | svm 0.600 ± 0.000 | – | – |" in text
