"""What users may rely on, as one JSON file: names, parameters with defaults, commands, options.

    python tests/trust/public_surface.py        (rewrites public_surface.json)

Run it for a release, or when something public goes on purpose. What is new needs no new file.
"""

from __future__ import annotations

import inspect
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from s2mam.baselines import all_baselines
from s2mam.cli import app

FILE = Path(__file__).with_suffix(".json")
MODULES = (
    "s2mam",
    "s2mam.baselines",
    "s2mam.datasets",
    "s2mam.exceptions",
    "s2mam.inspection",
    "s2mam.model_selection",
)


def parameters(thing: Any) -> dict[str, str]:
    """Parameters and their defaults as text."""
    found = inspect.signature(thing).parameters.values()
    return {
        one.name: "" if one.default is one.empty else repr(one.default)
        for one in found
        if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
    }


def describe(thing: Any) -> Any:
    """One public name."""
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return {"bases": sorted(one.__name__ for one in thing.__mro__ if one is not thing)}
    if inspect.isclass(thing):
        # Methods that come from scikit-learn change with scikit-learn.
        own = [kind for kind in thing.__mro__ if kind.__module__.startswith("s2mam")]
        methods = {name for kind in own for name in vars(kind) if not name.startswith("_")}
        return {"parameters": parameters(thing), "members": sorted(methods)}
    if callable(thing):
        return {"parameters": parameters(thing)}
    return {"kind": type(thing).__name__}


def commands(command: Any, path: str = "s2mam") -> dict[str, list[str]]:
    """Options of every command; what a command says in its help is no promise."""
    if hasattr(command, "commands"):
        found: dict[str, list[str]] = {}
        for name, inner in command.commands.items():
            found |= commands(inner, f"{path} {name}")
        return found
    return {path: sorted(name for one in command.params for name in one.opts)}


def surface() -> dict[str, Any]:
    """Everything."""
    names = {}
    for module in MODULES:
        loaded = import_module(module)
        for name in loaded.__all__:
            names[f"{module}.{name}"] = describe(getattr(loaded, name))
    baselines = {cls.__name__: parameters(cls) for cls in all_baselines().values()}
    return {
        "names": names,
        "baselines": baselines,
        "commands": commands(typer.main.get_command(app)),
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(surface(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
