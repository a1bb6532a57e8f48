"""
Comparing with the paper's systems
==================================

All systems that the paper compares with follow one contract: the same markers, the same tables. So
a comparison is a loop. One draw of one small table proves nothing; the studies have many.
"""

import matplotlib.pyplot as plt

from s2mam import S2MAMClassifier
from s2mam.baselines import all_baselines
from s2mam.datasets import hide_labels, make_moons

train = make_moons(n_samples=150, n_uninformative=3, n_noisy=3, random_state=0)
test = make_moons(n_samples=400, n_uninformative=3, n_noisy=3, random_state=1)
y = hide_labels(train.y, per_class=5, random_state=0)

systems = all_baselines("classification")
print(len(systems), "systems:", ", ".join(sorted(systems)))

# %%
# Each with its own defaults, so without the tuning that a fair study does.
wanted = ["l1-SVM", "SpAM", "LapSVM", "LapRLS", "f-FME", "AWSSL"]
models = {name: systems[name]() for name in wanted}
models["S2MAM"] = S2MAMClassifier(random_state=0)
scores = {name: model.fit(train.X, y).score(test.X, test.y) for name, model in models.items()}
for name, score in sorted(scores.items(), key=lambda pair: -pair[1]):
    print(f"{name:8} {score:.2f}")

# %%
# The line is the accuracy of a guess.
figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
axis.barh(list(scores), list(scores.values()), color="#0072B2")
axis.axvline(0.5, color="black", linewidth=1)
axis.set_xlabel("accuracy on fresh rows")
