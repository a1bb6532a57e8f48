"""Settings of all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# The same examples every time, so that a red run means a change of the code;
# HYPOTHESIS_PROFILE=random explores.
settings.register_profile("repeatable", derandomize=True)
settings.register_profile("random", print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
