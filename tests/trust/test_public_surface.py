"""Nothing public goes away and no default changes without a new snapshot, in plain view."""

from __future__ import annotations

import json

from public_surface import FILE, surface


def missing(promised, found, where=""):
    """What was promised and is not there, or is something else."""
    if isinstance(promised, dict):
        gone = [f"{where}/{key}" for key in promised if key not in found]
        kept = [key for key in promised if key in found]
        return gone + [one for k in kept for one in missing(promised[k], found[k], f"{where}/{k}")]
    if isinstance(promised, list):
        return [f"{where}/{item}" for item in promised if item not in found]
    return [] if promised == found else [f"{where}: {promised} became {found}"]


def test_everything_promised_is_there():
    promised = json.loads(FILE.read_text(encoding="utf-8"))
    assert len(promised["names"]) > 60
    assert missing(promised, surface()) == []


def test_a_loss_would_be_seen():
    promised = {"a": {"x": "1", "y": "2"}, "b": ["u", "v"]}
    found = {"a": {"x": "3", "z": ""}, "b": ["u"]}
    assert missing(promised, found) == ["/a/y", "/a/x: 1 became 3", "/b/v"]


def test_new_parameters_of_functions_have_defaults():
    """A parameter that has to be given would break every call there is."""
    promised, found = json.loads(FILE.read_text(encoding="utf-8")), surface()
    broken = []
    for name, entry in promised["names"].items():
        before, after = (
            entry.get("parameters", {}),
            found["names"].get(name, {}).get("parameters", {}),
        )
        broken += [f"{name}({new})" for new in set(after) - set(before) if after[new] == ""]
    assert broken == []
