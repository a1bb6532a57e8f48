"""Studies train networks on the device they are told, and nothing else there."""

from __future__ import annotations

import pytest
from experiment_systems import moons, protocol

from s2mam.exceptions import InvalidInputError
from s2mam.experiments import CellStore, run_protocol
from s2mam.experiments.report import run_study
from s2mam.experiments.systems import System, find_system

BRIEF = System(
    "brief network",
    {"classification": "s2mam.baselines.flexmatch:FlexMatchClassifier"},
    settings={"max_iter": 5},
    grid={},
)
PLAIN = {"seed": 0, "scale": "default", "budget": None}


@pytest.mark.parametrize("name", ["DAN", "SSNP", "FlexMatch", "SemiReward"])
def test_networks_are_told_the_device(name):
    system = find_system(name)
    assert system.build("classification", **PLAIN, device="cuda").device == "cuda"
    assert system.build("classification", **PLAIN).device == "cpu"


@pytest.mark.parametrize("name", ["S2MAM", "LapSVM", "null"])
def test_others_are_not(name):
    system = find_system(name)
    told = system.build("classification", **PLAIN, device="cuda")
    assert told.get_params() == system.build("classification", **PLAIN).get_params()


@pytest.mark.torch
def test_a_device_that_is_not_there_ends_the_study_before_it_begins(tmp_path):
    torch = pytest.importorskip("torch")
    gone = f"cuda:{torch.cuda.device_count()}"
    store = CellStore(tmp_path / "cells")
    with pytest.raises(InvalidInputError, match="is not there"):
        run_protocol(protocol("null", BRIEF, settings=(moons(),)), store, device=gone)
    assert not store.records()


@pytest.mark.torch
def test_cells_and_tables_say_where_a_network_was_trained(tmp_path):
    pytest.importorskip("torch")
    study = protocol("null", BRIEF, settings=(moons(),), repeats=1)
    text = run_study(study, tmp_path, device="auto").text
    devices = {
        record["cell"]["system"]: record.get("device")
        for record in CellStore(tmp_path / f"{study.name}.jsonl").records().values()
    }
    assert devices == {"null": None, BRIEF.name: "auto"}
    assert " on auto: 1 cells of brief network" in text
