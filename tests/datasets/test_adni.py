"""ADNI on small tables with the official column names."""

from __future__ import annotations

import numpy as np
import pytest

from s2mam.datasets import load, load_adni
from s2mam.exceptions import InvalidInputError

MERGE = """\
"RID","PTID","VISCODE","EXAMDATE","DX_bl","AGE","PTGENDER","PTEDUCAT","APOE4","FDG","AV45",\
"ABETA","TAU","PTAU","ADAS11","ADAS13","MMSE","Ventricles","Hippocampus","WholeBrain","Entorhinal",\
"Fusiform","MidTemp","ICV"
5,"011_S_0005","bl","2005-09-07","CN",73.7,"Male",16,0,1.3,,">1700","200","18",5,8,29,1,2,3,4,5,6,7
2,"011_S_0002","bl","2005-09-08","AD",74.3,"Female",16,0,1.1,,"700","210","<8",10,18,28,1,2,3,4,5,6,7
2,"011_S_0002","m06","2006-03-06","AD",74.3,"Female",16,0,,,,,,12,24,27,1,2,3,4,5,6,7
3,"011_S_0003","bl","2005-09-12","AD",81.3,"Male",18,1,1.2,,"741","240","23",22,,20,1,2,3,4,5,6,7
7,"011_S_0007","bl","2005-09-12","LMCI",75,"Male",18,1,1.2,,"800","250","24",12,21,25,1,2,3,4,5,6,7
"""
SCANS = """\
RID,VISCODE,EXAMDATE,VERSION,IMAGEUID,OVERALLQC,ST1SV,ST29SV,ST101CV,ST24TA,ST7SV,STATUS
2,sc,2005-09-01,v,1,Pass,1,2,3,4,,complete
2,bl,2005-09-08,v,2,Pass,10,20,30,40,,complete
5,sc,2005-09-01,v,3,Fail,7,7,7,7,,complete
5,sc,2005-09-02,v,4,Partial,1,-4,5,6,,complete
7,sc,2005-09-02,v,5,Pass,3,4,,,,complete
3,sc,2005-09-02,v,6,Pass,3,4,5,6,,complete
"""
TESTS = """\
RID,VISCODE,VISCODE2,CATANIMSC,CATVEGESC
2,bl,bl,15,9
5,bl,bl,22,-1
7,bl,bl,-4,7
"""


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "adni"
    place.mkdir()
    (place / "ADNIMERGE_23Dec2025.csv").write_text(MERGE)
    (place / "UCSFFSX_11_02_15_20Nov2023.csv").write_text(SCANS)
    (place / "UCSFFSX51_08_01_16.csv").write_text("RID,VISCODE2\n1,bl\n")
    (place / "NEUROBAT.csv").write_text(TESTS)
    return place


def test_adas_from_regions(folder):
    data = load_adni(folder, "ADAS", max_missing=0.5)
    assert data.feature_names == ["ST1SV", "ST29SV", "ST101CV", "ST24TA"]  # ST7SV has no value
    assert data.person.tolist() == [2, 5]  # 3 has no ADAS13, 7 lacks half of the regions
    assert data.y.tolist() == [18, 8]
    np.testing.assert_array_equal(data.X, [[10, 20, 30, 40], [1, 20, 5, 6]])
    assert data.diagnosis.tolist() == ["AD", "CN"]
    assert data.target_names == ["ADAS"]


def test_gaps(folder):
    kept = load_adni(folder, "ADAS", max_missing=0.5, impute=False)
    assert np.isnan(kept.X[1, 1])
    assert load_adni(folder, "ADAS").person.tolist() == [2]  # less than 20 % missing
    assert load_adni(folder, "ADAS", max_missing=1.0).person.tolist() == [2, 5, 7]


def test_fluency(folder):
    animals = load_adni(folder, "Fluency", max_missing=1.0)
    assert (animals.person.tolist(), animals.y.tolist()) == ([2, 5], [15, 22])
    vegetables = load_adni(folder, "CATVEGESC", max_missing=1.0)
    assert (vegetables.person.tolist(), vegetables.y.tolist()) == ([2, 7], [9, 7])


def test_both_scores(folder):
    data = load_adni(folder, max_missing=1.0)
    assert data.target_names == ["Fluency", "ADAS"]
    assert data.person.tolist() == [2, 5, 7]
    np.testing.assert_array_equal(data.y, [[15, 18], [22, 8], [np.nan, 21]])


def test_predictors_of_the_merged_table(folder):
    data = load_adni(folder, "MMSE", features="merge")
    assert data.person.tolist() == [2, 3, 5, 7]
    assert data.y.tolist() == [28, 20, 29, 25]
    assert "AV45" not in data.feature_names  # it has no value
    assert not {"MMSE", "ADAS11", "ADAS13"} & set(data.feature_names)
    abeta, ptau, sex = (
        data.X[:, data.feature_names.index(name)] for name in ("ABETA", "PTAU", "PTGENDER")
    )
    assert abeta.tolist() == [700, 741, 1700, 800]
    assert ptau.tolist() == [8, 23, 18, 24]
    assert sex.tolist() == [0, 1, 1, 1]


def test_other_visit(folder):
    data = load_adni(folder, "ADAS", features="merge", visit="m06", max_missing=1.0)
    assert (data.person.tolist(), data.y.tolist()) == ([2], [24])
    with pytest.raises(InvalidInputError, match=r"no rows with VISCODE 'm99'; it has 'bl', 'm06'"):
        load_adni(folder, visit="m99")


def test_by_name(folder):
    data = load("adni", folder.parent)
    assert (data.origin, data.task, data.X.shape) == ("folder", "regression", (1, 4))


def test_missing_files_and_columns(folder, tmp_path):
    with pytest.raises(InvalidInputError, match=r"no column 'ADAS99' .*adni.loni.usc.edu"):
        load_adni(folder, "ADAS99")
    with pytest.raises(InvalidInputError, match=r"UCSFFSX51_08_01_16.csv has no column 'ST...'"):
        load_adni(folder, freesurfer="UCSFFSX51_*.csv")
    with pytest.raises(InvalidInputError, match=r"target=\[\] names no score"):
        load_adni(folder, [])
    with pytest.raises(InvalidInputError, match="features must be"):
        load_adni(folder, features="genes")
    (folder / "NEUROBAT.csv").unlink()
    with pytest.raises(InvalidInputError, match=r"no file 'NEUROBAT\*.csv' .*adni.loni.usc.edu"):
        load_adni(folder, "Fluency")
    (folder / "ADNIMERGE_23Dec2025.csv").unlink()
    with pytest.raises(InvalidInputError, match=r"no file 'ADNIMERGE\*.csv'"):
        load_adni(folder, "MMSE")
    with pytest.raises(InvalidInputError, match=r"no folder .*signed data use agreement"):
        load("adni", tmp_path / "none")


def test_nobody_is_left(folder):
    with pytest.raises(InvalidInputError, match="No person has Fluency or ADAS"):
        load_adni(folder, max_missing=0.0)
