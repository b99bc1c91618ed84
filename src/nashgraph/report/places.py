"""Where people live, for the map of the page: which columns are coordinates, and places that give nobody away."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

# The words that people and survey tools use for coordinates, and how large their numbers can be.
COORDINATES = {
    "longitude": (re.compile(r"(^|[^a-z])(lon|lng|long|longitude)([^a-z]|$)", re.IGNORECASE), 180.0),
    "latitude": (re.compile(r"(^|[^a-z])(lat|latitude)([^a-z]|$)", re.IGNORECASE), 90.0),
}


def coordinates_of(table: pd.DataFrame) -> dict[str, Any]:
    """Return the columns of longitude and latitude by these words; nothing unless there are both.

    Examples
    --------
    >>> coordinates_of(pd.DataFrame({"age": [31, 45], "gps_lat": [12.9, 12.8], "gps_long": [77.5, 77.6]}))
    {'longitude': 'gps_long', 'latitude': 'gps_lat'}
    >>> coordinates_of(pd.DataFrame({"age": [31, 45], "gps_lat": [12.9, 12.8]}))
    {}
    """
    axes: dict[str, Any] = {}
    for axis, (words, largest) in COORDINATES.items():
        for name in table.columns:
            if axis in axes or not words.search(str(name)):
                continue
            answers = table[name].dropna()
            numbers = pd.to_numeric(answers.astype(object), errors="coerce")
            if len(answers) and bool((numbers.abs() <= largest).all()):
                axes[axis] = name
    return axes if len(axes) == len(COORDINATES) else {}


def rough_places(table: pd.DataFrame | None, model: Any, *, random_state: int = 0) -> pd.DataFrame | None:
    """Return a table with coordinates moved at random by about the distance to the nearest neighbour.

    A table without coordinates has those of the tie model's survey, if there are some.
    """
    if hasattr(model, "survey_") and (table is None or not coordinates_of(table)):
        places = model.survey_.places
        surveyed = list(coordinates_of(places).values())
        if surveyed:
            table = pd.DataFrame(index=places.index) if table is None else table
            table = table.assign(**{name: places[name].to_numpy() for name in surveyed})
    if table is None or not coordinates_of(table):
        return table
    names = list(coordinates_of(table).values())
    places = table[names].apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float)
    known = places[np.isfinite(places).all(axis=1)]
    if len(known) < 2:
        return table.drop(columns=names)  # one person could not be hidden
    shrink = np.array([np.cos(np.radians(known[:, 1].mean())), 1.0])  # a degree of longitude is the shorter one
    distances, _ = cKDTree(known * shrink).query(known * shrink, k=2)
    apart = np.median(distances[:, 1])
    moved = places + apart * np.random.default_rng(random_state).normal(size=places.shape) / shrink
    return table.assign(**dict(zip(names, moved.T, strict=True)))
