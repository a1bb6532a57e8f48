"""Studies that the paper names without giving their figures, each a protocol."""

from __future__ import annotations

from typing import Final

from s2mam.experiments.ablation_systems import VARIANTS
from s2mam.experiments.protocol import Corruption, Labels, Protocol, Rows, Setting, Source
from s2mam.experiments.systems import default_systems

__all__ = ["ablation", "uci"]

_NO_SETTINGS_GIVEN: Final = (
    "The paper leaves rows, labels and corruption of these sets to an appendix that is not public; "
    "the ones used here are ours, so there are no claims to compare with."
)

_ONE_PLAYER: Final = (
    "A player of skillcraft says to have played 1,000,000 hours, forty times the next. In one of "
    "the 20 repeats that is a test row, and the error of systems that are linear there, or nearly "
    "so, is that of this row; their medians say more than their means."
)
_LEFT_OUT: Final = "Boston is without its column B, on race, which `load` leaves out unless asked."


def uci() -> Protocol:
    """Five sets of the UCI collection, as they are and with ten noisy columns."""
    rows = Rows(0.5, 0.5, max_train=400, max_test=1000)
    settings = []
    for n_noisy in (0, 10):
        for name in ("boston", "skillcraft"):
            settings.append(
                Setting(
                    f"{name}_pn{n_noisy}",
                    "regression",
                    Source("dataset", name),
                    rows,
                    Labels(fraction=0.2),
                    Corruption(0, n_noisy),
                    metric="relative_mse",
                )
            )
        for name in ("breast_cancer", "phishing", "heart_statlog"):
            settings.append(
                Setting(
                    f"{name}_pn{n_noisy}",
                    "classification",
                    Source("dataset", name),
                    rows,
                    Labels(per_class=5),
                    Corruption(0, n_noisy),
                )
            )
    return Protocol(
        name="uci",
        title="UCI tables",
        settings=tuple(settings),
        systems=default_systems("regression", "classification"),
        repeats=20,
        notes=(_NO_SETTINGS_GIVEN, _ONE_PLAYER, _LEFT_OUT),
    )


def ablation() -> Protocol:
    """One choice at a time: criterion, gradient, graph, polish, number of draws."""
    regression = Source("generator", "make_additive_regression", {"n_noisy": 10})
    classes = Source("generator", "make_additive_classification", {"variant": "code"})
    control = Source("generator", "make_additive_classification", {"variant": "paper"})
    settings = (
        Setting(
            "additive regression, 50 labels",
            "regression",
            regression,
            Rows(200, 200),
            Labels(n_labeled=50),
            metric="relative_mse",
        ),
        Setting(
            "additive classification, 10 labels a class",
            "classification",
            classes,
            Rows(200, 200),
            Labels(per_class=10),
        ),
        Setting(
            "the same, junk depends on the rest",
            "classification",
            control,
            Rows(200, 200),
            Labels(per_class=10),
        ),
    )
    return Protocol(
        name="ablation",
        title="Which part does what",
        settings=settings,
        systems=("null", "S2MAM (oracle mask)", "S2MAM", "S2MAM (PAPER)", *VARIANTS),
        repeats=10,
        notes=(
            "Variants differ from 'exact gradient, evidence, polish' in what their name says. "
            "Policy gradients have 400 evaluations of the criterion each, however many masks they "
            "draw at a time. The size of the mask is chosen by the evidence.",
            "The second setting has a hint that needs no label: its informative columns are the "
            "only ones that depend on each other, which the default S2MAM looks at and the "
            "variants do not. The third setting takes the hint away.",
        ),
    )
