"""Code in the pages of the documentation: where it is, and how it runs."""

from __future__ import annotations

import doctest
import re
import shlex
import sys
import types
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_FENCE = re.compile(r"^```(python|pycon|sh)\n(.*?)^```$", flags=re.M | re.S)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: its language, its text and the line it starts on."""

    language: str
    text: str
    line: int


def pages() -> list[Path]:
    """All pages written by hand."""
    made = ("_build", "generated", "_ext", "_templates")
    found = [*DOCS.rglob("*.md"), *DOCS.glob("*.rst")]
    return sorted(page for page in found if page.relative_to(DOCS).parts[0] not in made)


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page that hold code, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(match[1], match[2], text.count("\n", 0, match.start(2)))
        for match in _FENCE.finditer(text)
    ]


def run_python(page: Path) -> list[str]:
    """Run the Python of a page from top to bottom; return what does not come out as printed."""
    # A module of its own, so that what a page defines can be pickled.
    module = types.ModuleType(f"page_{page.stem}")
    names = vars(module)
    complaints: list[str] = []
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=FLAGS)
    sys.modules[module.__name__] = module
    try:
        for block in blocks(page):
            if block.language == "python":
                # Blank lines put the traceback of an error on the right line of the page.
                exec(compile("\n" * block.line + block.text, str(page), "exec"), names)
            elif block.language == "pycon":
                test = parser.get_doctest(block.text, names, page.name, str(page), block.line)
                assert test.examples, f"{page.name}:{block.line}: nothing to run"
                test.globs = names
                runner.run(test, out=complaints.append, clear_globs=False)
    finally:
        del sys.modules[module.__name__]
    return complaints


def commands(page: Path) -> list[list[str]]:
    """The `s2mam` commands of a page, split into words."""
    lines = [
        line
        for block in blocks(page)
        if block.language == "sh"
        for line in block.text.replace("\\\n", " ").splitlines()
    ]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("s2mam ")]
