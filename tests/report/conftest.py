"""What the tests in a browser share: the browser, and a page with intervals."""

import pytest

from nashgraph.report import summarize, write_report

from .models import karate_consensus


@pytest.fixture(scope="module")
def consensus(tmp_path_factory):
    model, out = karate_consensus(), tmp_path_factory.mktemp("consensus") / "report.html"
    write_report(summarize(model, title="The karate club", interventions=True), out)
    return model, out
