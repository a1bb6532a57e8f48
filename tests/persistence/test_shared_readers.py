"""Two views of one scale read a table once, also after a file."""

import numpy as np

import s2mam
from s2mam.intake import TableReader


def test_a_loaded_model_reads_a_scale_as_often_as_the_fitted_one(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = np.where(np.arange(60) < 30, X[:, 0], np.nan)
    fitted = s2mam.S2MAMRegressor(random_state=0).fit(X, y)
    fitted.save(tmp_path / "model.s2mam")
    loaded = s2mam.load(tmp_path / "model.s2mam")
    read: list[str] = []
    transform = TableReader.transform

    def counted(self, *arguments, **options):
        read.append(self.scale)
        return transform(self, *arguments, **options)

    monkeypatch.setattr(TableReader, "transform", counted)
    values = [model.predict(X) for model in (fitted, loaded)]
    np.testing.assert_array_equal(*values)
    assert read == 2 * ["robust", "rank"]
