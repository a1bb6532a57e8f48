"""A running fit: who is told, what stops it, and what is left then."""

from __future__ import annotations

import time

import numpy as np
import pytest
from estimator_data import LEARNERS, decide, make, rows

import s2mam
from s2mam import S2MAMClassifier, S2MAMRegressor
from s2mam.estimators import callback_support
from s2mam.exceptions import InvalidInputError

pytestmark = pytest.mark.filterwarnings("ignore::s2mam.exceptions.ConvergenceWarning")
MASKED = [name for name in LEARNERS if name != "base"]
#: When to stop each learner, so that there is something to keep.
STOPS = {"posterior": 8, "relaxed": 30, "rloo": 7, "paper": 2}


def _stop_at(number):
    return lambda progress: progress["done"] >= number


def _interrupt_at(number):
    def interrupt(progress):
        if progress["done"] >= number:
            raise KeyboardInterrupt

    return interrupt


def _assert_usable(model, X, tmp_path):
    """Predicts, explains, selects and goes into a file."""
    decision = decide(model, X)
    assert np.isfinite(decision).all()
    total = model.contributions(X).sum(axis=1) + model.intercept_
    np.testing.assert_allclose(total, decision, atol=1e-9)
    assert model.transform(X).shape[1] == model.support_.sum() >= 1
    assert model.transduction_.shape[0] == X.shape[0]
    model.set_params(callbacks=None).save(tmp_path / "model")
    loaded = s2mam.load(tmp_path / "model")
    np.testing.assert_array_equal(decide(loaded, X), decision)
    assert loaded.stop_reason_ == model.stop_reason_


@pytest.mark.parametrize("task", ["regression", "multiclass"])
@pytest.mark.parametrize("learner", MASKED)
def test_a_callback_stops_every_learner_and_leaves_a_model(learner, task, tmp_path):
    X, _, y = rows(task)
    seen = []
    model = make(learner, task)
    model.set_params(callbacks=[seen.append, _stop_at(STOPS[learner])]).fit(X, y)
    assert model.stop_reason_ == "callback"
    assert seen[-1]["done"] == STOPS[learner]
    assert all(step["estimator"] is model for step in seen)
    assert [step["seconds"] for step in seen] == sorted(step["seconds"] for step in seen)
    _assert_usable(model, X, tmp_path)


@pytest.mark.parametrize("stop", [1, 4, 7, 11])
def test_the_default_learner_stops_between_any_two_units(stop, tmp_path):
    X, full, y = rows("regression")
    model = make("posterior", "regression").set_params(callbacks=[_stop_at(stop)])
    model.fit(X, y)
    assert model.stop_reason_ == "callback"
    assert model.score(X, full) > 0.9
    assert model.refit_selected().score(X, full) > 0.9
    np.testing.assert_array_equal(model.get_support(indices=True), [0, 1])
    _assert_usable(model, X, tmp_path)


def test_a_stop_at_the_last_unit_stops_nothing():
    X, _, y = rows("regression")
    whole = make("posterior", "regression").fit(X, y)
    model = make("posterior", "regression").set_params(callbacks=[_stop_at(12)]).fit(X, y)
    assert model.stop_reason_ == whole.stop_reason_ == "max_iter"
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))


def test_probabilities_are_calibrated_with_the_finished_folds():
    X, full, y = rows("binary", n_labeled=40)
    model = make("posterior", "binary").set_params(callbacks=[_stop_at(9)]).fit(X, y)
    chance = model.predict_proba(X)[np.arange(60), full]
    assert np.log(chance).mean() > np.log(0.5)
    assert model.score(X, full) > 0.85


@pytest.mark.parametrize("learner", MASKED)
def test_a_time_limit_stops_every_learner(learner, tmp_path):
    X, _, y = rows("regression")
    model = make(learner, "regression").set_params(
        time_limit=0.02, callbacks=[lambda progress: time.sleep(0.03)]
    )
    model.fit(X, y)
    assert model.stop_reason_ == "time_limit"
    _assert_usable(model, X, tmp_path)


@pytest.mark.parametrize("learner", MASKED)
def test_a_time_limit_that_is_not_reached_changes_nothing(learner):
    X, _, y = rows("regression", n=40, n_labeled=20)
    plain = make(learner, "regression").fit(X, y)
    limited = make(learner, "regression").set_params(time_limit=600.0, verbose=0).fit(X, y)
    np.testing.assert_array_equal(limited.predict(X), plain.predict(X))
    assert limited.stop_reason_ == plain.stop_reason_


@pytest.mark.parametrize("learner", MASKED)
def test_an_interrupt_goes_through_by_default(learner):
    X, _, y = rows("regression")
    model = make(learner, "regression").set_params(callbacks=[_interrupt_at(STOPS[learner])])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "stop_reason_")


@pytest.mark.parametrize("task", ["regression", "binary"])
@pytest.mark.parametrize("learner", MASKED)
def test_an_interrupt_can_be_kept(learner, task, tmp_path):
    X, _, y = rows(task)
    model = make(learner, task)
    model.set_params(callbacks=[_interrupt_at(STOPS[learner])], on_interrupt="keep").fit(X, y)
    assert model.stop_reason_ == "interrupted"
    _assert_usable(model, X, tmp_path)


@pytest.mark.parametrize("task", ["regression", "binary"])
@pytest.mark.parametrize("after", [1, 3, 6])
def test_an_interrupt_in_the_search_can_be_kept(task, after, tmp_path):
    X, _, y = rows(task)
    model = make("posterior", task)
    model.set_params(callbacks=[_interrupt_at(after)], on_interrupt="keep").fit(X, y)
    assert model.stop_reason_ == "interrupted"
    _assert_usable(model, X, tmp_path)


def test_an_interrupt_with_nothing_to_keep_goes_through(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    X, _, y = rows("regression")
    monkeypatch.setattr("s2mam.bilevel.averaging.search_masks", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make("posterior", "regression").set_params(on_interrupt="keep").fit(X, y)


@pytest.mark.parametrize(
    ("learner", "stop", "how"),
    [
        ("posterior", 3, "callback"),
        ("posterior", 3, "raise"),
        ("posterior", 3, "keep"),
        ("posterior", 8, "time_limit"),
        ("posterior", 8, "keep"),
        ("rloo", 7, "callback"),
        ("rloo", 7, "time_limit"),
        ("rloo", 7, "keep"),
        ("paper", 2, "raise"),
    ],
)
def test_a_stopped_fit_with_a_checkpoint_goes_on_to_the_same_bits(learner, stop, how, tmp_path):
    X, _, y = rows("regression")
    whole = make(learner, "regression").fit(X, y)
    stopped = make(learner, "regression").set_params(checkpoint=tmp_path / "fit")
    if how == "callback":
        stopped.set_params(callbacks=[_stop_at(stop)]).fit(X, y)
    elif how == "time_limit":
        sleep = [lambda progress: time.sleep(0.3 * (progress["done"] >= stop))]
        stopped.set_params(callbacks=sleep, time_limit=0.3).fit(X, y)
    else:
        stopped.set_params(callbacks=[_interrupt_at(stop)], on_interrupt=how)
        if how == "raise":
            with pytest.raises(KeyboardInterrupt):
                stopped.fit(X, y)
        else:
            stopped.fit(X, y)
    seen = []
    resumed = make(learner, "regression").set_params(
        checkpoint=tmp_path / "fit", callbacks=[seen.append]
    )
    resumed.fit(X, y)
    # Under load the time limit may come earlier, never later.
    assert seen[0]["done"] == stop + 1 or (how == "time_limit" and seen[0]["done"] <= stop + 1)
    assert resumed.stop_reason_ == whole.stop_reason_
    np.testing.assert_array_equal(resumed.predict(X), whole.predict(X))
    np.testing.assert_array_equal(resumed.mask_probabilities_, whole.mask_probabilities_)


def test_what_callbacks_are_told():
    X, _, y = rows("regression")
    seen = []
    make("posterior", "regression").set_params(callbacks=[seen.append]).fit(X, y)
    assert [step["done"] for step in seen] == list(range(1, 13))
    assert {step["total"] for step in seen} == {12}
    assert [step["stage"] for step in seen] == ["search"] * 6 + ["full"] + ["fold"] * 5
    seen.clear()
    make("rloo", "regression").set_params(callbacks=[seen.append]).fit(X, y)
    assert [step["iteration"] for step in seen] == list(range(1, 31))
    assert seen[0]["probabilities"].shape == (5,)
    assert not np.array_equal(seen[0]["probabilities"], seen[-1]["probabilities"])
    assert np.isfinite([step["criterion"] for step in seen]).all()
    seen.clear()
    make("relaxed", "regression").set_params(callbacks=[seen.append]).fit(X, y)
    assert seen[0]["total"] is None
    values = [step["criterion"] for step in seen if step["criterion"] is not None]
    assert values == sorted(values, reverse=True)


def test_quiet_by_default_and_plain_lines_when_verbose(capsys):
    X, _, y = rows("binary")
    S2MAMClassifier(max_iter=5, random_state=0).fit(X, y)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")
    model = S2MAMClassifier(max_iter=5, random_state=0, verbose=1).fit(X, y)
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert all(line.startswith("[S2MAMClassifier] ") for line in lines)
    assert "30 labelled of 60 rows, 5 columns" in lines[0]
    assert "mask_learner: posterior" in lines[0]
    assert "graph: neighbors" in lines[0]
    assert "search 1/12" in lines[1]
    assert lines[1].endswith(" s")
    assert "fold 12/12" in lines[-2]
    assert f"{model.support_.sum()} of 5 columns selected" in lines[-1]
    assert "member weights: masks" in lines[-1]


def test_long_loops_write_few_lines(capsys):
    X, _, y = rows("regression")
    model = S2MAMRegressor(
        mask_learner="rloo", n_features_to_select=2, sparsity=0.01, manifold=0.0,
        max_iter=200, random_state=0, verbose=1,
    ).fit(X, y)  # fmt: skip
    lines = capsys.readouterr().err.splitlines()
    assert 10 <= len(lines) <= 25
    assert "iteration 200/200" in lines[-2]
    assert f"({model.stop_reason_})" in lines[-1]
    model.set_params(max_iter=60, verbose=2, sparsity="auto").fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 62
    assert "sparsity: by leave-one-out" in lines[0]
    assert "sparsity=" in lines[-1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("time_limit", 0),
        ("time_limit", -1.0),
        ("time_limit", "soon"),
        ("time_limit", True),
        ("time_limit", np.nan),
        ("verbose", "loud"),
        ("verbose", 0.5),
        ("verbose", -1),
        ("on_interrupt", "ignore"),
        ("on_interrupt", None),
        ("callbacks", print),
        ("callbacks", ["print"]),
        ("callbacks", "print"),
    ],
)
def test_bad_settings_are_named(name, value):
    X, _, y = rows("regression")
    with pytest.raises(InvalidInputError, match=name):
        S2MAMRegressor(**{name: value}).fit(X, y)


def test_constant_labels_need_no_work():
    X, _, _ = rows("regression")
    seen = []
    model = S2MAMRegressor(callbacks=[seen.append], time_limit=1e-9).fit(X, np.ones(60))
    assert seen == []
    assert model.stop_reason_ == "one value"


# ---------------------------------------------------------------- scikit-learn's own callbacks

needs_callbacks = pytest.mark.skipif(
    callback_support.CallbackSupportMixin.__module__.startswith("s2mam"),
    reason="this scikit-learn has no callbacks",
)


class Recorder:
    """A callback of scikit-learn's protocol that follows into sub-estimators."""

    max_propagation_depth = None

    def __init__(self, stop=None):
        self.stop, self.events, self.names = stop, [], []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.names.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.names.append(f"end {context.task_name}")
        self.last = (X, y, fitted_estimator)
        return self.stop is not None and context.task_id + 1 >= self.stop


@needs_callbacks
@pytest.mark.parametrize("learner", LEARNERS)
def test_scikit_learn_callbacks_see_a_tree_of_tasks(learner):
    X, _, y = rows("regression")
    recorder = Recorder()
    model = make(learner, "regression").set_callbacks(recorder).fit(X, y)
    plain = make(learner, "regression").fit(X, y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    assert recorder.events == ["setup", "teardown"]
    assert (recorder.names[0], recorder.names[-1]) == ("begin fit", "end fit")
    stages = {"posterior": "fold", "relaxed": "search", "rloo": "iteration", "paper": "iteration"}
    if learner != "base":
        assert f"end {stages[learner]}" in recorder.names
    np.testing.assert_array_equal(recorder.last[2].predict(X), plain.predict(X))
    assert not hasattr(model, "_callback_fit_ctx")


@needs_callbacks
@pytest.mark.parametrize("learner", MASKED)
def test_scikit_learn_callbacks_stop_a_fit(learner, tmp_path):
    X, _, y = rows("regression")
    model = make(learner, "regression").set_callbacks(Recorder(stop=2)).fit(X, y)
    assert model.stop_reason_ == "callback"
    _assert_usable(model, X, tmp_path)


@needs_callbacks
def test_callbacks_are_torn_down_after_an_error():
    X, _, y = rows("regression")
    recorder = Recorder()
    model = make("posterior", "regression").set_callbacks(recorder)
    model.set_params(callbacks=[_interrupt_at(2)])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert recorder.events == ["setup", "teardown"]


@needs_callbacks
def test_progress_bar_and_scoring_monitor_of_scikit_learn(capsys):
    from sklearn.callback import ProgressBar, ScoringMonitor
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from s2mam.model_selection import SemiSupervisedKFold, labeled_scorer

    X, _, y = rows("regression")
    pytest.importorskip("rich")
    pipeline = make_pipeline(StandardScaler(), make("posterior", "regression"))
    pipeline.set_callbacks(ProgressBar()).fit(X, y)
    assert "S2MAMRegressor" in capsys.readouterr().out
    monitor = ScoringMonitor(scoring={"r2": labeled_scorer("r2")})
    model = make("posterior", "regression").set_callbacks(monitor).fit(X, y)
    assert monitor.get_logs().data[-1]["r2"] == pytest.approx(labeled_scorer("r2")(model, X, y))
    recorder = Recorder()
    GridSearchCV(
        make("posterior", "regression"),
        {"n_features_to_select": [1, 2]},
        cv=SemiSupervisedKFold(2),
        scoring=labeled_scorer("r2"),
        error_score="raise",
    ).set_callbacks(recorder).fit(X, y)
    assert recorder.names.count("end full") == 5


def test_without_scikit_learn_callbacks_all_else_works(monkeypatch):
    """As on scikit-learn before 1.9, where the mixin is empty."""
    import importlib
    import sys

    monkeypatch.setitem(sys.modules, "sklearn.callback", None)
    old = importlib.reload(callback_support)
    try:
        assert not hasattr(old.CallbackSupportMixin, "set_callbacks")

        @old.with_callbacks
        def method(self):
            return self

        assert method(3) == 3
    finally:
        monkeypatch.undo()
        importlib.reload(callback_support)
    X, _, y = rows("regression")
    seen = []
    model = make("posterior", "regression").set_params(callbacks=[seen.append])
    monkeypatch.setattr(type(model), "_init_callback_context", property(_absent), raising=False)
    assert model.fit(X, y).stop_reason_ == "max_iter"
    assert len(seen) == 12


def _absent(self):
    raise AttributeError
