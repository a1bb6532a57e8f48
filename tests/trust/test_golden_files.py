"""Files that a release wrote are read by all that follow, and predict what they did."""

from __future__ import annotations

import json

import numpy as np
import pytest
from golden_models import FOLDER, answers, models, table_of
from threadpoolctl import threadpool_limits

import s2mam
from s2mam.persistence.models import LOADABLE

FILES = sorted(FOLDER.glob("*/*.s2mam"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_golden_files_predict_what_they_did(path):
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    with threadpool_limits(limits=1):
        found = answers(s2mam.load(path), table_of(path.stem, 1, 4))
    # Bits belong to a platform; digits do not.
    for name in ("contributions", "mask_probabilities", "predict_proba"):
        if name in expected:
            np.testing.assert_allclose(found[name], expected[name], atol=1e-7, err_msg=name)
    if isinstance(expected["predict"][0], float):
        np.testing.assert_allclose(found["predict"], expected["predict"], atol=1e-7)
    else:
        assert found["predict"] == expected["predict"]
    assert found["support"] == expected["support"]
    # A later release may have more parameters, and those of the file keep their values.
    assert expected["parameters"].items() <= found["parameters"].items()


def test_there_is_a_small_file_of_every_kind():
    kinds = {type(s2mam.load(path)).__name__ for path in FILES}
    assert kinds == set(LOADABLE)
    assert {name for name, *_ in models()} <= {path.stem for path in FILES}
    assert max(path.stat().st_size for path in FILES) < 25_000
