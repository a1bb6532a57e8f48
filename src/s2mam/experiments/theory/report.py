"""Results of a theory study as files: csv, Markdown and a picture."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from s2mam.exceptions import MissingDependencyError
from s2mam.experiments.tables import csv_text, markdown_table, write_text

__all__ = ["Curve", "Report"]


@dataclass(frozen=True)
class Curve:
    """Points of a log-log picture.

    Attributes
    ----------
    panel, name : str
    x, y : sequence of float
    """

    panel: str
    name: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True)
class Report:
    """What a study found.

    Attributes
    ----------
    name, title : str
    text : str
        What was measured and how to read it.
    summary : list of dict
        Short table, shown in the Markdown.
    rows : list of dict
        All measurements, for the csv.
    curves : list of Curve
    """

    name: str
    title: str
    text: str
    summary: Sequence[Mapping[str, Any]]
    rows: Sequence[Mapping[str, Any]]
    curves: Sequence[Curve] = field(default_factory=list)

    def markdown(self) -> str:
        """Title, text and short table."""
        header = list(self.summary[0])
        table = markdown_table(header, [[_text(row[k]) for k in header] for row in self.summary])
        return f"# {self.title}\n\n{self.text}\n\n{table}\n"

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write ``<name>.csv``, ``<name>.md`` and ``<name>.png``.

        Parameters
        ----------
        folder : path

        Returns
        -------
        list of Path
        """
        place = Path(folder)
        paths = [place / f"{self.name}.{ending}" for ending in ("csv", "md", "png")]
        write_text(paths[0], csv_text(self.rows))
        write_text(paths[1], self.markdown())
        self._draw(paths[2])
        return paths

    def _draw(self, path: Path) -> None:
        try:
            from matplotlib.figure import Figure
        except ImportError as error:
            raise MissingDependencyError(
                "Pictures need matplotlib; install it with: pip install 's2mam[plot]'."
            ) from error
        panels = list(dict.fromkeys(curve.panel for curve in self.curves))
        figure = Figure(figsize=(4.2 * len(panels), 3.4))
        axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for axis, panel in zip(axes, panels, strict=True):
            for curve in self.curves:
                if curve.panel == panel:
                    axis.loglog(curve.x, curve.y, "o-", markersize=3, label=curve.name)
            axis.set_title(panel)
            axis.legend(fontsize=7)
        figure.tight_layout()
        figure.savefig(path, dpi=110)


def _text(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
