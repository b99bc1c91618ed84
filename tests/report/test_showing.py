"""Showing a fitted model in the browser and in a notebook."""

import webbrowser
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import NotFittedError

from nashgraph import SmoothGL
from nashgraph.report.html import notebook_view

from .models import held, popular_graph


@pytest.fixture
def model():
    return SmoothGL().fit(np.random.default_rng(0).normal(size=(20, 30)))


def test_a_report_is_written_and_opened(model, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    file = model.report(tmp_path / "page.html", title="Thirty people")
    assert opened == [file.as_uri()]
    assert "<title>Thirty people</title>" in file.read_text()
    assert model.report(show=False).name == "report.html"
    assert len(opened) == 1


def test_only_a_fitted_model_has_a_report():
    with pytest.raises(NotFittedError):
        SmoothGL().report(show=False)


def test_a_notebook_shows_a_still_picture_and_six_facts_of_a_fitted_model_and_the_parameters_of_another(model):
    shown = model._repr_html_()
    picture = ElementTree.fromstring(shown[shown.index("<svg") : shown.index("</svg>") + 6])
    circles = [part for part in picture.iter() if part.tag.endswith("circle")]
    assert len(circles) == 30
    assert shown.count("<tr>") == 6
    assert f">{model.graph_.undirected().n_edges}<" in shown
    assert "<script" not in shown
    assert "<iframe" not in shown
    assert model._repr_mimebundle_()["text/html"] == shown
    assert "<svg" not in SmoothGL()._repr_html_() or "<circle" not in SmoothGL()._repr_html_()
    with config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()


@pytest.mark.parametrize("count", [30, 600, 2_000])
def test_what_a_notebook_shows_is_small_and_names_are_text(count):
    names = ["<script>alert(1)</script>", *(f"household {k}" for k in range(count - 1))]
    shown = notebook_view(held(popular_graph(count), names))
    assert len(shown.encode()) < 50_000
    assert "<script" not in shown


def test_a_graph_is_written_in_one_line(model):
    assert repr(model.graph_) == f"<LearnedGraph: 30 nodes, {model.graph_.n_edges} directed edges>"
