"""
Why this prediction? Explaining one row
=======================================

A prediction is the intercept plus one number per column, exactly. So an explanation is no
approximation: it is the model.
"""

import numpy as np
from sklearn.datasets import load_diabetes

from s2mam import S2MAMRegressor
from s2mam.datasets import hide_labels
from s2mam.inspection import ContributionDisplay

diabetes = load_diabetes(as_frame=True, scaled=False)
y = hide_labels(diabetes.target, n_labeled=80, random_state=0)
model = S2MAMRegressor(random_state=0).fit(diabetes.data, y)

row = diabetes.data.iloc[[3]]
added = model.contributions(row)[0]
print(f"intercept  {model.intercept_:7.1f}")
for column in np.argsort(-np.abs(added))[:5]:
    print(f"{diabetes.feature_names[column]:10} {added[column]:+7.1f}")
print(f"all columns and the intercept {model.intercept_ + added.sum():.1f}")
print(f"prediction                    {model.predict(row)[0]:.1f}")

# %%
# The same as a picture.
ContributionDisplay.from_estimator(model, diabetes.data, row=3, top=6)
