"""The Dataverse's archive becomes our tables, or an error says what is wrong with it."""

import gzip
import json

import numpy as np
import pytest

from nashgraph.datasets import DatasetError, import_villages, load_villages, store, villages
from nashgraph.datasets.store import load_tables
from nashgraph.datasets.villages import EDGES, VILLAGES, archive_address, convert_archive

from ..servers import serving
from ..village_archive import HOUSEHOLDS, MATRICES, matrix_csv, pinned_to, stata, village_archive

SECOND_VILLAGE = """\
10,1,1,10001,1,OBC,0,0,1,0,0,,4,0,,,,1,0
10,2,2,10002,2,GENERAL,0,0,0,1,0,,5,1,1,1,0,1,0
10,3,3,10003,3,SCHEDULE CASTE,0,0,0,0,1,,6,2,2,2,6,0,0
10,4,4,10004,1,,0,0,0,0,0,MUD AND WOOD,0,50,3,3,5,0,1
"""
MATRIX = "adj_allVillageRelationships_HH_vilno_10.csv"


@pytest.fixture
def archive(tmp_path):
    return village_archive(tmp_path / "datav4.0.zip")


@pytest.fixture
def pinned(archive, monkeypatch):
    """Have the villages pinned to the small archive."""
    monkeypatch.setattr(villages, "VILLAGES", pinned_to(VILLAGES, archive))


def plain(contents):
    return [gzip.decompress(content).decode() for content in contents]


def test_the_archive_becomes_two_plain_tables(archive):
    households, edges = plain(convert_archive(archive))
    assert edges == "village,i,j\n2,1,2\n2,2,3\n10,1,2\n10,2,3\n"
    assert households.splitlines()[0] == ",".join(villages.COLUMNS)
    assert households.endswith(SECOND_VILLAGE)


def test_the_same_archive_gives_the_same_bytes(archive):
    assert convert_archive(archive) == convert_archive(archive)


def test_rows_in_another_order_matrices_without_end_commas_and_stray_blanks_change_nothing(archive, tmp_path):
    households = HOUSEHOLDS.iloc[::-1].assign(rooftypeoth=[" MUD  AND WOOD ", *[""] * 6])
    matrices = {village: matrix_csv(matrix).replace(",\n", "\r\n") for village, matrix in MATRICES.items()}
    other = village_archive(tmp_path / "other.zip", households, matrices)
    assert convert_archive(other) == convert_archive(archive)


@pytest.mark.usefixtures("pinned")
def test_an_imported_archive_is_loaded(archive, tmp_path, cache):
    assert import_villages(archive, tmp_path / "home") == tmp_path / "home"
    assert import_villages(archive) == cache
    for home in (tmp_path / "home", None):
        village = load_villages([10], data_home=home, download=False)[10]
        assert sorted(village.graph.edges()) == [(10001, 10002), (10002, 10003)]
        assert village.attributes["leader"].tolist() == [0, 0, 0, 1]


def test_an_archive_with_other_content_is_not_imported(archive, tmp_path):
    with pytest.raises(
        DatasetError, match=rf"datav4\.0\.zip does not hold the {villages.HOUSEHOLDS.path} that was pinned"
    ):
        import_villages(archive, tmp_path / "home")
    assert not (tmp_path / "home").exists()


@pytest.mark.usefixtures("pinned")
def test_paths_in_the_archive_lead_nowhere(tmp_path):
    folder = tmp_path / "deep" / "down"
    folder.mkdir(parents=True)
    hostile = [
        ("../../evil.csv", "1"),
        ("/evil.csv", "1"),
        ("..\\..\\evil.csv", "1"),
        ("../../villages/households.csv.gz", "1"),
    ]
    # the matrix of village 10 itself has a path that leaves the folder
    moved = [(f"../../{MATRIX}", matrix_csv(MATRICES[10]))]
    archive = village_archive(folder / "a.zip", matrices={2: MATRICES[2]}, others=hostile + moved)
    import_villages(archive, folder / "home")
    written = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
    assert written == {"a.zip", f"home/{villages.HOUSEHOLDS.path}", f"home/{EDGES.path}"}
    assert not list(tmp_path.rglob("evil*"))


@pytest.mark.usefixtures("pinned")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"households": None}, r"has no files named household_characteristics\.dta"),
        ({"households": b"not Stata"}, "cannot be read"),
        ({"households": stata(HOUSEHOLDS)[:3000]}, "cannot be read"),
        ({"households": HOUSEHOLDS.drop(columns=["latrine"])}, r"cannot be read: .*'latrine'\] not in index"),
        ({"households": HOUSEHOLDS.assign(latrine="Owned")}, "cannot be read: .*Owned"),
        ({"households": HOUSEHOLDS.assign(room_no=1.5)}, "cannot be read"),
        ({"households": HOUSEHOLDS.assign(leader=np.nan)}, "cannot be read"),
        (
            {"households": HOUSEHOLDS.assign(adjmatrix_key=1)},
            f"does not hold the {villages.HOUSEHOLDS.path} that was pinned",
        ),
        ({"matrices": {2: MATRICES[2]}}, f"has no files named {MATRIX}"),
        ({"matrices": {**MATRICES, 10: np.eye(4, k=1, dtype=int)}}, f"does not hold the {EDGES.path} that was pinned"),
        ({"matrices": {**MATRICES, 10: "a,b,c,d\n" * 4}}, "cannot be read"),
        ({"matrices": {**MATRICES, 10: ""}}, "cannot be read"),
        ({"matrices": {**MATRICES, 10: "0,1\n0,1,0,0\n"}}, "cannot be read"),
        ({"others": [(f"elsewhere/{MATRIX}", "0")]}, f"has 2 files named {MATRIX}"),
    ],
)
def test_what_is_wrong_with_an_archive_is_said_in_one_line(tmp_path, changes, message):
    with pytest.raises(DatasetError, match=message) as error:
        import_villages(village_archive(tmp_path / "a.zip", **changes), tmp_path / "home")
    assert "\n" not in str(error.value)
    assert str(error.value).endswith("; download datav4.0.zip again from https://doi.org/10.7910/DVN/U3BIHX")
    assert not (tmp_path / "home").exists()


def damaged(content):
    place = content.index(b"household_characteristics.dta") + 100
    return content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :]


@pytest.mark.parametrize(
    "change", [lambda content: b"<html>", lambda content: content[:-9], damaged, lambda content: b""]
)
def test_an_archive_that_is_not_whole_is_said(archive, tmp_path, change):
    archive.write_bytes(change(archive.read_bytes()))
    with pytest.raises(
        DatasetError, match=r"datav4\.0\.zip cannot be read: .*; download datav4\.0\.zip again from https://doi"
    ):
        import_villages(archive, tmp_path / "home")
    assert not (tmp_path / "home").exists()


@pytest.mark.usefixtures("pinned")
@pytest.mark.parametrize("change", [lambda content: b"<html>", lambda content: content[:-9], lambda content: b""])
def test_a_file_of_ours_that_is_not_whole_is_said(archive, tmp_path, change):
    file = import_villages(archive, tmp_path) / villages.HOUSEHOLDS.path
    file.write_bytes(change(file.read_bytes()))
    with pytest.raises(
        DatasetError, match=r"households\.csv\.gz cannot be read: .*; remove the file and it is downloaded"
    ):
        load_villages(data_home=tmp_path)


def test_a_matrix_that_swells_is_not_read(archive, monkeypatch):
    monkeypatch.setattr(store, "LARGEST_MEMBER", 10)
    with pytest.raises(DatasetError, match="more than 10 bytes"):
        convert_archive(archive)


def test_villages_are_fetched_from_the_dataverse(archive, cache, monkeypatch):
    files = [{"dataFile": {"id": 7, "filename": "codebook.pdf"}}, {"dataFile": {"id": 42, "filename": "datav4.0.zip"}}]
    answer = json.dumps({"status": "OK", "data": {"latestVersion": {"files": files}}}).encode()
    asked = "/api/datasets/:persistentId/?persistentId=doi:10.7910/DVN/U3BIHX"
    with serving({asked: answer, "/api/access/datafile/42": archive.read_bytes()}) as server:
        monkeypatch.setattr(villages, "SERVER", server.address)
        monkeypatch.setattr(villages, "VILLAGES", pinned_to(VILLAGES, archive))
        assert list(load_villages()) == [2, 10]
    assert server.requests == [asked, "/api/access/datafile/42"]
    assert sorted(file.name for file in cache.rglob("*") if file.is_file()) == [
        "edges_HH_allVillageRelationships.csv.gz",
        "households.csv.gz",
    ]


@pytest.mark.parametrize("answer", [b"<html>", b"{}", b'{"data": {"latestVersion": {"files": []}}}', b"[]"])
def test_a_dataverse_that_lists_no_archive_is_said(monkeypatch, answer):
    with serving({"/api/datasets/:persistentId/?persistentId=doi:10.7910/DVN/U3BIHX": answer}) as server:
        monkeypatch.setattr(villages, "SERVER", server.address)
        with pytest.raises(DatasetError, match=r"does not list one file datav4\.0\.zip"):
            archive_address()


def test_offline_it_is_said_what_to_fetch_and_where_to_put_it(cache):
    with pytest.raises(DatasetError) as error:
        load_villages(download=False)
    for part in ("datav4.0.zip from https://doi.org/10.7910/DVN/U3BIHX", str(cache / "downloads" / "datav4.0.zip")):
        assert part in str(error.value)


def test_the_real_villages_survive_the_archive(real_home, tmp_path):
    """An archive in the Dataverse's layout, rebuilt from the real tables, is imported to the pinned content."""
    households, edges = load_tables(VILLAGES, real_home, download=False)
    gaps = dict.fromkeys(("electricity", "latrine", "ownrent"), float)
    matrices = {}
    for village, size in households.groupby("village").size().items():
        first, second = edges.loc[edges["village"] == village, ["i", "j"]].to_numpy().T - 1
        matrices[village] = np.zeros((size, size), dtype=int)
        matrices[village][first, second] = matrices[village][second, first] = 1
    archive = village_archive(tmp_path / "a.zip", households.astype(gaps), matrices)
    home = import_villages(archive, tmp_path / "home")
    again = load_tables(VILLAGES, home, download=False)
    assert again[0].equals(households)
    assert again[1].equals(edges)
