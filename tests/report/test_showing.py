"""A fitted model shows itself: in the browser, and in a notebook."""

import webbrowser

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import NotFittedError

from nashgraph import SmoothGL
from nashgraph.report import showing


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


def test_a_notebook_shows_the_network_of_a_fitted_model_and_the_parameters_of_another(model, monkeypatch):
    assert model._repr_html_().startswith("<iframe")
    assert model._repr_mimebundle_()["text/html"].startswith("<iframe")
    assert "<iframe" not in SmoothGL()._repr_html_()
    with config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()
    monkeypatch.setattr(showing, "FRAMED", 10)
    assert "<iframe" not in model._repr_html_()
