"""Fixtures of the tests in a browser: the browser, and a page with intervals."""

import pandas as pd
import pytest

from nashgraph.report import summarize, write_report

from .models import HOSTILE, IMAGE, SCRIPT, held, karate_consensus, popular_graph


@pytest.fixture(scope="module")
def consensus(tmp_path_factory):
    model, out = karate_consensus(), tmp_path_factory.mktemp("consensus") / "report.html"
    write_report(summarize(model, title="The karate club", interventions=True), out)
    return model, out


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    names = [*HOSTILE, *(f"household {k}" for k in range(10_000 - len(HOSTILE)))]
    out = tmp_path_factory.mktemp("hostile") / "report.html"
    model = held(popular_graph(10_000), names)
    answers = pd.DataFrame({SCRIPT: [IMAGE, "</script>"] * 5_000})  # in the order of the nodes
    about = {"title": SCRIPT, "source": IMAGE, "notes": [SCRIPT, IMAGE]}
    write_report(summarize(model, columns=answers, **about), out)
    return out
