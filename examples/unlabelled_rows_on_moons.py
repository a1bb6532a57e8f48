"""
What unlabelled rows buy: two moons
===================================

Five labels a class, and junk columns beside the two that matter. Without the unlabelled rows the
model has ten rows to learn from; with them it sees the shape of the moons.
"""

from s2mam import S2MAMClassifier
from s2mam.datasets import hide_labels, make_moons
from s2mam.inspection import DecisionSurfaceDisplay, GraphDisplay

data = make_moons(n_samples=200, n_uninformative=3, n_noisy=3, random_state=0)
fresh = make_moons(n_samples=500, n_uninformative=3, n_noisy=3, random_state=1)
y = hide_labels(data.y, per_class=5, random_state=0)
labeled = y != -1

alone = S2MAMClassifier(random_state=0).fit(data.X[labeled], y[labeled])
both = S2MAMClassifier(random_state=0).fit(data.X, y)
print(f"labelled rows alone:      {alone.score(fresh.X, fresh.y):.2f}")
print(f"with the unlabelled rows: {both.score(fresh.X, fresh.y):.2f}")

# %%
# Where the model parts the classes, in the two columns that matter.
DecisionSurfaceDisplay.from_estimator(both, data.X, y, columns=[0, 1])

# %%
# The graph over the rows, with all columns and with the mask: junk joins the two moons.
GraphDisplay.from_estimator(both, data.X, y, columns=[0, 1], mask="support")
