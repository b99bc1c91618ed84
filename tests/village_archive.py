"""A small archive in the layout of the Dataverse's datav4.0.zip: two villages, three and four households."""

import io
import warnings
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd

from nashgraph.datasets.store import digest

HOUSEHOLDS = pd.DataFrame(
    {
        "village": [2, 2, 2, 10, 10, 10, 10],
        "adjmatrix_key": [1, 2, 3, 1, 2, 3, 4],
        "HHnum_in_village": [1, 2, 4, 1, 2, 3, 4],
        "hhid": [2001, 2002, 2004, 10001, 10002, 10003, 10004],
        "hohreligion": [1, 1, 1, 1, 2, 3, 1],
        "castesubcaste": ["", "", "", "OBC", "GENERAL", "SCHEDULE CASTE", ""],
        "rooftype1": [1, 0, 0, 0, 0, 0, 0],
        "rooftype2": [0, 1, 1, 0, 0, 0, 0],
        "rooftype3": [0, 0, 1, 1, 0, 0, 0],
        "rooftype4": [0, 0, 0, 0, 1, 0, 0],
        "rooftype5": [0, 0, 0, 0, 0, 1, 0],
        "rooftypeoth": ["", "", "", "", "", "", "MUD AND WOOD"],
        "room_no": [1, 2, 3, 4, 5, 6, 0],
        "bed_no": [0, 1, 2, 0, 1, 2, 50],
        "electricity": [1.0, 2.0, 3.0, np.nan, 1.0, 2.0, 3.0],
        "latrine": [3.0, 2.0, 1.0, np.nan, 1.0, 2.0, 3.0],
        "ownrent": [1.0, 2.0, 3.0, np.nan, 0.0, 6.0, 5.0],
        "hhSurveyed": [1, 0, 1, 1, 1, 0, 0],
        "leader": [0, 1, 0, 0, 0, 0, 1],
    }
)
MATRICES = {
    2: [[0, 1, 0], [1, 0, 1], [0, 1, 0]],
    10: [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]],
}
LABELS = {
    "hohreligion": {1: "HINDUISM", 2: "ISLAM", 3: "CHRISTIANITY"},
    "electricity": {1: "Yes, Private", 2: "Yes, Government", 3: "No"},
    "latrine": {1: "Owned", 2: "Common", 3: "None"},
}
FOLDER = "datav4.0/Data"


def stata(households: pd.DataFrame) -> bytes:
    """Return the table as a Stata file of codes with labels, as the Dataverse's is."""
    small = {name: "int32" for name in households if households[name].dtype == "int64"}
    numeric = households.select_dtypes("number")
    labels = {name: LABELS[name] for name in LABELS if name in numeric}
    held = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels on a column of floating point
        households.astype(small).to_stata(held, write_index=False, version=114, value_labels=labels)
    return held.getvalue()


def matrix_csv(matrix) -> str:
    """Return a matrix in the Dataverse's format: no header, and a comma at the end of each line."""
    return "".join(",".join(map(str, row)) + ",\n" for row in np.asarray(matrix).tolist())


def village_archive(path, households=HOUSEHOLDS, matrices=MATRICES, others=()):
    """Write an archive; ``others`` are further members, (name, content)."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("datav4.0/README.txt", "Version 4.0")
        archive.writestr(f"{FOLDER}/2. Demographics and Outcomes/", "")
        if households is not None:
            name = f"{FOLDER}/2. Demographics and Outcomes/household_characteristics.dta"
            archive.writestr(name, households if isinstance(households, bytes) else stata(households))
        for village, matrix in matrices.items():
            name = f"adj_allVillageRelationships_HH_vilno_{village}.csv"
            content = matrix if isinstance(matrix, str) else matrix_csv(matrix)
            archive.writestr(f"{FOLDER}/1. Network Data/Adjacency Matrices/{name}", content)
            archive.writestr(f"{FOLDER}/1. Network Data/Adjacency Matrices/{name.replace('_HH', '')}", "0,\n")
        for name, content in others:
            archive.writestr(name, content)
    return path


def pinned_to(source, archive):
    """Return the source pinned to what this archive holds."""
    contents = source.convert(archive)
    tables = (
        replace(table, sha256=digest(table.read(content), table.pinned_columns))
        for table, content in zip(source.tables, contents, strict=True)
    )
    return replace(source, tables=tuple(tables))
