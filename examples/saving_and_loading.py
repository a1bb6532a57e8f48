"""
Saving, loading, and a model without this package
=================================================

A model file holds JSON and plain arrays; no code runs when it is read. A lookup table goes further:
it predicts with a few lines of any language.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import s2mam
from s2mam import S2MAMRegressor
from s2mam.datasets import hide_labels, make_friedman
from s2mam.inspection import export_lookup, predict_from_lookup

data = make_friedman(n_samples=150, n_uninformative=3, n_noisy=2, random_state=0)
model = S2MAMRegressor(random_state=0).fit(
    data.X, hide_labels(data.y, n_labeled=60, random_state=0)
)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "friedman.s2mam"
    model.save(path)
    again = s2mam.load(path)
    print(f"model file: {path.stat().st_size / 1000:.0f} kB")
    print("same predictions:", np.array_equal(model.predict(data.X), again.predict(data.X)))

    table = export_lookup(model, data.X, Path(folder) / "friedman.csv")
    decisions = predict_from_lookup(Path(folder) / "friedman.csv", data.X)
    print(f"lookup table: {len(table.rows)} lines")
    print(f"largest difference: {np.abs(decisions - model.predict(data.X)).max():.1e}")

# %%
# All that such a table asks of a language is to draw straight lines between points.
lines = [row for row in table.rows if row["column"] == "x2" and row["kind"] == "number"]
figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
axis.plot([row["value"] for row in lines], [row["contribution"] for row in lines], "k.-", ms=3)
axis.set(xlabel="x2", ylabel="adds to the prediction")
