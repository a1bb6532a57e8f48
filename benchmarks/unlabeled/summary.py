"""Tables of the study of unlabelled rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from benchmarks.common.store import Row
from benchmarks.common.tables import count, group, markdown, mean_sd, seconds

#: A loss of mean score up to this is not called harm.
_HARM = 0.01


def summarize(rows: Sequence[Row]) -> str:
    """Growing u first, then none against all, with the number of sets that were hurt."""
    grows = {row["cell"]["data"] for row in rows if row["cell"]["u"] not in ("0", "all")}
    parts = ["# Unlabelled rows: results", ""]
    growing = [row for row in rows if row["cell"]["data"] in grows]
    if growing:
        parts += ["## More and more unlabelled rows", "", _table(growing, ("0", "100", "1000")), ""]
    safety = [row for row in rows if row["cell"]["data"] not in grows]
    if safety:
        parts += ["## None against all", "", *_harm(safety), "", _table(safety, ("0", "all")), ""]
    return "\n".join(parts)


def _table(rows: Sequence[Row], sizes: tuple[str, ...]) -> str:
    lines = []
    for (data, method), mine in group(
        rows, lambda row: (row["cell"]["data"], row["cell"]["method"])
    ).items():
        of_size = group(mine, lambda row: row["cell"]["u"])
        scores = [mean_sd(of_size.get(size, []), "test") for size in sizes]
        gains = paired_gains(mine, sizes[0], sizes[-1])
        gain = f"{np.mean(gains):+.3f}{_error(gains)}" if gains else "–"
        last = of_size.get(sizes[-1], [])
        unlabeled = mean_sd(last, "unl")
        lines.append([f"{data}, {method}", *scores, gain, unlabeled, seconds(last), count(last)])
    header = ["data, method", *(f"u = {size}" for size in sizes)]
    return markdown(
        [*header, "gain ± standard error", "unlabelled rows", "CPU s", "seeds"], sorted(lines)
    )


def paired_gains(rows: Sequence[Row], none: str, most: str) -> list[float]:
    """Differences of test scores with and without unlabelled rows, seed by seed."""
    by_seed = group(
        [row for row in rows if row.get("test") is not None], lambda row: row["cell"]["seed"]
    )
    gains = []
    for of_seed in by_seed.values():
        scores = {row["cell"]["u"]: row["test"] for row in of_seed}
        if none in scores and most in scores:
            gains.append(scores[most] - scores[none])
    return gains


def _harm(rows: Sequence[Row]) -> list[str]:
    """One sentence per method: on how many sets the unlabelled rows helped, hurt or neither."""
    sentences = []
    for method, mine in group(rows, lambda row: row["cell"]["method"]).items():
        of_set = group(mine, lambda row: row["cell"]["data"])
        gains = {name: paired_gains(found, "0", "all") for name, found in of_set.items()}
        means = {name: float(np.mean(gain)) for name, gain in gains.items() if gain}
        if not means:
            continue
        helped = sum(gain > _HARM for gain in means.values())
        hurt = sorted(name for name, gain in means.items() if gain < -_HARM)
        worst = min(means, key=lambda name: means[name])
        sentences.append(
            f"- {method}: better by more than {_HARM} on {helped} of {len(means)} sets, worse on "
            f"{len(hurt)}{' (' + ', '.join(hurt) + ')' if hurt else ''}; mean gain "
            f"{np.mean(list(means.values())):+.4f}, least {means[worst]:+.3f} ({worst})."
        )
    return sentences


def _error(gains: Sequence[float]) -> str:
    """Standard error of the mean, from two seeds on."""
    if len(gains) < 2:
        return ""
    return f" ± {np.std(gains, ddof=1) / np.sqrt(len(gains)):.3f}"
