"""Figures of the authors' public code, without its test-label leak (10 seeds, C given).

Per problem: F1 (which is precision and recall, as C is given), test score and its oracle, as mean
and standard deviation, and CPU seconds. On the two moons their search always maximises the accuracy
on the test rows, so those selections have seen test labels; the score is that on 2000 fresh rows.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One row of the authors' results."""

    f1: tuple[float, float]
    score: tuple[float, float]
    oracle: tuple[float, float]
    cpu: float
    leaking: tuple[float, float] | None = None  # precision and recall of a search on test labels

    def cells(self) -> list[str]:
        """Fields of a table line: precision, recall, F1, score."""
        precision, recall = self.leaking or (self.f1[0], self.f1[0])
        return [f"{precision:.3f}", f"{recall:.3f}", _pair(self.f1), _pair(self.score)]


def _pair(value: tuple[float, float]) -> str:
    return f"{value[0]:.3f} ± {value[1]:.3f}"


FIGURES = {
    "additive_25": Figure((0.300, 0.169), (61.494, 30.837), (2.921, 2.190), 63.2),
    "additive_50": Figure((0.887, 0.239), (6.182, 13.071), (0.739, 0.290), 60.6),
    "additive_100": Figure((1.000, 0.000), (0.298, 0.069), (0.298, 0.069), 39.9),
    "friedman_25": Figure((0.460, 0.313), (27.580, 15.785), (4.648, 0.846), 47.4),
    "friedman_50": Figure((0.940, 0.135), (4.835, 3.136), (3.623, 0.612), 49.1),
    "friedman_100": Figure((1.000, 0.000), (3.233, 0.443), (3.233, 0.443), 36.2),
    "circle_code_5": Figure((0.050, 0.158), (0.509, 0.037), (0.867, 0.050), 52.2),
    "circle_code_10": Figure((0.500, 0.471), (0.650, 0.176), (0.882, 0.057), 59.0),
    "circle_code_25": Figure((1.000, 0.000), (0.929, 0.032), (0.929, 0.032), 55.0),
    "table2_code_0_0": Figure((1.000, 0.000), (0.836, 0.075), (0.836, 0.075), 0.9),
    "table2_code_10_0": Figure((0.500, 0.333), (0.659, 0.118), (0.849, 0.039), 1.2),
    "table2_code_0_10": Figure((0.400, 0.316), (0.636, 0.115), (0.849, 0.039), 1.2),
    "table2_code_10_10": Figure((0.200, 0.258), (0.573, 0.111), (0.847, 0.058), 2.1),
    "moons_1": Figure((0.780, 0.208), (0.851, 0.027), (0.826, 0.067), 2.2, (0.867, 0.750)),
    "moons_5": Figure((0.927, 0.124), (0.890, 0.053), (0.895, 0.047), 2.3, (0.883, 1.000)),
    "moons_10": Figure((0.980, 0.063), (0.954, 0.053), (0.952, 0.057), 2.6, (0.967, 1.000)),
}
