"""
Categories and missing values
=============================

Columns of text, bool or type category are categories. Missing cells stay missing: such a cell adds
what the model says about "missing", and nothing has to be filled in.
"""

import numpy as np
import pandas as pd

from s2mam import S2MAMRegressor
from s2mam.inspection import ComponentDisplay, component_curves

rng = np.random.default_rng(0)
n = 300
table = pd.DataFrame(
    {
        "age": rng.uniform(20, 80, n).round(),
        "ward": rng.choice(["A", "B", "C"], n),
        "smoker": rng.random(n) < 0.3,
        "noise 1": rng.normal(size=n),
        "noise 2": rng.normal(100, 100, size=n),
    }
)
effect = {"A": 0.0, "B": 2.0, "C": -1.0}
y = 0.05 * table["age"] + table["ward"].map(effect) + 1.5 * table["smoker"]
y = (y + 0.3 * rng.normal(size=n)).to_numpy()
table.loc[rng.random(n) < 0.1, "age"] = np.nan
table.loc[rng.random(n) < 0.1, "ward"] = None
y_few = np.where(np.arange(n) < 80, y, np.nan)

model = S2MAMRegressor(random_state=0).fit(table, y_few)
for name, probability in zip(table.columns, model.mask_probabilities_, strict=True):
    print(f"{name:8} {probability:.2f}")
print(f"R2 on the rows without a label: {model.score(table[80:], y[80:]):.2f}")

# %%
# Bars for categories, and what a missing value adds.
ComponentDisplay.from_estimator(model, table, columns=["age", "ward", "smoker"])

# %%
# The same as numbers. A category that was not there in the fit counts as missing.
ward = component_curves(model, table, columns=["ward"])[0]
print({name: round(float(value), 2) for name, value in zip(ward.grid, ward.values, strict=True)})
new = pd.DataFrame(
    {"age": [50.0], "ward": ["Z"], "smoker": [True], "noise 1": [0.0], "noise 2": [100.0]}
)
print("an unknown ward:", model.predict(new).round(1))
