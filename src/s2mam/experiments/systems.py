"""The systems a protocol can name, as data: nothing is imported before it is built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from s2mam.bilevel.paper import PAPER
from s2mam.exceptions import InvalidInputError

__all__ = ["System", "all_systems", "default_systems", "find_system", "register_system"]

_S2MAM = {
    "classification": "s2mam.estimators:S2MAMClassifier",
    "regression": "s2mam.estimators:S2MAMRegressor",
}


@dataclass(frozen=True)
class System:
    """A system by name.

    Parameters
    ----------
    name : str
    classes : dict of str to str
        "module:Class" of the estimator per task.
    settings : dict
        Arguments of the estimator.
    grid : dict, optional
        Values to tune over; by default the class attribute ``grid``, if there is one.
    takes_budget : bool
        Whether the protocol's C is passed as ``n_features_to_select``.
    informative_only : bool
        Fit on the informative columns alone: the oracle mask.
    sees_truth : bool
        A reference line fitted to the whole training target, hidden labels included.
    """

    name: str
    classes: Mapping[str, str]
    settings: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] | None = None
    takes_budget: bool = False
    informative_only: bool = False
    sees_truth: bool = False

    def build(
        self,
        task: str,
        *,
        seed: int,
        scale: str | None,
        budget: int | None,
        device: str | None = None,
    ) -> Any:
        """A new estimator.

        Parameters
        ----------
        task : {"classification", "regression"}
        seed : int
            For estimators with a `random_state`.
        scale : str or None
            For estimators with a `scale`; "default" leaves theirs.
        budget : int or None
        device : str or None
            Where networks are trained; None leaves their default.

        Examples
        --------
        >>> find_system("S2MAM").build("regression", seed=3, scale="rank", budget=None)
        S2MAMRegressor(random_state=3, scale='rank')
        """
        estimator = self._class(task)(**self.settings)
        known = estimator.get_params(deep=False)
        changes: dict[str, Any] = {}
        if "random_state" in known:
            changes["random_state"] = seed
        if "scale" in known and scale != "default":
            changes["scale"] = scale
        if self.takes_budget and budget is not None:
            changes["n_features_to_select"] = budget
        if device is not None and self.is_network(task):
            changes["device"] = device
        return estimator.set_params(**changes)

    def tuning_grid(self, task: str) -> Mapping[str, Sequence[Any]]:
        """Values to tune over; empty when there is nothing to tune."""
        if self.grid is not None:
            return self.grid
        found: Mapping[str, Sequence[Any]] = getattr(self._class(task), "grid", {})
        return found

    def is_network(self, task: str) -> bool:
        """Whether a fit trains a network, on a device that can be named.

        Examples
        --------
        >>> find_system("DAN").is_network("classification")
        True
        """
        return "torch" in getattr(self._class(task), "requires", ())

    def lacking(self, task: str) -> list[str]:
        """Packages that a fit needs and that are not installed.

        Examples
        --------
        >>> find_system("S2MAM").lacking("regression")
        []
        """
        needed: Sequence[str] = getattr(self._class(task), "requires", ())
        return [name for name in needed if find_spec(name) is None]

    def _class(self, task: str) -> Any:
        module, name = self.classes[task].split(":")
        return getattr(import_module(module), name)


_OWN = (
    System(
        "null",
        {
            "classification": "sklearn.dummy:DummyClassifier",
            "regression": "sklearn.dummy:DummyRegressor",
        },
        sees_truth=True,
    ),
    System("S2MAM (oracle mask)", _S2MAM, informative_only=True),
    System("S2MAM", _S2MAM),
    # The fast solver minimises what the paper's ADMM does, in a fraction of its time.
    System("S2MAM (PAPER)", _S2MAM, settings={**PAPER, "solver": "auto"}, takes_budget=True),
    System(
        "base f_z",
        {
            "classification": "s2mam.estimators:ManifoldAdditiveClassifier",
            "regression": "s2mam.estimators:ManifoldAdditiveRegressor",
        },
    ),
    # The paper's own form: signed random features in kernels and graph, repaired on the diagonal.
    System(
        "S2MAM-F",
        _S2MAM,
        settings={**PAPER, "solver": "auto", "basis": "fourier", "graph": "fourier"},
        takes_budget=True,
    ),
)
_PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1)
# Run on request only: they take much longer, or are not there yet.
_EXTRA = (
    System("S2MAM (PAPER, ADMM)", _S2MAM, settings=PAPER, takes_budget=True),
    System(
        "S2MAM (PAPER, tuned)",
        _S2MAM,
        settings={**PAPER, "solver": "auto"},
        grid={"sparsity": _PENALTIES, "manifold": _PENALTIES},
        takes_budget=True,
    ),
    # With many classes its tuning alone takes hours.
    System(
        "PBCS (untuned)",
        {
            "classification": "s2mam.baselines.pbcs:PBCSClassifier",
            "regression": "s2mam.baselines.pbcs:PBCSRegressor",
        },
        grid={},
    ),
)
# Settings with which the public demo of LapSVM parts two moons; with one label a class there is
# nothing to tune it by.
_MOONS: Mapping[str, Any] = {
    "ambient": 0.03125,
    "intrinsic": 1e4,
    "width": 10**-0.5,
    "n_neighbors": 5,
}
_ON_MOONS = tuple(
    System(
        name,
        {"classification": "s2mam.baselines.lap_svm:LapSVMClassifier"},
        settings={**_MOONS, "scale": scale},
        grid={},
    )
    for name, scale in (("LapSVM (moons)", None), ("LapSVM (moons, scaled)", "standard"))
)
_REGISTERED: dict[str, System] = {}


def register_system(system: System) -> None:
    """Add a system, or replace one of the same name.

    Parameters
    ----------
    system : System
    """
    _REGISTERED[system.name] = system


def all_systems() -> dict[str, System]:
    """Every known system by name.

    Examples
    --------
    >>> {"null", "S2MAM", "S2MAM (PAPER)", "base f_z"} <= set(all_systems())
    True
    """
    found = {system.name: system for system in (*_OWN, *_baselines(), *_EXTRA, *_ON_MOONS)}
    return {**found, **_REGISTERED}


def default_systems(*tasks: str) -> tuple[str, ...]:
    """Names of the reference lines, our estimators and all baselines with a form for a task.

    Parameters
    ----------
    *tasks : {"classification", "regression"}
    """
    return tuple(
        system.name
        for system in (*_OWN, *_baselines())
        if any(task in system.classes for task in tasks)
    )


def find_system(name: str) -> System:
    """The system of a name; an unknown one is an error that lists the known ones.

    Parameters
    ----------
    name : str
    """
    known = all_systems()
    if name not in known:
        raise InvalidInputError(f"Unknown system {name!r}; known are: {'; '.join(known)}.")
    return known[name]


def _baselines() -> list[System]:
    from s2mam.baselines import all_baselines

    classes: dict[str, dict[str, str]] = {}
    for task in ("classification", "regression"):
        for name, cls in all_baselines(task).items():
            classes.setdefault(name, {})[task] = f"{cls.__module__}:{cls.__name__}"
    return [System(name, forms) for name, forms in classes.items()]
