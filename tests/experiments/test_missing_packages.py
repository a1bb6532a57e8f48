"""Systems that need a package which is not installed are left out, and named."""

from __future__ import annotations

import pytest
from experiment_systems import moons, protocol

from s2mam.exceptions import MissingDependencyError, S2MAMWarning
from s2mam.experiments import CellStore, run_protocol
from s2mam.experiments import systems as known_systems
from s2mam.experiments.cells import plan
from s2mam.experiments.systems import find_system


@pytest.fixture(autouse=True)
def no_torch(monkeypatch):
    found = known_systems.find_spec
    monkeypatch.setattr(
        known_systems, "find_spec", lambda name: None if name == "torch" else found(name)
    )


def test_what_is_lacking_is_known_before_a_fit():
    assert find_system("FlexMatch").lacking("classification") == ["torch"]
    assert find_system("DAN").lacking("regression") == ["torch"]
    assert find_system("LapSVM").lacking("classification") == []
    assert find_system("null").lacking("regression") == []


def test_the_others_run(tmp_path):
    study = protocol("null", "FlexMatch", "DAN", settings=(moons(),), repeats=2)
    with pytest.warns(S2MAMWarning, match="Left out of the study: FlexMatch, DAN cannot run"):
        records = run_protocol(study, CellStore(tmp_path / "cells"))
    assert [record["cell"]["system"] for record in records] == ["null", "null"]
    assert not any("error" in record for record in records)


def test_nothing_left_is_an_error_with_the_command(tmp_path):
    study = protocol("FlexMatch", settings=(moons(),), repeats=1)
    with pytest.raises(MissingDependencyError, match=r"pip install 's2mam\[torch\]'"):
        run_protocol(study, CellStore(tmp_path / "cells"))


def test_cells_of_another_machine_are_kept(tmp_path):
    study = protocol("FlexMatch", settings=(moons(),), repeats=1)
    (work,) = plan(study, {"FlexMatch": find_system("FlexMatch")})
    store = CellStore(tmp_path / "cells")
    store.append({"cell": vars(work.cell), "scores": {"test": 91.0}, "seconds": 1.0})
    (record,) = run_protocol(study, store)
    assert record["scores"] == {"test": 91.0}
