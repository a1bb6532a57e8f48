"""Settings of the documentation site."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

# Pictures are drawn without a screen, and small solves are fastest with one BLAS thread.
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

DOCS = Path(__file__).resolve().parent
# Pages of names that are gone would stay from an earlier build, and be warned about.
shutil.rmtree(DOCS / "generated" / "reference", ignore_errors=True)
sys.path.insert(0, str(DOCS / "_ext"))

from s2mam import __version__  # noqa: E402

project = "s2mam"
author = "The s2mam developers"
project_copyright = "The s2mam developers"
version = release = __version__

extensions = [
    "mathml",  # docs/_ext/mathml.py: formulas without scripts or network
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_ext", "_templates", "generated/gallery/*.ipynb"]
templates_path = ["_templates"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc sections say the types, in words
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "generated/gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "write_computation_times": False,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "plot_gallery": True,
    "run_stale_examples": True,  # a script may be old and the package new
    "capture_repr": (),  # a display at the end of a block is its picture
    "remove_config_comments": True,
}
# The gallery's own settings hold nothing that could not be cached, but Sphinx cannot know it.
suppress_warnings = ["config.cache"]

html_theme = "furo"
html_title = f"s2mam {release}"
html_static_path = ["_static"]
html_css_files = ["formulas.css"]
html_theme_options = {"navigation_with_keys": True}
html_copy_source = False
html_math_renderer = "mathml"

# Docstrings inherited from scikit-learn point to labels and terms of its own site.
_FOREIGN = re.compile(r":(?:ref|term):`([^`<]+?)(?:\s*<[^`>]+>)?`")
# A learned attribute named in a field without quotes is not a link.
_QUOTED = re.compile(r"(``.*?``|`.*?`)")
_LEARNED = re.compile(r"\b([A-Za-z]\w*)_(?!\w)")


# The type of a parameter: words, in which Sphinx would take "shape" or "n" for names to link to.
_TYPE = re.compile(r"^(:(?:var)?type [^:]+: )([^`*|]+)$")


def _tidy_field(line: str) -> str:
    parts = _QUOTED.split(line)
    parts[::2] = [_LEARNED.sub(r"\1\\_", part) for part in parts[::2]]
    return _TYPE.sub(r"\1*\2*", "".join(parts))


def _tidy(app: Any, what: str, name: str, found: Any, options: Any, lines: list[str]) -> None:
    text = _FOREIGN.sub(r"\1", "\n".join(lines))
    lines[:] = [_tidy_field(line) if line.startswith(":") else line for line in text.split("\n")]


def setup(app: Any) -> None:
    """Connect what the extensions do not bring."""
    app.connect("autodoc-process-docstring", _tidy)
