"""
Classification with names and None
==================================

Classes may be text, and ``None`` marks a row whose class is not known. Nothing has to be encoded.
"""

import numpy as np
from sklearn.datasets import load_wine

from s2mam import S2MAMClassifier
from s2mam.datasets import hide_labels
from s2mam.inspection import ComponentDisplay

wine = load_wine(as_frame=True)
names = np.array(["Barolo", "Grignolino", "Barbera"], dtype=object)  # the three cultivars
cultivar = names[wine.target]
y = hide_labels(cultivar, per_class=5, random_state=0)
print("the first labels:", list(y[:20]))

# %%
# Fit on all rows, labelled or not; score on those that had no label.
model = S2MAMClassifier(random_state=0).fit(wine.data, y)
hidden = np.array([label is None for label in y])
print("classes:", list(model.classes_))
print(f"accuracy on rows without a label: {model.score(wine.data[hidden], cultivar[hidden]):.2f}")

# %%
# Probabilities come in the order of ``classes_``.
for row in (0, 70, 150):
    shares = model.predict_proba(wine.data.iloc[[row]])[0]
    told = [f"{name} {share:.2f}" for name, share in zip(model.classes_, shares, strict=True)]
    print(f"row {row} ({cultivar[row]}):", ", ".join(told))

# %%
# The names are in the pictures, too.
ComponentDisplay.from_estimator(model, wine.data, columns=["proline", "color_intensity"])
