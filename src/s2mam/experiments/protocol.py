"""A protocol is data: what is drawn, hidden, corrupted, fitted and measured, and how often."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

from s2mam.exceptions import InvalidInputError

__all__ = ["Corruption", "Labels", "Protocol", "Rows", "Setting", "Source"]

Task: TypeAlias = Literal["classification", "regression"]
METRICS = {"classification": ("accuracy",), "regression": ("mse", "rmse", "relative_mse")}


@dataclass(frozen=True)
class Source:
    """Where the rows come from.

    Parameters
    ----------
    kind : {"generator", "dataset", "folder"}
        A function of `s2mam.datasets` by its name; a set of `s2mam.datasets.load`; a loader
        ``s2mam.datasets.load_<name>(folder)`` for data that its owners hand out themselves.
    name : str
    args : dict
        Arguments of the generator.
    classes : tuple of str, optional
        Only the rows of these classes.
    target : str, optional
        Which target, when there are several.
    """

    kind: Literal["generator", "dataset", "folder"]
    name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    classes: tuple[str, ...] | None = None
    target: str | None = None


@dataclass(frozen=True)
class Rows:
    """Sizes of the two parts: numbers, or shares below one (of a data set, not a generator).

    Parameters
    ----------
    train, test : int or float
    max_train, max_test : int, optional
        Most rows of each part.
    """

    train: float
    test: float
    max_train: int | None = None
    max_test: int | None = None


@dataclass(frozen=True)
class Labels:
    """How many training rows keep their label; exactly one is given, as in `hide_labels`."""

    per_class: float | None = None
    n_labeled: int | None = None
    fraction: float | None = None

    def __post_init__(self) -> None:
        if [self.per_class, self.n_labeled, self.fraction].count(None) != 2:
            raise InvalidInputError("Labels takes exactly one of per_class, n_labeled, fraction.")


@dataclass(frozen=True)
class Corruption:
    """Junk columns appended to all rows, as in `s2mam.datasets.corrupt`."""

    n_uninformative: int = 0
    n_noisy: int = 0
    noisy_reading: Literal["sd", "variance"] = "sd"


@dataclass(frozen=True)
class Setting:
    """One column group of a table.

    Parameters
    ----------
    name : str
    task : {"classification", "regression"}
    source, rows, labels, corruption
    scale : str or None
        Scaling of the columns for every system; "default" leaves each system its own.
    metric : {"accuracy", "mse", "rmse", "relative_mse"}
        "accuracy" is in per cent; "relative_mse" is divided by the variance of the target.
    claim : str
        Name of this setting among the paper's claims; empty when there are none.
    """

    name: str
    task: Task
    source: Source
    rows: Rows
    labels: Labels
    corruption: Corruption = Corruption()
    scale: str | None = "default"
    metric: str = "accuracy"
    claim: str = ""

    def __post_init__(self) -> None:
        if self.metric not in METRICS[self.task]:
            raise InvalidInputError(
                f"metric={self.metric!r} does not go with {self.task}; use one of "
                f"{', '.join(METRICS[self.task])}."
            )


@dataclass(frozen=True)
class Protocol:
    """A study: every system on every setting, repeated.

    Parameters
    ----------
    name, title : str
    settings : tuple of Setting
    systems : tuple of str
        Names known to `s2mam.experiments.systems`; a system without a form for the task of a
        setting is left out there.
    repeats : int
    seed : int
        Seed of everything; repeat k draws the same rows for all systems.
    tuning : {"loo", "none"}
        Whether systems with a grid are tuned on the labelled rows.
    budget : int, optional
        C of the systems that must be told a number of columns.
    standardize_target : bool
        Whether numbers are centred and scaled by the labelled rows for the fit.
    time_limit : float, optional
        Most CPU seconds of a cell, above zero.
    claims : str
        File of the paper's claims; empty when there are none.
    notes : tuple of str
        What a reader of the table should know.

    Examples
    --------
    >>> setting = Setting(
    ...     "clean", "classification", Source("generator", "make_moons", {"n_noisy": 0}),
    ...     Rows(100, 100), Labels(per_class=5),
    ... )
    >>> protocol = Protocol("try", "A try", (setting,), ("null", "S2MAM"), repeats=2)
    >>> Protocol.from_json(protocol.to_json()) == protocol
    True
    """

    name: str
    title: str
    settings: tuple[Setting, ...]
    systems: tuple[str, ...]
    repeats: int = 10
    seed: int = 0
    tuning: Literal["loo", "none"] = "loo"
    budget: int | None = None
    standardize_target: bool = True
    time_limit: float | None = None
    claims: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [setting.name for setting in self.settings]
        if len(set(names)) < len(names):
            raise InvalidInputError(f"Two settings of protocol {self.name!r} have the same name.")
        if self.repeats < 1:
            raise InvalidInputError(f"repeats={self.repeats} must be at least 1.")
        if self.time_limit is not None and not self.time_limit > 0:
            raise InvalidInputError(
                f"time_limit={self.time_limit:g} must be above 0; without it there is no limit."
            )
        if self.tuning not in ("loo", "none"):
            raise InvalidInputError(f"tuning={self.tuning!r} must be 'loo' or 'none'.")

    def to_json(self) -> str:
        """The protocol as text."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> Protocol:
        """The protocol of a text.

        Parameters
        ----------
        text : str
            As `to_json` wrote it.
        """
        try:
            content = json.loads(text)
            settings = tuple(_setting(entry) for entry in content.pop("settings"))
            for name in ("systems", "notes"):
                content[name] = tuple(content.get(name, ()))
            return cls(settings=settings, **content)
        except (json.JSONDecodeError, AttributeError, KeyError, TypeError) as error:
            raise InvalidInputError(f"This is not the JSON of a protocol: {error}.") from error

    def mark(self, setting: Setting) -> str:
        """Short text that changes whenever a cell of the setting would come out differently."""
        facts = {
            "setting": asdict(setting),
            "seed": self.seed,
            "tuning": self.tuning,
            "budget": self.budget,
            "standardize_target": self.standardize_target,
        }
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:12]


def _setting(entry: dict[str, Any]) -> Setting:
    source = entry.pop("source")
    if source.get("classes") is not None:
        source["classes"] = tuple(source["classes"])
    return Setting(
        source=Source(**source),
        rows=Rows(**entry.pop("rows")),
        labels=Labels(**entry.pop("labels")),
        corruption=Corruption(**entry.pop("corruption")),
        **entry,
    )
