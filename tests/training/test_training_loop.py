"""The training loop, against what it promises."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from s2mam.exceptions import InvalidInputError, S2MAMError, TrainingDivergedError  # noqa: E402
from s2mam.training.loop import TrainingPlan, train  # noqa: E402

pytestmark = pytest.mark.torch
FLAT = TrainingPlan(steps=20, learning_rate=0.1, average=None, check_every=5)


class _Point(torch.nn.Module):
    def __init__(self, value=0.0):
        super().__init__()
        self.at = torch.nn.Parameter(torch.tensor(float(value)))


def _sgd(net, rate=0.1):
    return torch.optim.SGD(net.parameters(), lr=rate)


def _square(net, goal=1.0):
    return lambda _: (net.at - goal) ** 2


def test_gradient_steps_are_those_of_the_formula():
    net, seen = _Point(), []
    log = train(
        net, _square(net), FLAT, draw=seen.append, optimizer=_sgd(net), after_step=seen.append
    )
    assert float(net.at.detach()) == pytest.approx(1.0 - 0.8**20, rel=1e-5)
    assert seen == [step for step in range(1, 21) for _ in range(2)]
    expected = [sum(0.8 ** (2 * t) for t in range(k, k + 5)) / 5 for k in range(0, 20, 5)]
    assert log.history == pytest.approx(expected, rel=1e-4)
    assert (log.n_iter, log.stop_reason, log.validation) == (20, "max_iter", [])
    assert not net.training


def test_the_rate_falls_along_a_cosine():
    net, steps, last = _Point(), [], [0.0]

    def record(_):
        steps.append(float(net.at.detach()) - last[0])
        last[0] = float(net.at.detach())

    plan = TrainingPlan(steps=10, cosine=True, average=None)
    # The slope is -1, so that a step is the rate.
    train(net, lambda _: -net.at, plan, draw=int, optimizer=_sgd(net), after_step=record)
    expected = [0.1 * math.cos(0.5 * math.pi * t / 10) for t in range(10)]
    assert steps == pytest.approx(expected, rel=1e-4)


def test_gradients_are_clipped():
    net = _Point()
    plan = TrainingPlan(steps=1, clip=0.5, average=None)
    train(net, lambda _: -1000.0 * net.at, plan, draw=int, optimizer=_sgd(net, 1.0))
    assert float(net.at.detach()) == pytest.approx(0.5, rel=1e-4)


def test_the_average_is_kept_in_the_end():
    net, path = _Point(), [0.0]
    plan = TrainingPlan(steps=6, average=0.99)
    train(
        net,
        lambda _: -net.at,
        plan,
        draw=int,
        optimizer=_sgd(net, 1.0),
        after_step=lambda _: path.append(float(net.at.detach())),
    )
    assert path == pytest.approx(range(7))
    assert float(net.at.detach()) == pytest.approx(3.0)


@pytest.mark.parametrize("average", [None, 0.5])
def test_the_weights_of_the_best_validation_are_kept(average):
    net, looks = _Point(), []

    def validate():
        assert not net.training
        assert not torch.is_grad_enabled()
        looks.append(float(net.at.detach()))
        return abs(looks[-1] - 3.0)

    plan = TrainingPlan(steps=50, average=average, check_every=1, patience=4)
    log = train(net, lambda _: -net.at, plan, draw=int, optimizer=_sgd(net, 0.5), validate=validate)
    best = min(looks, key=lambda value: abs(value - 3.0))
    assert float(net.at.detach()) == best
    assert log.stop_reason == "patience"
    assert log.n_iter == looks.index(best) + 1 + 4
    assert log.validation == [abs(value - 3.0) for value in looks]


def test_patience_goes_by_the_training_loss_where_nothing_is_held_out():
    net = _Point()
    plan = TrainingPlan(steps=500, average=None, check_every=10, patience=3)
    log = train(net, lambda _: 0.0 * net.at + 2.0, plan, draw=int)
    assert (log.n_iter, log.stop_reason) == (40, "patience")


def test_progress_is_told_at_every_look():
    net, told = _Point(), []
    plan = TrainingPlan(steps=12, check_every=5, progress=lambda *facts: told.append(facts))
    log = train(net, _square(net), plan, draw=int)
    assert [facts[:2] for facts in told] == [(5, 12), (10, 12), (12, 12)]
    assert [facts[2] for facts in told] == log.history


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_ends_training(bad):
    net = _Point()

    def loss(step):
        return net.at * (bad if step == 3 else 1.0) + 1.0

    with pytest.raises(TrainingDivergedError, match="after 5 steps; lower the learning rate") as e:
        train(net, loss, FLAT, draw=int)
    assert isinstance(e.value, S2MAMError)
    assert isinstance(e.value, ArithmeticError)


@pytest.mark.parametrize(
    ("field", "value", "name"),
    [
        ("steps", 0, "max_iter"),
        ("learning_rate", 0.0, "learning_rate"),
        ("weight_decay", -1.0, "weight_decay"),
        ("clip", 0.0, "clip"),
        ("average", 1.0, "average"),
        ("patience", 0, "patience"),
        ("check_every", 0, "check_every"),
        ("progress", 3, "progress"),
    ],
)
def test_bad_plans_are_named(field, value, name):
    net = _Point()
    with pytest.raises(InvalidInputError, match=f"{name}="):
        train(net, _square(net), TrainingPlan(**{field: value}), draw=int)
