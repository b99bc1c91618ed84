"""The report as a file: complete, small, and with nothing in it that a name could turn into markup."""

import base64
import hashlib
import json
import re
import subprocess
import sys
import zlib
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from nashgraph import ConsensusGL
from nashgraph.report import summarize, write_report
from nashgraph.report.html import render

from .models import HOSTILE, held, karate, karate_consensus, path_of, popular_graph

OWN_ELEMENTS = {"b", "h1", "img", "script", "u", "i"}


class Outline(HTMLParser):
    """The page as a browser parses it: its elements, their attributes, and the text of each kind."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self.open = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def count(self, tag):
        return sum(name == tag for name, _ in self.elements)

    def data(self):
        """Return the page's data, the text of its first script."""
        packed = next(text for tag, text in self.texts if tag == "script")
        return json.loads(zlib.decompress(base64.b64decode(packed)))


@pytest.fixture(scope="module")
def demo():
    model, path = karate()
    return render(summarize(model, title="The club", source="club.csv", path=path, scores={"AUC": 0.79}))


@pytest.fixture(scope="module")
def hostile():
    weights = popular_graph(40)
    names = [*HOSTILE, *(f"household {k}" for k in range(40 - len(HOSTILE)))]
    danger = "<script>window.__pwned=1</script>"
    model = held(weights, names)
    model.get_params = lambda deep=True: {f"<u>{danger}": danger}
    summary = summarize(
        model,
        title=danger,
        source=f"<i>{danger}</i>",
        scores={danger: 0.5},
        notes=[danger, "</li><b>bold</b>"],
    )
    return render(summary)


def test_the_report_is_written_whole_and_over_an_older_one(tmp_path):
    out = tmp_path / "deep" / "report.html"
    summary = summarize(held(popular_graph(12)))
    write_report(summary, out)
    first = out.read_bytes()
    write_report(summary, str(out))
    assert out.read_bytes() == first == render(summary).encode()
    assert [file.name for file in out.parent.iterdir()] == ["report.html"]


def test_the_page_says_what_the_summary_holds(demo):
    texts = " ".join(text for tag, text in Outline(demo).texts if tag not in ("script", "style"))
    for words in ("The club", "from club.csv", "member 1", "0.79", "Converged: stationarity", "How to read this"):
        assert words in texts
    assert "This page holds" not in texts


def test_names_titles_and_notes_are_text_and_never_elements(demo, hostile):
    plain, outline = Outline(demo), Outline(hostile)
    for tag in OWN_ELEMENTS:
        assert outline.count(tag) == plain.count(tag), tag
    assert not [name for _, attributes in outline.elements for name in attributes if name.startswith("on")]
    shown = [text for tag, text in outline.texts if tag == "bdi"]
    assert set(shown) <= {name if len(name) <= 200 else name[:199] + "…" for name in map(cleaned, HOSTILE)} | {
        f"household {k}" for k in range(40)
    }
    assert len(shown) == 3


def cleaned(name):
    return name.encode("utf-8", "replace").decode()


def test_the_data_hold_every_name_as_typed(hostile):
    names = Outline(hostile).data()["nodes"]["name"]
    assert {cleaned(name)[:199] for name in HOSTILE} <= {name[:199] for name in names}
    block = re.search(r'<script type="text/plain" id="data">(.*?)</script>', hostile, re.DOTALL).group(1)
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", block)


def test_the_policy_admits_the_pages_own_code_and_nothing_else(demo):
    outline = Outline(demo)
    policy = next(values["content"] for _, values in outline.elements if "http-equiv" in values)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    code = [
        (match["tag"], match["code"])
        for match in re.finditer(r"<(?P<tag>script|style)(?: type=.module.)?>(?P<code>.*?)</(?P=tag)>", demo, re.DOTALL)
    ]
    assert [tag for tag, _ in code] == ["style", "script"]
    for tag, text in code:
        named = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{named}'" in rules[f"{tag}-src"].split()


def test_nothing_in_the_page_points_outside(demo):
    for tag, attributes in Outline(demo).elements:
        for name in ("src", "href", "action", "data", "srcset", "style"):
            value = attributes.get(name) or ""
            assert value.startswith(("#", "data:")) or not value, (tag, name, value)
    styles = re.search(r"<style>(.*?)</style>", demo, re.DOTALL).group(1)
    assert "url(" not in styles
    assert "@import" not in styles


def test_the_licence_of_d3_is_in_the_page(demo):
    assert "Permission to use, copy, modify, and/or distribute" in demo


def test_what_does_not_exist_is_left_out_and_said():
    page = render(summarize(held(popular_graph(12))))
    ids = {attributes.get("id") for _, attributes in Outline(page).elements}
    assert not {"path", "lam", "history", "left-out"} & ids
    assert "because Held plays no game" in page


def test_columns_of_nodes_and_edges_are_in_the_page_without_further_code():
    weights = popular_graph(12)
    frequency = np.linspace(0.1, 0.9, weights.nnz)
    district = np.array(["north", "south"] * 6, dtype=object)
    columns = {"node_columns": {"district": district, "low": np.arange(12.0)}, "edge_columns": {"frequency": frequency}}
    model = held(weights, **columns)
    outline = Outline(render(summarize(model)))
    data = outline.data()
    names = [int(name) for name in data["nodes"]["name"]]
    assert data["nodes"]["district"] == district[names].tolist()
    assert data["nodes"]["low"] == names
    view = data["drawing"]["views"][0]
    edges = model.graph_.edges().set_index(["source", "target"])
    for source, target, value in zip(view["source"], view["target"], view["edge_columns"]["frequency"], strict=True):
        assert value == pytest.approx(edges.loc[(names[source], names[target]), "frequency"], rel=1e-3)


def test_a_graph_without_directions_is_listed_under_both_nodes_of_a_pair():
    weights = np.array([[0.0, 0.4, 0.0], [0.4, 0.0, 0.2], [0.0, 0.2, 0.0]])
    summary = summarize(held(weights, directed=False))
    assert summary.graph.n_edges == 2
    assert summary.to_dict()["drawing"]["views"][0]["weight"] == [0.4, 0.4, 0.2, 0.2]
    assert "learned 2 ties among 3 nodes" in render(summary)


def test_the_largest_report_stays_under_six_megabytes():
    graphs = [popular_graph(10_000, seed=k) for k in range(3)]
    names = [f"<&>{k:05}" + "<" * 300 for k in range(10_000)]
    path = path_of([graphs[k % 3] for k in range(40)], np.geomspace(0.1, 10, 40))
    page = render(summarize(held(graphs[0], names), path=path))
    assert 1e6 < len(page.encode()) < 4e6


def test_a_report_needs_no_matplotlib():
    code = "import sys; sys.modules['matplotlib'] = None; import nashgraph.report; print('made')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "made"


def test_a_consensus_says_how_sure_one_may_be_and_what_the_prior_did():
    page = render(summarize(karate_consensus()))
    for words in (
        "replicates share",
        "The prior's part",
    ):
        assert words in page
    standfirst = page.split('id="standfirst"')[1].split("</p>")[0]
    assert "<strong>Uncertain:</strong>" in standfirst
    plain = render(summarize(held(popular_graph(20, 3))))
    assert "have most influence in this one fit. Fit ConsensusGL to see how stable this is" in plain
    for words in ('id="settled"', 'id="prior-part"', "members", "Settled:"):
        assert words not in plain.split("<script")[0]


def test_a_large_consensus_stays_small():
    weights = popular_graph(5_000, 60)
    frequency = np.random.default_rng(0).random(weights.nnz)
    columns = {"frequency": frequency, "low": 0.5 * weights.data, "high": 2.0 * weights.data}
    ranks = {"rank_low": np.ones(5_000, dtype=int), "rank_high": np.full(5_000, 9)}
    ends = {"influence_low": np.zeros(5_000), "influence_high": np.ones(5_000)}
    page = render(summarize(held(weights, edge_columns=columns, node_columns=ends | ranks)))
    assert len(page.encode()) < 6e6
    assert "and 4,996 more may rank higher" in page


@pytest.mark.parametrize("supported", [True, False])
def test_influence_is_drawn_only_if_the_signals_support_it(supported):
    model = ConsensusGL(random_state=0, n_replicates=4).fit(np.random.default_rng(0).normal(size=(20, 30)))
    page = render(summarize(model, graph=replace(model.graph_, influence_supported=supported)))
    assert ("Influence, with 90% intervals" in page) == supported
    assert ("who is central is not known" in page) != supported
    assert ("All circles are alike" in page) != supported
