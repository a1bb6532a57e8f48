"""Very many columns: 500 rows, 100 labels, a few columns that matter among thousands."""

from __future__ import annotations

from typing import Any

import numpy as np
from benchmarks.scale.measures import clocked
from benchmarks.scale.rows import signal

ROWS, LABELED, INFORMATIVE, FRESH = 500, 100, 4, 2000
#: Share of the entries of the sparse table that are stored.
DENSITY = 0.05
#: Columns that matter there hold more than the others, as frequent words do.
DENSE_SHARE = 0.5


def make_wide(kind: str, p: int, seed: int) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """Training table and target with hidden labels, fresh table and its target."""
    rng = np.random.default_rng([9, p, seed])
    n = ROWS + FRESH
    if kind == "dense":
        table = rng.standard_normal((n, p))
        y = signal(table[:, :INFORMATIVE], np)
    else:
        table, y = _counts(rng, n, p)
    y = y + 0.3 * y.std() * rng.normal(size=n)
    few = y[:ROWS].copy()
    few[LABELED:] = np.nan
    return table[:ROWS], few, table[ROWS:], y[ROWS:]


def _counts(rng: np.random.Generator, n: int, p: int) -> tuple[Any, np.ndarray]:
    """Counts as a sparse table, and a sum of their logarithms."""
    from scipy import sparse

    junk = sparse.random_array(
        (n, p - INFORMATIVE), density=DENSITY, rng=rng, data_sampler=rng.standard_exponential
    )
    head = rng.exponential(3.0, (n, INFORMATIVE)) * (rng.random((n, INFORMATIVE)) < DENSE_SHARE)
    table = sparse.hstack([sparse.csr_array(np.ceil(head)), junk.ceil()], format="csr")
    signs = np.where(np.arange(INFORMATIVE) % 2, -1.0, 1.0)
    return table, np.log1p(np.ceil(head)) @ signs


def fit_wide(case: dict[str, Any]) -> dict[str, Any]:
    """Fit one method to one table."""
    X, y, X_new, y_new = make_wide(case["kind"], case["p"], case["seed"])
    model: Any
    if case["method"] == "wide":
        from s2mam import S2MAMRegressor

        model = S2MAMRegressor(random_state=0)
        answer = clocked(model, X, y)
        found = np.flatnonzero(model.get_support())
    else:
        from sklearn.linear_model import LassoCV

        known = ~np.isnan(y)
        model = LassoCV(cv=5, random_state=0)
        answer = clocked(model, X[np.flatnonzero(known)], y[known])
        found = np.flatnonzero(model.coef_)
    residual = y_new - np.asarray(model.predict(X_new))
    return answer | {
        "r2": float(1.0 - residual.var() / y_new.var()),
        "found": int((found < INFORMATIVE).sum()),
        "selected": int(found.size),
        "labeled": LABELED,
    }
