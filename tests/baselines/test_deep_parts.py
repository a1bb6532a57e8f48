"""What all networks share: devices, layers, views, batches, averages."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from s2mam.baselines.deep.augment import TableAugmenter, read_augmentation  # noqa: E402
from s2mam.baselines.deep.splits import training_weights  # noqa: E402
from s2mam.baselines.deep.tensors import BatchStream, tensors_of  # noqa: E402
from s2mam.baselines.deep.trunk import build_mlp, build_net, read_hidden  # noqa: E402
from s2mam.baselines.rows import BaselineRows  # noqa: E402
from s2mam.exceptions import InvalidInputError  # noqa: E402
from s2mam.training.average import WeightAverage  # noqa: E402
from s2mam.training.backend import (  # noqa: E402
    load_arrays,
    read_device,
    to_arrays,
    torch_session,
)

pytestmark = pytest.mark.torch
CPU = torch.device("cpu")


def _tensors(n=40, labeled=6, classes=0):
    rng = np.random.default_rng(0)
    target = np.arange(labeled) % classes if classes else rng.normal(size=labeled)
    rows = BaselineRows(rng.normal(size=(n, 3)), np.arange(labeled) * 2, target, classes)
    return rows, tensors_of(rows, target, CPU, "float32")


def test_devices_are_read():
    assert read_device("cpu") == CPU
    assert read_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    for bad in ("gpu", "cpu:1", "cuda:x", 0, None):
        with pytest.raises(InvalidInputError, match="device="):
            read_device(bad)
    with pytest.raises(InvalidInputError, match="use device='cpu' or 'auto'"):
        read_device("cuda:99")


def test_a_session_is_seeded_and_leaves_no_trace():
    torch.manual_seed(1)
    threads, before = torch.get_num_threads(), torch.random.get_rng_state()
    draws = []
    for seed in (5, 5, 6):
        with torch_session(seed, CPU):
            assert torch.get_num_threads() == 1
            draws.append(torch.rand(3))
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.get_num_threads() == threads


def test_threads_come_back_after_an_error():
    threads = torch.get_num_threads()
    with pytest.raises(KeyError), torch_session(0, CPU):
        raise KeyError
    assert torch.get_num_threads() == threads


def test_weights_go_to_arrays_and_back_in_another_precision():
    net, other = build_net(3, 2, (5, 4)), build_net(3, 2, (5, 4)).double()
    x = torch.randn(7, 3, dtype=torch.float64)
    load_arrays(other, to_arrays(net))
    assert other[1].weight.dtype == torch.float64
    assert torch.equal(other(x), net.double()(x))
    arrays = to_arrays(net)
    with torch.no_grad():
        net[1].bias += 1.0
    assert np.array_equal(arrays["1.bias"], other[1].bias.detach())


def test_layers_are_as_asked():
    net = build_mlp((3, 4, 2), activation="Tanh", dropout=0.5, xavier=True)
    assert [type(layer).__name__ for layer in net] == ["Linear", "Tanh", "Dropout", "Linear"]
    assert float(net[0].bias.detach().abs().max()) == 0.0
    ends = build_mlp((3, 4, 2), activation=lambda: torch.nn.LeakyReLU(0.1), activate_last=True)
    assert ends[-1].negative_slope == 0.1
    for bad in ((), (0,), (2.5,), "100", 10, None):
        with pytest.raises(InvalidInputError, match="hidden="):
            read_hidden(bad)


def test_noise_follows_the_spread_of_the_columns():
    torch.manual_seed(0)
    table = torch.randn(500, 3) * torch.tensor([1.0, 10.0, 0.0])
    views = TableAugmenter(weak=0.1, strong=0.2).bind(table)
    x = table.repeat(20, 1)
    spread = table.std(dim=0, unbiased=False)
    for view, size in ((views.weak(x), 0.1), (views.strong(x), 0.2)):
        torch.testing.assert_close((view - x).std(dim=0), size * spread, rtol=0.05, atol=1e-6)
        assert float((view - x).mean(dim=0).abs().max()) < 0.05


def test_swaps_take_values_of_the_same_column():
    torch.manual_seed(0)
    table = torch.arange(300.0).reshape(100, 3)
    x = table.repeat(20, 1) + 0.5
    seen = TableAugmenter(strong="swap", swap_rate=0.3).bind(table).strong(x)
    changed = seen != x
    assert float(changed.float().mean()) == pytest.approx(0.3, abs=0.02)
    for column in range(3):
        assert torch.isin(seen[:, column][changed[:, column]], table[:, column]).all()
    same = TableAugmenter(strong="swap", swap_rate=0.0).bind(table)
    assert torch.equal(same.strong(x), x)


@pytest.mark.parametrize(
    ("name", "value"), [("weak", -1.0), ("strong", "mix"), ("strong", -0.1), ("swap_rate", 1.5)]
)
def test_bad_views_are_named(name, value):
    with pytest.raises(InvalidInputError, match=f"augmentation.{name}"):
        TableAugmenter(**{name: value}).bind(torch.zeros(2, 2))
    with pytest.raises(InvalidInputError, match="TableAugmenter"):
        read_augmentation("strong")


def test_batches_hold_labelled_rows_with_their_labels():
    rows, data = _tensors(classes=3)
    batch = BatchStream(data, batch_size=64, ratio=1).draw(7)
    assert batch.step == 7
    assert batch.x.shape == (48, 3)  # eight times the labels
    found = {tuple(x.tolist()): int(y) for x, y in zip(batch.x, batch.y, strict=True)}
    shown = torch.as_tensor(rows.table[rows.labeled], dtype=torch.float32)
    assert found == {tuple(x.tolist()): int(y) for x, y in zip(shown, rows.target, strict=True)}


def test_a_pass_sees_every_row_once():
    _, data = _tensors(n=40)
    stream = BatchStream(data, batch_size=2, ratio=5)
    batches = [stream.draw(step) for step in range(4)]
    rows = torch.cat([batch.u_rows for batch in batches])
    assert sorted(rows.tolist()) == list(range(40))
    assert torch.equal(torch.cat([batch.u for batch in batches]), data.x[rows])


def test_labelled_rows_can_stay_out_of_the_stream():
    rows, data = _tensors(n=40)
    stream = BatchStream(data, labeled_too=False)
    assert set(stream.pool.tolist()) == set(rows.unlabeled.tolist())
    assert stream.n_unlabeled == 34
    _, alone = _tensors(n=12, labeled=6)
    full = BaselineRows(rows.table[:6], np.arange(6), np.arange(6.0), 0)
    stream = BatchStream(tensors_of(full, full.target, CPU, "float64"), labeled_too=False)
    assert stream.draw(1).u.shape == (6, 3)
    assert alone.x.dtype == torch.float32


def test_the_average_is_that_of_all_steps_until_the_decay_is_reached():
    net = torch.nn.Linear(1, 1, bias=False)
    values = [3.0, 1.0, -2.0, 5.0, 4.0]
    with torch.no_grad():
        net.weight.fill_(values[0])
        average = WeightAverage(net, 0.7)
        for step, value in enumerate(values[1:], start=1):
            net.weight.fill_(value)
            average.update(step)
    expected = np.mean(values[:3])
    for value in values[3:]:  # 1 - 1 / (t + 1) passes 0.7 at the fourth value
        expected = 0.7 * expected + 0.3 * value
    with average.in_use():
        assert float(net.weight.detach()) == pytest.approx(expected)
    assert float(net.weight.detach()) == 4.0
    average.settle()
    assert float(net.weight.detach()) == pytest.approx(expected)


@pytest.mark.parametrize(("labels", "splits"), [(1, 0), (2, 2), (12, 5), (29, 5), (30, 3)])
def test_held_out_rows_do_not_train(labels, splits):
    train, test = training_weights(labels, 3, CPU)
    assert train.shape == test.shape == (splits, labels)
    assert not bool(((train > 0) & (test > 0)).any())
    torch.testing.assert_close(train.sum(dim=1), torch.ones(splits))
    torch.testing.assert_close(test.sum(dim=1), torch.ones(splits))
    if 1 < labels < 30:
        assert bool(((test > 0).sum(dim=0) == 1).all())
    if labels == 30:
        assert bool(((test > 0).sum(dim=1) == 10).all())


def test_listing_the_baselines_does_not_import_torch():
    program = (
        "import sys; from s2mam.baselines import all_baselines; "
        "assert 'DAN' in all_baselines('regression'); print('torch' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout.strip() == "False", run.stderr
