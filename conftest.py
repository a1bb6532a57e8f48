"""Settings of all tests."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest
from hypothesis import settings

# No examples are in them, and pytest takes those of two folders for one module.
collect_ignore_glob = ["tests/*/conftest.py"]

# The same examples every time, so that a red run means a change of the code;
# HYPOTHESIS_PROFILE=random explores.
settings.register_profile("repeatable", derandomize=True)
settings.register_profile("random", print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark examples that need torch, and leave what is marked so out where it is missing."""
    example = getattr(item, "dtest", None)
    if example is not None:
        owner = example.globs.get(example.name.rpartition(".")[2])
        named = "import torch" in (example.docstring or "")
        if named or "torch" in getattr(owner, "requires", ()):
            item.add_marker("torch")
    if item.get_closest_marker("torch") is not None and find_spec("torch") is None:
        item.add_marker(pytest.mark.skip(reason="needs torch: pip install 's2mam[torch]'"))
