"""The page: template, style, scripts, and a policy that lets nothing else run or load."""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from string import Template
from typing import Any

from s2mam.exceptions import MissingDependencyError
from s2mam.inspection.report_parts.markup import Markup, as_json, join, render, tag

__all__ = ["Page", "Section", "plotly_bundle"]

# The small bundle draws all that is drawn here; the package may carry the full one only.
_BUNDLES = ("plotly-basic.min.js", "plotly.min.js")


@dataclass(frozen=True)
class Section:
    """A part of the page: anchor, heading and content."""

    anchor: str
    heading: str
    content: Markup


@dataclass(frozen=True)
class Page:
    """All that the page shows.

    Attributes
    ----------
    title, subtitle, generator : str
        Text, escaped here.
    sections : sequence of Section
        In reading order.
    footer : Markup
        The end.
    data : dict
        For the pictures.
    """

    title: str
    subtitle: str
    generator: str
    sections: Sequence[Section]
    footer: Markup
    data: dict[str, Any]

    def to_html(self, plotly: str) -> str:
        """The file.

        Parameters
        ----------
        plotly : str
            Source of plotly.js.

        Returns
        -------
        str
        """
        plotly, script = _line_ends(plotly), _inline(_file("page.js"))
        links = [
            tag("li", tag("a", section.heading, href=f"#{section.anchor}"))
            for section in self.sections
        ]
        parts = [
            tag(
                "section",
                tag("h2", section.heading, id=section.anchor),
                section.content,
                aria_labelledby=section.anchor,
            )
            for section in self.sections
        ]
        return Template(_file("page.html")).substitute(
            policy=_policy(plotly, script),
            generator=render(self.generator),
            title=render(self.title),
            subtitle=render(self.subtitle),
            css=_file("page.css"),
            contents=tag("ol", *links),
            sections=join(parts),
            footer=self.footer,
            data=as_json(self.data),
            plotly=_packed(plotly),
            script=script,
        )


def plotly_bundle() -> str:
    """Source of plotly.js as the plotly package carries it.

    Returns
    -------
    str

    Raises
    ------
    MissingDependencyError
        When plotly is not installed.
    """
    try:
        folder = resources.files("plotly") / "package_data"
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            "Reports need plotly; install it with: pip install 's2mam[report]'."
        ) from error
    found = [folder / bundle for bundle in _BUNDLES if (folder / bundle).is_file()]
    if not found:
        raise MissingDependencyError(
            "The installed plotly carries no plotly.js; install it anew with: "
            "pip install --force-reinstall 's2mam[report]'."
        )
    return found[0].read_text(encoding="utf-8")


def _file(name: str) -> str:
    return (resources.files(__package__) / name).read_text(encoding="utf-8")


def _inline(script: str) -> str:
    """A script as an element holds it: the browser's line ends, and nothing that ends it early."""
    return _line_ends(script).replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _line_ends(script: str) -> str:
    return script.replace("\r\n", "\n").replace("\r", "\n")


def _packed(script: str) -> str:
    """A script as text of less than half its size; the page unpacks it and checks its digest."""
    # The time in the header of gzip would make equal reports differ.
    return base64.b64encode(gzip.compress(script.encode("utf-8"), 9, mtime=0)).decode()


def _policy(*scripts: str) -> str:
    """Only these scripts run, and nothing is fetched, whatever the page holds."""
    digests = (hashlib.sha256(script.encode("utf-8")).digest() for script in scripts)
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
