"""
Quick start: regression
=======================

Sixty labelled rows among two hundred, five columns that matter among twenty-five. Out come
predictions, the columns, and the shape of each one's effect.
"""

import numpy as np

from s2mam import S2MAMRegressor
from s2mam.datasets import hide_labels, make_friedman
from s2mam.inspection import ComponentDisplay

data = make_friedman(n_samples=200, n_uninformative=15, n_noisy=5, random_state=0)
y = hide_labels(data.y, n_labeled=60, random_state=0)  # NaN marks the other 140 rows

model = S2MAMRegressor(random_state=0).fit(data.X, y)
hidden = np.isnan(y)
print("selected columns:", model.get_support(indices=True))
print(f"R2 on the rows without a label: {model.score(data.X[hidden], data.y[hidden]):.2f}")

# %%
# One curve per selected column: what its value adds to the prediction.
ComponentDisplay.from_estimator(model, data.X)
