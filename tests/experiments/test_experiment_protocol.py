from __future__ import annotations

from dataclasses import replace

import pytest
from experiment_systems import friedman, moons, protocol

from s2mam.exceptions import InvalidInputError
from s2mam.experiments import Corruption, Labels, Protocol
from s2mam.experiments.studies import PROTOCOLS, make_protocol, shorten, unscaled


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_study_survives_json(name):
    study = make_protocol(name)
    assert study.name == name
    assert Protocol.from_json(study.to_json()) == study


@pytest.mark.parametrize(
    "text", ["", "[1]", "{}", '{"settings": [{}]}', '{"settings": [], "a": 1}']
)
def test_other_json_is_refused(text):
    with pytest.raises(InvalidInputError, match="not the JSON of a protocol"):
        Protocol.from_json(text)


def test_the_mark_follows_what_decides_about_a_cell():
    study = protocol("null")
    setting = study.settings[0]
    same = replace(study, repeats=50, systems=("S2MAM",), title="other", notes=("other",))
    assert same.mark(setting) == study.mark(setting)
    noisy = replace(setting, corruption=Corruption(0, 1))
    marks = {study.mark(setting), study.mark(noisy), study.mark(replace(setting, scale="rank"))}
    for change in ({"seed": 1}, {"budget": 3}, {"tuning": "none"}, {"standardize_target": False}):
        marks.add(replace(study, **change).mark(setting))
    assert len(marks) == 7


def test_bad_protocols_are_refused():
    with pytest.raises(InvalidInputError, match="exactly one"):
        Labels(per_class=1, fraction=0.5)
    with pytest.raises(InvalidInputError, match="metric='accuracy' does not go with regression"):
        friedman(metric="accuracy")
    with pytest.raises(InvalidInputError, match="same name"):
        protocol("null", settings=(moons(), moons()))
    with pytest.raises(InvalidInputError, match="repeats=0"):
        protocol("null", repeats=0)
    with pytest.raises(InvalidInputError, match="tuning"):
        protocol("null", tuning="test")
    with pytest.raises(InvalidInputError, match="there are table2, adni"):
        make_protocol("table3")


def test_table2_has_both_readings_and_all_corruptions():
    study = make_protocol("table2")
    assert study.repeats == 100
    assert {setting.name for setting in study.settings} == {
        f"{reading}_pu{pu}_pn{pn}"
        for reading in ("text", "code")
        for pu in (0, 10)
        for pn in (0, 10)
    }


def test_a_study_on_the_columns_as_they_are_has_cells_of_its_own():
    study = make_protocol("table2")
    raw = unscaled(study)
    assert [setting.scale for setting in raw.settings] == [None] * 8
    assert raw.name == "table2_raw"
    assert raw.claims == study.claims
    assert not {raw.mark(s) for s in raw.settings} & {study.mark(s) for s in study.settings}
    assert any("scales its columns" in note for note in study.notes)
    assert not any("scales its columns" in note for note in raw.notes)
    moons = unscaled(make_protocol("figure1"))
    assert "LapSVM (moons)" in moons.systems
    assert not any("scaled)" in text for text in (*moons.systems, *moons.notes))


def test_a_quick_study_has_the_reference_lines():
    for name in PROTOCOLS:
        short = shorten(make_protocol(name), quick=True)
        assert {"null", "S2MAM (oracle mask)"} < set(short.systems)


def test_shorten_by_pattern_systems_and_repeats():
    study = shorten(make_protocol("table2"), systems=["null"], settings="code_*", repeats=7)
    assert [setting.name[:5] for setting in study.settings] == ["code_"] * 4
    assert study.systems == ("null",)
    assert study.repeats == 7
    assert shorten(make_protocol("uci"), quick=True, repeats=3).repeats == 3
    with pytest.raises(InvalidInputError, match="No setting matches 'x\\*'; there are: text_pu0"):
        shorten(make_protocol("table2"), settings="x*")
