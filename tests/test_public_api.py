"""What users may rely on: names, parameters, and an import that stays light."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import s2mam

NAMES = {
    "PAPER",
    "ManifoldAdditiveClassifier",
    "ManifoldAdditiveRegressor",
    "S2MAMClassifier",
    "S2MAMRegressor",
    "__version__",
    "baselines",
    "datasets",
    "exceptions",
    "inspection",
    "load",
    "model_selection",
}
MASKED = {
    "n_features_to_select": "auto",
    "sparsity": "auto",
    "manifold": "auto",
    "bandwidth": "auto",
    "basis": "kernel",
    "graph": "auto",
    "mask_learner": "auto",
    "criterion": "auto",
    "n_masks": "auto",
    "max_iter": "auto",
    "step_size": "auto",
    "solver": "auto",
    "literal": False,
    "scale": True,
    "categorical": "auto",
    "unlabeled": "auto",
    "random_state": None,
    "n_jobs": None,
    "verbose": 0,
    "callbacks": None,
    "checkpoint": None,
    "time_limit": None,
    "on_interrupt": "raise",
}
PLAIN = {
    "sparsity": "auto",
    "manifold": "auto",
    "bandwidth": "auto",
    "basis": "kernel",
    "graph": "auto",
    "solver": "auto",
    "scale": True,
    "categorical": "auto",
    "unlabeled": "auto",
    "verbose": 0,
}
METHODS = {
    "contributions",
    "fit",
    "fit_transform",
    "get_feature_names_out",
    "get_metadata_routing",
    "get_params",
    "get_support",
    "intercept_",
    "inverse_transform",
    "predict",
    "save",
    "score",
    "set_fit_request",
    "set_output",
    "set_params",
    "set_score_request",
    "transform",
}
ATTRIBUTES = {
    "chosen_",
    "history_",
    "mask_probabilities_",
    "n_features_in_",
    "n_iter_",
    "n_labeled_",
    "stop_reason_",
    "support_",
    "transduction_",
}
HEAVY = ("torch", "pandas", "polars", "matplotlib", "typer", "plotly", "dask", "cvxpy")


def _parameters(kind):
    signature = inspect.signature(kind)
    assert all(p.kind is p.KEYWORD_ONLY for p in signature.parameters.values())
    return {name: p.default for name, p in signature.parameters.items()}


def _public(kind):
    # scikit-learn brings set_callbacks from 1.9 on.
    return {name for name in dir(kind) if not name.startswith("_")} - {"set_callbacks"}


def test_public_names():
    assert set(s2mam.__all__) >= NAMES
    assert all(hasattr(s2mam, name) for name in s2mam.__all__)


def test_constructor_parameters_and_their_defaults():
    assert _parameters(s2mam.S2MAMRegressor) == MASKED
    assert _parameters(s2mam.S2MAMClassifier) == MASKED
    assert _parameters(s2mam.ManifoldAdditiveRegressor) == PLAIN
    assert _parameters(s2mam.ManifoldAdditiveClassifier) == PLAIN


def test_methods():
    classes = {"decision_function", "predict_proba"}
    assert _public(s2mam.ManifoldAdditiveRegressor) == METHODS
    assert _public(s2mam.ManifoldAdditiveClassifier) == METHODS | classes
    assert _public(s2mam.S2MAMRegressor) == METHODS | {"refit_selected"}
    assert _public(s2mam.S2MAMClassifier) == METHODS | classes | {"refit_selected"}


def test_learned_attributes():
    X = np.random.default_rng(0).normal(size=(20, 2))
    for kind in (s2mam.S2MAMRegressor, s2mam.ManifoldAdditiveRegressor):
        model = kind().fit(X, X[:, 0])
        learned = {n for n in vars(model) if n.endswith("_") and not n.startswith("_")}
        assert learned == ATTRIBUTES
    for kind in (s2mam.S2MAMClassifier, s2mam.ManifoldAdditiveClassifier):
        model = kind().fit(X, X[:, 0] > 0)
        learned = {n for n in vars(model) if n.endswith("_") and not n.startswith("_")}
        assert learned == ATTRIBUTES | {"classes_"}


def test_the_paper_settings_are_parameters():
    assert set(s2mam.PAPER) <= set(MASKED)
    assert s2mam.PAPER["mask_learner"] == "reinforce"
    assert s2mam.PAPER["literal"] is True
    s2mam.S2MAMRegressor(**s2mam.PAPER)


def test_errors_and_warnings_have_one_base_each():
    for name in s2mam.exceptions.__all__:
        kind = getattr(s2mam.exceptions, name)
        base = s2mam.exceptions.S2MAMWarning
        if not issubclass(kind, Warning):
            base = s2mam.exceptions.S2MAMError
        assert issubclass(kind, base)


def _seconds(code):
    """Best of three: processor seconds a fresh interpreter takes for the second import."""
    script = (
        "import time, sklearn.base, sklearn.feature_selection, sklearn.model_selection, "
        "sklearn.metrics, scipy.optimize, scipy.stats\n"
        f"start = time.process_time()\n{code}\nprint(time.process_time() - start)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        for _ in range(3)
    ]
    return min(float(run.stdout) for run in runs)


def test_import_adds_less_than_a_second_to_scikit_learn():
    names = ", ".join(sorted(NAMES))
    assert _seconds(f"from s2mam import {names}") < 1.0


def test_the_command_line_answers_without_scikit_learn():
    code = (
        "import sys; from s2mam.cli import main; sys.argv = ['s2mam', '--help']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "print([m for m in ('sklearn', 'scipy', 'pandas') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Usage: s2mam" in run.stdout
    assert run.stdout.splitlines()[-1] == "[]"


def test_names_come_when_they_are_asked_for():
    assert set(NAMES) <= set(dir(s2mam))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        s2mam.nothing  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        s2mam.exceptions.nothing  # noqa: B018
    kind = s2mam.exceptions.ConvergenceWarning
    assert pickle.loads(pickle.dumps(kind)) is kind
    assert issubclass(kind, ConvergenceWarning)


def test_import_brings_nothing_heavy():
    # scikit-learn itself imports pandas where it is installed.
    code = (
        "import sys, sklearn.base; before = set(sys.modules); "
        f"from s2mam import {', '.join(sorted(NAMES))}; "
        f"print([m for m in {HEAVY!r} if m in set(sys.modules) - before])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
