"""The studies the paper reports, each a protocol."""

from __future__ import annotations

from typing import Final

from s2mam.experiments.protocol import Corruption, Labels, Protocol, Rows, Setting, Source
from s2mam.experiments.systems import default_systems

__all__ = ["ON_ONE_SCALE", "adni", "agedb", "celeba", "coil20", "figure1", "table2"]

# The numbers of uninformative and noisy columns that Table 2 adds.
_CORRUPTIONS: Final = ((0, 0), (10, 0), (0, 10), (10, 10))
_SCALED_LAPSVM: Final = "LapSVM (moons, scaled)"
_SCALED_MOONS: Final = f"{_SCALED_LAPSVM!r} is the same with all columns on one scale."
_SAME_DRAWS: Final = (
    "'pu10_pn0' and 'pu0_pn10' add the same draws on different scales. Every system here "
    "scales its columns, so their lines are alike; --raw leaves the columns as they are."
)
#: Notes and systems that make sense only where columns are scaled.
ON_ONE_SCALE: Final = (_SAME_DRAWS, _SCALED_LAPSVM, _SCALED_MOONS)


def table2() -> Protocol:
    """Synthetic classification under four corruptions, in both readings of the generator."""
    settings = []
    for n_uninformative, n_noisy in _CORRUPTIONS:
        claim = f"pu{n_uninformative}_pn{n_noisy}"
        text = Source(
            "generator",
            "make_additive_classification",
            {"n_uninformative": 98, "n_noisy": 0, "variant": "paper"},
        )
        code = Source(
            "generator",
            "make_additive_classification",
            {"n_uninformative": 0, "n_noisy": 0, "variant": "code"},
        )
        junk = Corruption(n_uninformative, n_noisy)
        for reading, source, rows, labels in (
            ("text", text, Rows(100, 100), Labels(per_class=0.05)),
            ("code", code, Rows(200, 200), Labels(per_class=5)),
        ):
            name = f"{reading}_{claim}"
            settings.append(
                Setting(name, "classification", source, rows, labels, junk, claim=claim)
            )
    return Protocol(
        name="table2",
        title="Synthetic additive classification (Table 2)",
        settings=tuple(settings),
        systems=default_systems("classification"),
        repeats=100,
        budget=2,
        claims="table2",
        notes=(
            "'text' settings follow the paper's text: 200 rows of 100 correlated columns in two "
            "halves, 5 % of each class of the training half labelled, then junk columns. 'code' "
            "settings follow the paper's public code: 2 informative columns and junk, 200 training "
            "and 200 test rows, 5 labels a class. S2MAM (PAPER) is told C = 2.",
            "Read 'code' settings with junk with care: the informative columns are the only ones "
            "there that depend on each other, so a system that looks at dependence between "
            "columns, as the default S2MAM does, finds them without a label. In 'text' settings "
            "the 98 uninformative columns depend on them too, and there is no such hint.",
            _SAME_DRAWS,
        ),
    )


def adni() -> Protocol:
    """Two cognitive scores of the ADNI study at two shares of labels, with and without noise."""
    settings = tuple(
        Setting(
            f"{target}_r{share}_pn{n_noisy}",
            "regression",
            Source("folder", "adni", target=target),
            Rows(0.5, 0.5),
            Labels(fraction=share / 100),
            Corruption(0, n_noisy),
            metric="relative_mse",
            claim=f"{target}_r{share}_pn{n_noisy}",
        )
        for target in ("Fluency", "ADAS")
        for share in (20, 50)
        for n_noisy in (0, 10)
    )
    return Protocol(
        name="adni",
        title="ADNI clinical records",
        settings=settings,
        systems=default_systems("regression"),
        repeats=10,
        claims="adni",
        notes=("The paper's errors are read as those of a target with variance one.",),
    )


def coil20() -> Protocol:
    """COIL-20 as pixel columns: objects 12 and 13, and all 20 objects."""
    pair = Source("dataset", "coil20", classes=("12", "13"))
    everything = Source("dataset", "coil20")
    rows, labels = Rows(0.5, 0.5), Labels(per_class=0.3)
    return Protocol(
        name="coil20",
        title="COIL-20 images, 30 % of the training rows labelled",
        settings=(
            Setting("objects 12 and 13", "classification", pair, rows, labels),
            Setting("all 20 objects", "classification", everything, rows, labels, claim="COIL-20"),
        ),
        systems=default_systems("classification"),
        repeats=10,
        claims="images",
        notes=(
            "Columns are the 1024 grey values. The paper takes features of a network from the "
            "pictures and does not say how rows were split, so its figures are for orientation.",
        ),
    )


def celeba() -> Protocol:
    """CelebA-HQ with 0.5 % labels."""
    setting = Setting(
        "CelebA-HQ",
        "classification",
        Source("folder", "celeba", {"attribute": "Smiling", "size": 32}),
        Rows(0.5, 0.5, max_train=15000, max_test=5000),
        Labels(fraction=0.005),
        claim="CelebA-HQ",
    )
    return Protocol(
        name="celeba",
        title="CelebA-HQ images, 0.5 % of the training rows labelled",
        settings=(setting,),
        systems=default_systems("classification"),
        repeats=10,
        claims="images",
        notes=(
            "Columns are the grey values of pictures shrunk to 32 x 32, unless data.npz in the "
            "folder holds features of a network, as in the paper, which does not say what "
            "attribute it takes; here it is Smiling.",
        ),
    )


def agedb() -> Protocol:
    """AgeDB with 0.5 % labels."""
    setting = Setting(
        "AgeDB",
        "regression",
        Source("folder", "agedb", {"size": 32}),
        Rows(0.5, 0.5, max_train=8000, max_test=4000),
        Labels(fraction=0.005),
        metric="rmse",
        claim="AgeDB",
    )
    return Protocol(
        name="agedb",
        title="AgeDB images, 0.5 % of the training rows labelled",
        settings=(setting,),
        systems=default_systems("regression"),
        repeats=10,
        claims="agedb",
        notes=(
            "Columns are the grey values of pictures shrunk to 32 x 32, unless data.npz in the "
            "folder holds features of a network, as in the paper; no "
            "person is in both parts.",
        ),
    )


def figure1() -> Protocol:
    """Two moons, one label a class, without and with a noisy third column."""
    moons = Source("generator", "make_moons", {"n_uninformative": 0, "n_noisy": 0})
    settings = tuple(
        Setting(
            name,
            "classification",
            moons,
            Rows(200, 200),
            Labels(per_class=1),
            Corruption(0, n_noisy),
        )
        for name, n_noisy in (("clean", 0), ("with X_n", 1))
    )
    return Protocol(
        name="figure1",
        title="Two moons with one label a class (Figure 1)",
        settings=settings,
        systems=(*default_systems("classification"), "LapSVM (moons)", _SCALED_LAPSVM),
        repeats=20,
        budget=2,
        notes=(
            "With one label a class no label can be left out, so systems with a grid take its "
            "strongest penalty.",
            "'LapSVM (moons)' has the settings with which its public demo parts two moons, and "
            "columns as they are.",
            _SCALED_MOONS,
        ),
    )
