"""Which columns are named when labels are too few to be sure of any."""

from __future__ import annotations

import numpy as np

from s2mam import S2MAMClassifier
from s2mam.datasets import hide_labels, make_moons


def test_named_columns_are_those_the_prediction_rests_on():
    data = make_moons(n_uninformative=4, n_noisy=2, random_state=0)
    y = hide_labels(data.y, per_class=1, random_state=0)
    model = S2MAMClassifier(max_iter=20, random_state=0).fit(data.X, y)
    assert (model.mask_probabilities_ <= 0.5).all()
    spread = model.contributions(data.X).var(axis=0)
    shares = spread / spread.sum()
    np.testing.assert_allclose(model.chosen_["contribution_shares"], shares, atol=1e-6)
    np.testing.assert_array_equal(model.support_, shares >= 0.5 * shares.max())
