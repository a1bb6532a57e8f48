"""Files that were cut, flipped or forged: refused as a whole, or harmless.

The format itself is attacked in tests/persistence/test_damaged_files.py: zip bombs, names that lead
outside, pickles, huge headers. Here whole models are.
"""

from __future__ import annotations

import zipfile

import numpy as np
import pytest
from golden_models import FOLDER, table_of
from trust_models import decide
from wrong_states import wrong_states

import s2mam
from s2mam.exceptions import ModelFileError
from s2mam.persistence import read_state, write_state

KINDS = ("regressor", "classifier-of-three", "paper", "manifold-classifier")
ROOTS = ("parameters", "learned", "model")


def golden(name):
    return max(FOLDER.glob(f"*/{name}.s2mam"))


@pytest.fixture
def attacked(tmp_path):
    return tmp_path / "attacked.s2mam"


def test_a_model_cut_at_every_byte_is_refused(attacked):
    raw = golden("manifold-regressor").read_bytes()
    for cut in range(len(raw)):
        attacked.write_bytes(raw[:cut])
        with pytest.raises(ModelFileError):
            s2mam.load(attacked)


@pytest.mark.parametrize("bits", [0x01, 0x80, 0xFF])
@pytest.mark.parametrize("name", KINDS)
def test_flipped_bytes_are_refused_or_mean_nothing(attacked, name, bits):
    path = golden(name)
    raw, table = path.read_bytes(), table_of(name, 1, 4)
    expected = decide(s2mam.load(path), table)
    harmless = 0
    places = np.random.default_rng(bits).permutation(len(raw))[:60]
    for place in places:
        attacked.write_bytes(raw[:place] + bytes([raw[place] ^ bits]) + raw[place + 1 :])
        try:
            model = s2mam.load(attacked)
        except ModelFileError:
            continue
        harmless += 1
        np.testing.assert_array_equal(decide(model, table), expected)
    assert harmless < len(places) / 4  # dates and attributes in the directory of the zip


def _hold(attacked, name, chosen):
    """Load forged states: each is refused, or is a model that answers."""
    kind, state = read_state(golden(name))
    table = table_of(name, 1, 4)
    refused, odd = 0, []
    for number, (what, forged) in enumerate(wrong_states(state, ROOTS)):
        if not chosen(number):
            continue
        write_state(attacked, kind, forged)
        try:
            model = s2mam.load(attacked)
        except ModelFileError:
            refused += 1
            continue
        try:
            assert np.isfinite(decide(model, table)).all()
            assert len(model.predict(table)) == 4
            assert model.contributions(table).shape[:2] == table.shape
            assert model.transform(table).shape[0] == 4
        except Exception as error:
            odd.append(f"{what}: {type(error).__name__}: {error}")
    assert not odd, "\n".join(odd)
    return refused


@pytest.mark.parametrize("name", KINDS)
def test_forged_states_are_refused_when_they_are_no_model(attacked, name):
    rng = np.random.default_rng(0)
    assert _hold(attacked, name, lambda number: rng.random() < 0.12) > 10


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_all_forged_states(attacked, name):
    assert _hold(attacked, name, lambda number: True) > 100


@pytest.mark.parametrize(
    "member",
    ["../outside.npy", "/etc/passwd", "arrays/../../x.npy", "arrays\\0.npy", "C:x", "a/" * 500],
)
def test_members_with_paths_are_refused_and_write_nothing(attacked, tmp_path, member):
    attacked.write_bytes(golden("regressor").read_bytes())
    with zipfile.ZipFile(attacked, "a") as archive:
        archive.writestr(member, b"harm")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ModelFileError):
        s2mam.load(attacked)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_bomb_in_the_place_of_an_array(attacked):
    with zipfile.ZipFile(golden("regressor")) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(attacked, "w") as archive:
        for name, content in members.items():
            bomb = name.endswith("arrays/0.npy")
            how = zipfile.ZIP_DEFLATED if bomb else zipfile.ZIP_STORED
            archive.writestr(name, b"\0" * 10**8 if bomb else content, how)
    assert attacked.stat().st_size < 300_000
    with pytest.raises(ModelFileError, match=r"compressed|larger"):
        s2mam.load(attacked)
