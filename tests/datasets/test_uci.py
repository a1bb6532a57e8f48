"""Sets of UCI, from a server on this machine with archives in the official layout."""

from __future__ import annotations

import numpy as np
import pytest
from packing import rows, tarred, zipped

from s2mam.datasets import info, list_datasets, load
from s2mam.datasets.routes import all_routes
from s2mam.exceptions import S2MAMError


def arff(names, body, target="{-1,1}"):
    lines = ["@relation r", *[f"@attribute {name} {{-1,0,1}}" for name in names]]
    return "\n".join([*lines, f"@attribute Result {target}", "@data", *body]).encode()


PARKINSONS = ",".join(["name", *(f"m{j}" for j in range(22)), "status"])
SKILL = (
    "GameID,Age,HoursPerWeek,TotalHours,APM,SelectByHotkeys,AssignToHotkeys,UniqueHotkeys,"
    "MinimapAttacks,MinimapRightClicks,NumberOfPACs,GapBetweenPACs,ActionLatency,ActionsInPAC,"
    "TotalMapExplored,WorkersMade,UniqueUnitsMade,ComplexUnitsMade,ComplexAbilitiesUsed,LeagueIndex"
)
WINE = ";".join(['"fixed acidity"', *(f'"c{j}"' for j in range(2, 12)), '"quality"'])
DARWIN = ",".join(["ID", *(f"t{1 + j // 18}_{j}" for j in range(450)), "class"])
HOUR = (
    "instant,dteday,season,yr,mnth,hr,holiday,weekday,workingday,weathersit,temp,atemp,hum,"
    "windspeed,casual,registered,cnt"
)
UPDRS = ",".join(["subject#", "motor_UPDRS", *(f"m{j}" for j in range(19)), "total_UPDRS"])
PHISHING = [f"p{j}" for j in range(30)]
CELLS = ",".join(["1", "0", "-1"] * 10)
TWITTER = "Twitter/Absolute_labeling/Twitter-Absolute-Sigma-500.data"

# name: (files of the archive, y, class names)
ARCHIVES = {
    "ionosphere": (
        {"Index": b"", "ionosphere.data": rows(3, 34, "gbg")},
        [1, 0, 1],
        ["b", "g"],
    ),
    "spambase": ({"spambase.data": rows(2, 57, "10")}, [1, 0], ["0", "1"]),
    "heart_statlog": (
        {"heart.dat": rows(3, 13, "211", delimiter=" "), "heart.doc": b"text"},
        [1, 0, 0],
        ["absent", "present"],
    ),
    "phishing": (
        {
            "Training Dataset.arff": arff(PHISHING, [f"{CELLS},-1", f"{CELLS},1"]),
            ".old.arff": b"",
        },
        [0, 1],
        ["-1", "1"],
    ),
    "phishing_2456": (
        {
            "Training Dataset.arff": b"",
            ".old.arff": arff(PHISHING, [f"{CELLS},1", f"{CELLS},-1"]),
        },
        [1, 0],
        ["-1", "1"],
    ),
    "parkinsons": (
        {
            "parkinsons.data": rows(
                3, 22, "110", first=["p_S01_1", "p_S01_2", "p_S02_1"], header=PARKINSONS
            )
        },
        [1, 1, 0],
        ["healthy", "parkinsons"],
    ),
    "darwin": (
        {"data.csv": rows(2, 450, "PH", first=["id_1", "id_2"], header=DARWIN)},
        [1, 0],
        ["H", "P"],
    ),
    "optdigits": (
        {"optdigits.tra": rows(2, 64, "30"), "optdigits.tes": rows(1, 64, "7")},
        [1, 0, 2],
        ["0", "3", "7"],
    ),
    "skillcraft": (
        {
            "SkillCraft1_Dataset.csv": rows(3, 18, "523", first="123", header=SKILL).replace(
                b"\n2,20,", b"\n2,?,"
            )
        },
        [5, 3],
        None,
    ),
    "wine_quality": (
        {
            "winequality-red.csv": rows(1, 11, "5", delimiter=";", header=WINE),
            "winequality-white.csv": rows(2, 11, "67", delimiter=";", header=WINE),
            "winequality.names": b"text",
        },
        [5, 6, 7],
        None,
    ),
    "parkinsons_telemonitoring": (
        {"parkinsons_updrs.data": rows(2, 20, ["30.5", "31"], first="12", header=UPDRS)},
        [30.5, 31],
        None,
    ),
    "bike_sharing_hour": (
        {
            "hour.csv": f"{HOUR}\n1,2011-01-01,{','.join(['1'] * 12)},3,13,16\n".encode(),
            "day.csv": b"",
        },
        [16],
        None,
    ),
    "ozone_level_1hr": (
        {"onehr.data": rows(2, 72, ["0.", "1."], first=["1/1/1998", "1/2/1998"])},
        [0, 1],
        ["0", "1"],
    ),
    "ozone_level_8hr": (
        {"eighthr.data": rows(2, 72, ["0.", "1."], first=["1/1/1998", "?"])},
        [0, 1],
        ["0", "1"],
    ),
    "buzz_twitter": (
        {"regression.tar.gz": tarred("regression/Twitter/Twitter.data", rows(2, 77, ["1.5", 9]))},
        [1.5, 9],
        None,
    ),
    "buzz_twitter_class": (
        {"classification.tar.gz": tarred(f"classification/{TWITTER}", rows(2, 77, ["0.0", "1.0"]))},
        [0, 1],
        ["no buzz", "buzz"],
    ),
}


def serve(site, name, content):
    route = next(r for r in all_routes()[name] if r.site == "uci")
    site.files[f"uci/{route.path}"] = content


def test_every_uci_route_is_tried_here():
    with_route = {n for n, routes in all_routes().items() if any(r.site == "uci" for r in routes)}
    assert with_route == set(ARCHIVES)
    assert all_routes().keys() <= set(list_datasets())


@pytest.mark.parametrize("name", ARCHIVES)
def test_uci_archives(site, known, tmp_path, name):
    files, y, classes = ARCHIVES[name]
    known(name, n_rows=len(y))
    serve(site, name, zipped(files))
    data = load(name, tmp_path, mirrors=site.mirrors)
    assert data.origin == "uci"
    assert data.X.shape == (len(y), info(name).n_columns)
    assert len(data.feature_names) == info(name).n_columns
    np.testing.assert_array_equal(data.y, y)
    assert data.class_names == classes
    again = load(name, tmp_path, mirrors=site.mirrors)
    np.testing.assert_array_equal(again.X, data.X)
    assert len(site.asked) == 1  # kept in data_home


def test_details_of_uci_tables(site, known, tmp_path):
    for name in ("wine_quality", "skillcraft", "parkinsons", "parkinsons_telemonitoring", "darwin"):
        files, y, _ = ARCHIVES[name]
        known(name, n_rows=len(y))
        serve(site, name, zipped(files))
    wine, skill, voices, updrs, darwin = (
        load(name, tmp_path, mirrors=site.mirrors)
        for name in (
            "wine_quality",
            "skillcraft",
            "parkinsons",
            "parkinsons_telemonitoring",
            "darwin",
        )
    )
    assert wine.feature_names[0] == "fixed_acidity"
    assert wine.X[:, -1].tolist() == [0, 1, 1]
    assert skill.feature_names[:2] == ["APM", "Age"]  # as in the public copy
    assert skill.X[:, :2].tolist() == [[11.5, 10], [31.5, 30]]  # the row with a gap is left out
    assert voices.groups.tolist() == [0, 0, 1]
    assert updrs.y_motor_UPDRS.tolist() == [10, 20]
    assert updrs.groups.tolist() == [0, 1]
    assert "motor_UPDRS" not in updrs.feature_names
    assert darwin.feature_group[[0, 1, 449]].tolist() == [0, 1, 449]


def test_file_put_in_place_by_hand(site, known, tmp_path):
    files, y, _ = ARCHIVES["ionosphere"]
    known("ionosphere", n_rows=len(y))
    place = tmp_path / "downloads/uci/52/ionosphere.zip"
    place.parent.mkdir(parents=True)
    place.write_bytes(zipped(files))
    assert load("ionosphere", tmp_path, mirrors=site.mirrors).y.tolist() == y
    assert site.asked == []


def test_page_instead_of_the_file_is_not_kept(site, known, tmp_path):
    files, y, _ = ARCHIVES["darwin"]
    known("darwin", n_rows=len(y))
    serve(site, "darwin", b"<html>try later</html>")
    with pytest.raises(S2MAMError, match=r"uci: The archive with .* cannot be read"):
        load("darwin", tmp_path, mirrors=site.mirrors)
    serve(site, "darwin", zipped(files))
    assert load("darwin", tmp_path, mirrors=site.mirrors).origin == "uci"


def test_wrong_checksum_goes_on_to_the_next_site(site, tmp_path):
    serve(site, "heart_statlog", b"another file")
    with pytest.raises(S2MAMError, match=r"uci: .* is not the known file \(sha256"):
        load("heart_statlog", tmp_path, mirrors=site.mirrors)


@pytest.mark.parametrize(
    ("name", "files", "message"),
    [
        ("heart_statlog", {"heart.dat": rows(2, 13, "13", delimiter=" ")}, "not known: .'3'."),
        ("ionosphere", {"ionosphere.data": rows(2, 34, "g?")}, "has missing values"),
        ("ionosphere", {"ionosphere.data": rows(2, 33, "gb")}, "2 rows and 33 columns, not 2 and"),
        (
            "optdigits",
            {"optdigits.tra": rows(2, 64, "30"), "optdigits.tes": rows(1, 63, "7")},
            "not have the same columns",
        ),
    ],
)
def test_unexpected_tables(site, known, tmp_path, name, files, message):
    known(name, n_rows=2)
    serve(site, name, zipped(files))
    with pytest.raises(S2MAMError, match=message):
        load(name, tmp_path, mirrors=site.mirrors)
