"""The part of the benchmark that needs an accelerator: torch with CUDA, no other extra package."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from benchmarks.scale.rows import signal

P, INFORMATIVE, SHARE = 100, 10, 0.1
BLOCK = 2**17


def measure_gpu(*, quick: bool = False) -> dict[str, Any]:
    """Fits of tensors and of a generator, and how near the hot loop comes to the machine."""
    import torch

    if not torch.cuda.is_available():
        raise SystemExit("gpu needs torch with CUDA, and there is no CUDA device here.")
    n = 200_000 if quick else 1_000_000
    found: dict[str, Any] = {"device": torch.cuda.get_device_name(0), "fits": []}
    X, y, f = device_rows(torch, 0, n)
    _warm_up(torch, X, y)
    found["fits"].append(fit_tensor(torch, X, y))
    found["fits"].append(fit_base(torch, X, y, f))
    found["loop"], found["single_error"] = hot_loop(torch, X)
    del X
    torch.cuda.empty_cache()
    found["fits"].append(fit_generator(torch, 10 * n))
    return found


def device_rows(torch: Any, number: int, rows: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """Rows on the device, labels with all but a share hidden, and the noiseless signal."""
    source = torch.Generator(device="cuda").manual_seed(number)
    X = torch.randn(rows, P, generator=source, device="cuda")
    f = signal(X[:, :INFORMATIVE], torch)
    noisy = f + torch.randn(rows, generator=source, device="cuda")
    hidden = torch.rand(rows, generator=source, device="cuda") >= SHARE
    y = noisy.masked_fill(hidden, float("nan")).double().cpu().numpy()
    return X, y, f.double().cpu().numpy()


def fit_tensor(torch: Any, X: Any, y: np.ndarray) -> dict[str, Any]:
    """The default estimator on a tensor of the device."""
    from s2mam import S2MAMRegressor

    model = S2MAMRegressor(n_features_to_select=INFORMATIVE, random_state=0)
    seconds = _seconds(torch, lambda: model.fit(X, y))
    X_new, _, f_new = device_rows(torch, 10**6, 20_000)
    predict = _seconds(torch, lambda: model.predict(X))
    found = model.predict(X_new).double().cpu().numpy()
    r2 = 1.0 - np.mean((found - f_new) ** 2) / np.var(f_new)
    right = int(model.support_[:INFORMATIVE].sum())
    detail = (
        f"R2 of the signal {r2:.3f}, {right} of {INFORMATIVE} columns; all rows predicted in "
        f"{predict:.2f} s"
    )
    return {"what": "s2mam, tensor", "n": int(X.shape[0]), "seconds": seconds, "detail": detail}


def fit_base(torch: Any, X: Any, y: np.ndarray, f: np.ndarray) -> dict[str, Any]:
    """The base model: its graph is summed over all rows and columns."""
    from s2mam import ManifoldAdditiveRegressor

    model = ManifoldAdditiveRegressor()
    seconds = _seconds(torch, lambda: model.fit(X, y))
    found = model.predict(X[:20_000]).double().cpu().numpy()
    r2 = 1.0 - np.mean((found - f[:20_000]) ** 2) / np.var(f[:20_000])
    detail = f"R2 of the signal {r2:.3f}"
    return {
        "what": "base model, tensor",
        "n": int(X.shape[0]),
        "seconds": seconds,
        "detail": detail,
    }


def fit_generator(torch: Any, n: int) -> dict[str, Any]:
    """The default estimator on blocks that are made when they are read."""
    from s2mam import S2MAMRegressor
    from s2mam.scale import IteratorSource

    def blocks() -> Iterator[tuple[Any, np.ndarray]]:
        for number, start in enumerate(range(0, n, BLOCK)):
            X, y, _ = device_rows(torch, 1 + number, min(BLOCK, n - start))
            yield X, y

    torch.cuda.reset_peak_memory_stats()
    model = S2MAMRegressor(n_features_to_select=INFORMATIVE, random_state=0)
    seconds = _seconds(torch, lambda: model.fit(IteratorSource(blocks), None))
    making = _seconds(torch, lambda: [None for _ in blocks()])
    peak = torch.cuda.max_memory_allocated() / 2**30
    right = int(model.support_[:INFORMATIVE].sum())
    detail = (
        f"{right} of {INFORMATIVE} columns; making the rows once takes {making:.2f} s of it, "
        f"twice; at most {peak:.1f} GB on the device"
    )
    return {"what": "s2mam, generator", "n": n, "seconds": seconds, "detail": detail}


def hot_loop(torch: Any, X: Any) -> tuple[list[dict[str, Any]], float]:
    """One pass over rows on the device, in both precisions, against product and copy."""
    from s2mam.scale import Block

    plan = graph_plan(X)
    forms, rows = {}, []
    for dtype in (torch.float32, torch.float64):
        table = X[: 2 * BLOCK].to(dtype)
        block = Block(0, table)
        plan(block)
        seconds = min(_seconds(torch, lambda block=block: plan(block)) for _ in range(3))
        forms[dtype] = plan(block).quadratic(plan.features)
        flops, bytes_moved = work_of(plan, table)
        product, copy = peak_flops(torch, dtype), peak_bytes(torch)
        roof = max(flops / product, bytes_moved / copy)
        rows.append(
            {
                "dtype": str(dtype).split(".")[1],
                "rows_per_second": table.shape[0] / seconds,
                "tflops": flops / seconds / 1e12,
                "of_matmul": flops / seconds / product,
                "gbs": bytes_moved / seconds / 1e9,
                "of_copy": bytes_moved / seconds / copy,
                "of_roofline": roof / seconds,
                "matmul_tflops": product / 1e12,
                "copy_gbs": copy / 1e9,
            }
        )
    single, double = forms[torch.float32], forms[torch.float64]
    return rows, float(np.abs(single - double).max() / np.abs(double).max())


def graph_plan(X: Any) -> Any:
    """The pass of the base model over all columns."""
    from s2mam.bases import build_design
    from s2mam.bilevel.views import clip_numeric
    from s2mam.intake import TableReader
    from s2mam.scale.anchors import build_anchors
    from s2mam.scale.encoding import ColumnEncoder
    from s2mam.scale.features import feature_map
    from s2mam.scale.graph_sums import GraphPass

    sample = X[:5000].double().cpu().numpy()
    reader = TableReader().fit(sample)
    table = clip_numeric(reader.transform(sample), reader.kinds_)
    design = build_design(table, reader.kinds_, linear=0.3, tolerance=1e-4, max_rank=24)
    encoder = ColumnEncoder(reader, np.arange(P), clip=True)
    graph = build_anchors(encoder, np.ones(P), table.T, n_anchors=200, bandwidth=None, seed=0)
    return GraphPass(encoder, feature_map(design, encoder), graph)


def work_of(plan: Any, table: Any) -> tuple[float, float]:
    """Multiplications and additions of the products, and the bytes that must cross memory.

    Bytes count every array that is too large for a cache once when written and once when read:
    scaled values, kernel values (written, exponentiated, read), features, weights to anchors.
    """
    b = table.shape[0]
    c, r, q = plan.features.transforms.shape
    wide, m = c * r, plan.graph.n_anchors
    flops = b * (
        2.0 * c * q * 3 + 2.0 * c * q * r + 2.0 * wide * wide + 2.0 * wide * m + 2.0 * m * c
    )
    entries = b * (P + 6.0 * c + 4.0 * c * q + 4.0 * wide + 6.0 * m)
    return flops, entries * table.element_size()


def peak_flops(torch: Any, dtype: Any, size: int = 8192) -> float:
    """Speed of a large matrix product of this precision, in operations a second."""
    A = torch.randn(size, size, dtype=dtype, device="cuda")
    A @ A
    return 2.0 * size**3 / min(_seconds(torch, lambda: A @ A) for _ in range(3))


def peak_bytes(torch: Any, size: int = 2**28) -> float:
    """Speed of a copy on the device, bytes read and written a second."""
    A = torch.empty(size, dtype=torch.float32, device="cuda")
    B = torch.empty_like(A)
    B.copy_(A)
    return 8.0 * size / min(_seconds(torch, lambda: B.copy_(A)) for _ in range(3))


def _warm_up(torch: Any, X: Any, y: np.ndarray) -> None:
    """Load the libraries of the device before the clock starts."""
    graph_plan(X)
    torch.linalg.norm(X[:1000].T @ X[:1000])
    torch.cuda.synchronize()


def _seconds(torch: Any, work: Callable[[], Any]) -> float:
    torch.cuda.synchronize()
    began = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - began
