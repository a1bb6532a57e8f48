from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pytest
from experiment_systems import (
    BROKEN,
    FAILING,
    INFINITE,
    NEAREST,
    SLOW,
    SPINNING,
    friedman,
    moons,
    protocol,
)

from s2mam import PAPER
from s2mam.baselines import all_baselines
from s2mam.exceptions import InvalidInputError
from s2mam.experiments import CellStore, Protocol, run_protocol
from s2mam.experiments.cells import fit_problem, plan
from s2mam.experiments.problem import draw_problem, draw_seeds
from s2mam.experiments.report import run_study
from s2mam.experiments.studies import make_protocol, shorten
from s2mam.experiments.systems import default_systems, find_system

HERE = Path(__file__).parent


def outcome(records):
    """What must not depend on how a run went."""
    return [
        {key: record.get(key) for key in ("cell", "scores", "seed", "chosen", "error")}
        for record in records
    ]


def test_cells_do_not_depend_on_the_number_of_jobs(tmp_path):
    study = protocol("null", NEAREST, settings=(moons(), friedman()))
    alone = run_protocol(study, CellStore(tmp_path / "a"))
    many = run_protocol(study, CellStore(tmp_path / "b"), n_jobs=2)
    with joblib.parallel_config(backend="threading"):
        threads = run_protocol(study, CellStore(tmp_path / "c"), n_jobs=3)
    assert len(alone) == 12
    assert outcome(alone) == outcome(many) == outcome(threads)


def test_a_second_run_computes_only_what_is_missing(tmp_path):
    store = CellStore(tmp_path / "cells.jsonl")
    study = protocol("null", NEAREST)
    run_protocol(study, store)
    lines = store.path.read_bytes()
    run_protocol(study, store)
    assert store.path.read_bytes() == lines
    more = run_protocol(replace(study, repeats=4), store)
    assert store.path.read_bytes().startswith(lines)
    assert len(store.path.read_text().splitlines()) == len(more) == 16
    changed = run_protocol(replace(study, seed=9), store)
    assert len(store.records()) == 28
    assert outcome(changed) != outcome(more)[:12]


def test_a_torn_line_is_computed_again(tmp_path):
    store = CellStore(tmp_path / "cells.jsonl")
    study = protocol("null", NEAREST)
    whole = run_protocol(study, store)
    content = store.path.read_bytes()
    store.path.write_bytes(content[:-40])
    assert len(store.records()) == 11
    assert outcome(run_protocol(study, store)) == outcome(whole)
    assert len(store.records()) == 12


def test_a_killed_run_goes_on_to_the_same_table(tmp_path):
    path = tmp_path / "try.jsonl"
    program = f"import experiment_systems as e; e.killed_run({str(path)!r})"
    environment = {**os.environ, "PYTHONPATH": str(HERE), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen([sys.executable, "-c", program], env=environment)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if path.exists() and path.read_bytes().count(b"\n") >= 5:
            break
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    before = CellStore(path).records()
    assert 5 <= len(before) < 80
    study = protocol("null", SLOW, repeats=8)
    after = run_study(study, tmp_path).lines
    kept = CellStore(path).records()
    assert {cell: kept[cell] for cell in before} == before
    fresh = run_study(study, tmp_path / "fresh").lines
    assert [line.scores for line in after] == [line.scores for line in fresh]


def test_a_failing_system_does_not_end_the_run(tmp_path):
    study = protocol(FAILING, NEAREST, repeats=1)
    store = CellStore(tmp_path / "cells.jsonl")
    failed, good = run_protocol(study, store)[:2]
    assert failed["error"] == "ValueError: no such luck"
    assert failed["scores"] == {}
    assert good["scores"]["test"] > 50
    run_protocol(study, store)
    assert len(store.path.read_text().splitlines()) == 4
    run_protocol(study, store, retry_failed=True)
    assert len(store.path.read_text().splitlines()) == 6


def test_a_defect_ends_the_run(tmp_path):
    with pytest.raises(KeyError, match="no such luck"):
        run_protocol(protocol(BROKEN), CellStore(tmp_path / "cells.jsonl"))


def test_a_cell_may_not_run_for_ever(tmp_path):
    study = protocol(SPINNING, repeats=1, settings=(moons(),), time_limit=0.2)
    began = time.process_time()
    (record,) = run_protocol(study, CellStore(tmp_path / "cells.jsonl"))
    assert record["error"] == "CellTimeoutError: stopped after 0.2 CPU seconds"
    assert time.process_time() - began < 5


def test_predictions_that_are_not_finite_are_failures(tmp_path):
    study = protocol(INFINITE, repeats=1, settings=(friedman(),))
    (record,) = run_protocol(study, CellStore(tmp_path / "cells.jsonl"))
    assert record["error"] == "FloatingPointError: predictions are not finite"


def test_scores_are_those_of_the_predictions(tmp_path):
    study = protocol("null", NEAREST, settings=(moons(n_noisy=2), friedman()), repeats=1)
    records = run_protocol(study, CellStore(tmp_path / "cells.jsonl"))
    works = plan(study, {name: find_system(name) for name in study.systems})
    for work, record in zip(works, records, strict=True):
        seeds = draw_seeds(study.seed, 0)
        problem = draw_problem(work.setting, seeds)
        fitted = fit_problem(work, problem, seeds.fit)
        if work.setting.task == "classification":
            assert record["scores"]["test"] == pytest.approx(
                100 * np.mean(fitted.test == problem.y_test)
            )
        else:
            assert record["scores"]["test"] == pytest.approx(
                np.mean((fitted.test - problem.y_test) ** 2)
            )
        if work.cell.system == "nearest":
            p = problem.informative.sum()
            assert record["scores"]["recall"] == pytest.approx(1 / p)
            assert record["scores"]["precision"] == 1.0
            assert record["chosen"]["by"] == "leave-one-out"
        assert record["version"]


@pytest.mark.parametrize(
    ("name", "make"), [("nearest", moons), ("nearest", friedman), ("S2MAM", moons)]
)
def test_garbage_in_hidden_and_test_labels_changes_no_prediction(name, make):
    study = protocol(NEAREST, settings=(make(),))
    setting, seeds = study.settings[0], draw_seeds(0, 0)
    (work,) = plan(replace(study, systems=(name,), repeats=1), {name: find_system(name)})
    problem = draw_problem(setting, seeds)
    rng = np.random.default_rng(1)
    hidden = problem.hidden
    truth = problem.truth.copy()
    truth[hidden] = rng.permutation(truth[hidden])[::-1] * 3
    garbage = replace(problem, truth=truth, y_test=rng.permutation(problem.y_test) * 7)
    honest, fooled = (fit_problem(work, one, seeds.fit) for one in (problem, garbage))
    np.testing.assert_array_equal(honest.train, fooled.train)
    np.testing.assert_array_equal(honest.test, fooled.test)
    assert honest.chosen == fooled.chosen


def test_test_rows_play_no_part_in_the_fit():
    study = protocol(NEAREST, settings=(friedman(),), repeats=1)
    (work,) = plan(study, {NEAREST.name: NEAREST})
    seeds = draw_seeds(0, 0)
    problem = draw_problem(work.setting, seeds)
    other = replace(problem, X_test=problem.X_test[:5] * [[1e3]], y_test=problem.y_test[:5])
    first, second = (fit_problem(work, one, seeds.fit) for one in (problem, other))
    np.testing.assert_array_equal(first.train, second.train)
    assert first.chosen == second.chosen


def test_the_systems_of_the_package_are_all_there():
    names = default_systems("classification")
    assert names[:5] == ("null", "S2MAM (oracle mask)", "S2MAM", "S2MAM (PAPER)", "base f_z")
    assert set(all_baselines("classification")) <= set(names)
    literal = find_system("S2MAM (PAPER, ADMM)").build(
        "regression", seed=1, scale="default", budget=2
    )
    assert {k: literal.get_params()[k] for k in PAPER} == PAPER
    assert literal.n_features_to_select == 2


def test_the_oracle_mask_is_left_out_where_nothing_is_known(tmp_path):
    arrays = {"X": np.random.default_rng(0).normal(size=(60, 2)), "y": np.tile([0, 1], 30)}
    (tmp_path / "mine").mkdir()
    np.savez(tmp_path / "mine" / "data.npz", **arrays)
    setting = replace(moons(), source=replace(moons().source, kind="dataset", name="mine", args={}))
    study = protocol("null", "S2MAM (oracle mask)", settings=(setting,), repeats=1)
    records = run_protocol(study, CellStore(tmp_path / "cells"), data_home=tmp_path)
    assert [record["cell"]["system"] for record in records] == ["null"]


def test_the_oracle_sees_the_informative_columns_alone():
    assert find_system("S2MAM (oracle mask)").informative_only
    oracle = replace(NEAREST, informative_only=True)
    study = protocol(oracle, settings=(moons(n_noisy=1),), repeats=1)
    (work,) = plan(study, {oracle.name: oracle})
    seeds = draw_seeds(0, 0)
    problem = draw_problem(work.setting, seeds)
    changed = replace(problem, X=problem.X.copy(), X_test=problem.X_test.copy())
    changed.X[:, 2] = 0.0
    changed.X_test[:, 2] = 0.0
    first, second = (fit_problem(work, one, seeds.fit) for one in (problem, changed))
    np.testing.assert_array_equal(first.test, second.test)


def test_a_noisy_column_spoils_lapsvm_where_columns_keep_their_units(tmp_path):
    study = shorten(make_protocol("figure1"), systems=["LapSVM (moons)"], repeats=5)
    records = run_protocol(study, CellStore(tmp_path / "cells.jsonl"))
    scores = {setting.name: [] for setting in study.settings}
    for record in records:
        scores[record["cell"]["setting"]].append(record["scores"]["test"])
    assert np.mean(scores["clean"]) > 90
    assert np.mean(scores["with X_n"]) < 60


def test_an_unknown_system_is_named(tmp_path):
    with pytest.raises(InvalidInputError, match="Unknown system 'SVM'; known are: null; "):
        run_protocol(protocol("SVM"), CellStore(tmp_path / "cells"))


def test_another_file_is_not_taken_for_cells(tmp_path):
    path = tmp_path / "cells"
    path.write_text('{"a": 1}\n')
    with pytest.raises(InvalidInputError, match="not a file of cells"):
        run_protocol(protocol("null"), CellStore(path))


def test_a_study_leaves_its_files(tmp_path):
    study = run_study(protocol("null", NEAREST), tmp_path / "out")
    names = sorted(path.name for path in study.paths)
    assert names == ["try.csv", "try.json", "try.jsonl", "try.md"]
    assert (tmp_path / "out" / "try.md").read_text() == study.text


def test_cells_of_other_code_are_pointed_out(tmp_path):
    study = protocol("null", repeats=2, settings=(moons(),))
    first = run_study(study, tmp_path)
    assert "different states of the code" not in first.text
    path = tmp_path / "try.jsonl"
    lines = path.read_text().splitlines()
    record = json.loads(lines[0])
    path.write_text(json.dumps({**record, "code": "0000aaaa"}) + "\n" + lines[1] + "\n")
    mixed = run_study(study, tmp_path)
    assert "different states of the code" in mixed.text
    assert f"{record['version']} (0000aaaa): 1 cells" in mixed.text


def test_systems_run_one_after_the_other_share_a_table(tmp_path):
    whole = protocol("null", NEAREST, repeats=2)
    together = run_study(whole, tmp_path / "together")
    for part in (protocol(NEAREST, repeats=2), protocol("null", repeats=1), protocol("null")):
        pieces = run_study(replace(part, repeats=min(part.repeats, 2)), tmp_path, whole=whole)
    assert [(line.setting, line.system, line.scores) for line in pieces.lines] == [
        (line.setting, line.system, line.scores) for line in together.lines
    ]
    assert Protocol.from_json((tmp_path / "try.json").read_text()) == whole


def test_a_system_outside_the_study_gets_its_row_and_settings_are_not_lost(tmp_path):
    whole = protocol("null", repeats=1)
    run_study(whole, tmp_path, whole=whole)
    some = replace(protocol(NEAREST, repeats=1), settings=whole.settings[:1])
    lines = run_study(some, tmp_path, whole=whole).lines
    assert [(line.setting, line.system) for line in lines][:2] == [
        (whole.settings[0].name, "null"),
        (whole.settings[0].name, NEAREST.name),
    ]
    assert {line.setting for line in lines} == {setting.name for setting in whole.settings}


def test_rerun_computes_cells_of_other_code_again_and_only_these(tmp_path):
    study = protocol("null", NEAREST, repeats=2, settings=(moons(),))
    run_study(study, tmp_path)
    path = tmp_path / "try.jsonl"
    old = [{**json.loads(line), "code": "0000aaaa"} for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(record) + "\n" for record in old))
    text = run_study(study, tmp_path, rerun=[NEAREST.name]).text
    assert "(0000aaaa): 2 cells of null" in text
    assert len(path.read_text().splitlines()) == 6
    run_study(study, tmp_path, rerun=[NEAREST.name])
    assert len(path.read_text().splitlines()) == 6


def test_a_table_without_its_cells_is_added_to(tmp_path):
    whole = protocol("null", NEAREST, repeats=2)
    before = run_study(protocol("null", repeats=2), tmp_path, whole=whole)
    (tmp_path / "try.jsonl").unlink()
    after = run_study(protocol(NEAREST, repeats=1), tmp_path, whole=whole)
    assert [line.system for line in after.lines][:2] == ["null", NEAREST.name]
    for old in before.lines:
        (new,) = (n for n in after.lines if (n.setting, n.system) == (old.setting, "null"))
        assert new.scores["test"].mean == pytest.approx(old.scores["test"].mean, rel=1e-5)
        assert new.scores["test"].count == 2
    assert "in an earlier run, whose cells are not at hand" in after.text
    again = run_study(protocol("null", repeats=1), tmp_path, whole=whole)
    assert again.lines[0].scores["test"].count == 1


def test_lines_of_settings_that_have_changed_are_not_kept(tmp_path):
    whole = protocol("null", repeats=2)
    run_study(whole, tmp_path)
    (tmp_path / "try.jsonl").unlink()
    lines = run_study(replace(protocol(NEAREST, repeats=1), seed=5), tmp_path).lines
    assert {line.system for line in lines} == {NEAREST.name}


def test_another_table_is_not_taken_for_one_of_the_study(tmp_path):
    run_study(protocol("null", repeats=1), tmp_path)
    (tmp_path / "try.csv").write_text("setting,system\nmoons,null\n")
    with pytest.raises(InvalidInputError, match="not a table of this study"):
        run_study(protocol("null", repeats=1), tmp_path)


def test_rerun_of_a_system_that_is_not_run_is_an_error(tmp_path):
    with pytest.raises(InvalidInputError, match="not run: S2MAM"):
        run_study(protocol("null"), tmp_path, rerun=["S2MAM"])


def test_importing_the_studies_is_light():
    program = (
        "import sys, s2mam.experiments.studies, s2mam.cli.paper;"
        "print(sorted({'torch', 'matplotlib', 'dask'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout.strip() == "[]", run.stderr
