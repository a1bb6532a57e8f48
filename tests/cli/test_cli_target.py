"""Classes or numbers, labelled or not."""

from __future__ import annotations

import pandas as pd
import pytest

from s2mam.cli.console import Console
from s2mam.cli.target import Task, read_target
from s2mam.exceptions import InvalidInputError, NoLabelsError


def read(values, *, task=Task.auto, marker=None):
    console = Console(quiet=True)
    return read_target(pd.Series(values, name="y"), task, marker, console), console


@pytest.mark.parametrize(
    ("values", "classification", "labeled"),
    [
        (["a", "b", None], True, 2),
        ([0.0, 1.0, None], True, 2),
        ([0, 1, -1], True, 2),
        ([True, False, None], True, 2),
        ([0.5, 1.0, None], False, 2),
        (list(range(11)), False, 11),
        (list(range(10)), True, 10),
        ([*range(10), -1], True, 10),
        (["1.5", "2.5", "?"], False, 2),
        (["0", "1", "?"], True, 2),
    ],
)
def test_the_task_is_guessed(values, classification, labeled):
    target, console = read(values)
    assert target.classification is classification
    assert target.n_labeled == labeled == int(target.y.notna().sum())
    word = "classification" if classification else "regression"
    assert f"so {word}" in console.notes[-1]


@pytest.mark.parametrize("values", [[1.5, -999.0], ["1.5", "-999"], [1.5, -999]])
def test_a_mark_of_the_users_own_is_a_number_or_text(values):
    target, _ = read(values, task=Task.regression, marker="-999")
    assert target.y.tolist()[0] == 1.5
    assert target.n_labeled == 1


def test_one_word_among_numbers_is_asked_about():
    with pytest.raises(InvalidInputError, match="--unlabeled 'tbd'; if it is a class"):
        read(["1.5", "tbd", "2.5", "tbd"])
    assert read(["1.5", "tbd", "2.5"], marker="tbd")[0].n_labeled == 2
    assert read(["1", "tbd", "2"], task=Task.classification)[0].counts == {
        "1": 1,
        "2": 1,
        "tbd": 1,
    }


def test_a_class_that_looks_like_a_mark_is_warned_about():
    _, console = read(["yes", "no", "unknown", "no"])
    assert "--unlabeled 'unknown'" in console.warned[0]
    assert read(["yes", "no", "no"])[1].warned == []


def test_nothing_labelled():
    for values in ([None, None], [-1, -1]):
        with pytest.raises(NoLabelsError):
            read(values)


def test_a_single_class_is_warned_about():
    assert "one class only" in read(["a", "a", None])[1].warned[0]
