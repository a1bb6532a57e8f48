"""
Junk columns and mask probabilities
===================================

Twenty columns of noise are added to a real table. The mask probability of a column says how likely
it is to be in the model; those above one half are selected.
"""

from sklearn.datasets import load_wine

from s2mam import S2MAMClassifier
from s2mam.datasets import corrupt, hide_labels
from s2mam.inspection import ComponentDisplay, ContributionDisplay, MaskDisplay

wine = load_wine(as_frame=True)
X = corrupt(wine.data, n_uninformative=10, n_noisy=10, random_state=0)  # u1..u10 and n1..n10
y = hide_labels(wine.target, per_class=5, random_state=0)

model = S2MAMClassifier(random_state=0).fit(X, y)
junk = [name for name in model.get_feature_names_out() if name not in wine.feature_names]
print("selected:", ", ".join(model.get_feature_names_out()))
print("junk among them:", junk or "none")

# %%
# The most probable columns; the selected ones are filled.
MaskDisplay.from_estimator(model)

# %%
# What two columns do, per cultivar.
ComponentDisplay.from_estimator(model, X, columns=["flavanoids", "proline"])

# %%
# And why the first wine is a cultivar 0.
ContributionDisplay.from_estimator(model, X, row=0, target=0, top=6)

# %%
# The average may use other columns lightly. ``refit_selected`` gives the model of the selected
# columns alone: no other column can change its predictions.
hidden = y == -1
plain = model.refit_selected()
print(f"average over masks: {model.score(X[hidden], wine.target[hidden]):.2f}")
print(f"selected columns alone: {plain.score(X[hidden], wine.target[hidden]):.2f}")
