"""One layout for several reports, so that their pictures can be laid side by side."""

import numpy as np
import pandas as pd
import pytest

from nashgraph.report import summarize
from nashgraph.validation import InputError

from .models import held, popular_graph


def test_two_reports_share_a_layout():
    one, other = held(popular_graph(40)), held(popular_graph(40, seed=1))
    layout = summarize(one).layout.sample(frac=1, random_state=0)  # by name, in whatever order
    drawn = [summarize(one).to_dict(), summarize(other, layout=layout).to_dict()]
    places = [
        dict(zip(each["nodes"]["name"], zip(each["drawing"]["x"], each["drawing"]["y"], strict=True), strict=True))
        for each in drawn
    ]
    assert places[0] == places[1]
    assert summarize(other).to_dict()["drawing"]["x"] != drawn[1]["drawing"]["x"]
    assert drawn[1]["drawing"]["community"] == summarize(other).to_dict()["drawing"]["community"]


def test_bubbles_are_shared_with_the_layout():
    one = summarize(held(popular_graph(1_600, 4)))
    other = summarize(held(popular_graph(1_600, 4, seed=1)), layout=one.layout)
    np.testing.assert_allclose(other.drawing.bubbles.radius, one.drawing.bubbles.radius, atol=1e-4)
    tables = [summary.layout.sort_values("name", ignore_index=True) for summary in (one, other)]
    pd.testing.assert_frame_equal(*tables, atol=1e-4)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda layout: layout.drop(columns="y"), "has no column y"),
        (lambda layout: layout.iloc[1:], "has no place for 1 of 12 nodes"),
        (lambda layout: layout.assign(x="left"), "must have numbers for x, y"),
        (lambda layout: layout.assign(x=5.0), "places from -1 to 1"),
        (lambda layout: layout.assign(x=np.nan), "places from -1 to 1"),
    ],
)
def test_a_layout_of_something_else_is_refused(change, words):
    model = held(popular_graph(12))
    with pytest.raises(InputError, match=words):
        summarize(model, layout=change(summarize(model).layout))
