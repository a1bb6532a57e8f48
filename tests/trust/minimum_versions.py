"""Print the lowest versions that pyproject.toml allows, as constraints for pip.

    python tests/trust/minimum_versions.py > constraints.txt

Only what the package itself imports or is given is held down: its dependencies, the extras that
bring data libraries, and polars, whose tables users pass. Tools of the tests are free.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

_EXTRAS = ("plot", "table", "images", "progress", "files", "report")
# No extra brings it, but scikit-learn 1.6 cannot read the names of columns of polars 2.
_GIVEN = ("polars",)


def lowest(project: dict[str, Any]) -> list[str]:
    """Return ``name==version`` for every lower bound.

    Examples
    --------
    >>> lowest({"dependencies": ["numpy>=1.26"], "optional-dependencies": {"plot": ["a>=3"]}})
    ['numpy==1.26', 'a==3']
    """
    texts = list(project["dependencies"])
    for extra in _EXTRAS:
        texts += project["optional-dependencies"].get(extra, [])
    tools = project["optional-dependencies"].get("test", [])
    texts += [text for text in tools if text.startswith(_GIVEN)]
    found = (re.fullmatch(r"([\w.-]+)>=([\d.]+)", text) for text in texts)
    return [f"{one[1]}=={one[2]}" for one in found if one]


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    sys.stdout.write("\n".join(lowest(project)) + "\n")
