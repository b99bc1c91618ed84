"""Data as JSON has it, figures in words, who leads and how sure that is, and the methods paragraph.

The page's templates have all other words.
"""

from __future__ import annotations

import base64
import html
import json
import platform
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import scipy

from ..graph import EVIDENCE, NOT_CENTRAL, LearnedGraph
from ..validation import Array, InputError, listing

if TYPE_CHECKING:
    from .summary import Summary

# CITATION.bib has an entry for each.
GAME = "Zhang, Liu, Wai and So (2024), Network Games Induced Prior for Graph Topology Learning, arXiv:2410.24095"
FUNCTIONAL = (
    "Zhang, Liu, Wai and So (2026), Learning Graph Topology with Functional Priors via Bilevel Optimization, "
    "arXiv:2606.13885"
)
SMOOTH = "Kalofolias (2016), How to Learn a Graph from Smooth Signals, AISTATS"
TIES = (
    "Breza, Chandrasekhar, McCormick and Pan (2020), Using Aggregated Relational Data to Feasibly Identify Network "
    "Structure without Network Data, American Economic Review 110"
)
REFERENCES = {"GLGP": GAME, "LinearGLGP": GAME, "ConsensusGL": SMOOTH, "SmoothGL": SMOOTH, "TieModel": TIES}


def packed_json(values: Any) -> str:
    """Write JSON, compressed by zlib, in base 64: a third as long, and nothing in it can be taken for markup."""
    written = json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(written.encode(), 9)).decode("ascii")


def plain(values: Any, figures: int = 6) -> Any:
    """Return a number or a column as JSON has it: numbers rounded to some figures, None where not finite, else text."""
    column = np.asarray(values)
    if column.ndim == 0:
        return plain(column[None], figures)[0]
    if column.dtype.kind in "iub":
        return column.tolist()
    if column.dtype.kind == "f":
        return [float(f"{value:.{figures}g}") if np.isfinite(value) else None for value in column.tolist()]
    words = shortened([text(value) for value in column.tolist()])
    return [None if gap else word for gap, word in zip(pd.Series(column, dtype=object).isna(), words, strict=True)]


def columns(named: Any, figures: int = 6) -> dict[str, Any]:
    """Return the columns of a table, or of a dict of arrays, as lists by name."""
    return {text(name): plain(np.asarray(values), figures) for name, values in named.items()}


def text(value: object) -> str:
    """Return text that can be written as UTF-8: half characters (lone surrogates) become question marks."""
    return str(value).encode("utf-8", "replace").decode("utf-8")


def shortened(names: list[str]) -> list[str]:
    """Cut long names, the shorter the more there are, so that all of them together stay below a megabyte."""
    for length in (200, 100, 50, 25, 12):
        cut = [name if len(name) <= length else name[: length - 1] + "…" for name in names]
        if sum(len(name.encode()) for name in cut) <= 1_000_000:
            break
    return cut


def number(value: float) -> str:
    """Write a number for reading: three figures, thousands apart, no exponent unless it must be."""
    if not np.isfinite(value):
        return "not known"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1e}" if 0 < abs(value) < 1e-3 else f"{value:.3g}"


def percent(share: float) -> str:
    """Write a share in percent: 38%, or 0.0000003%."""
    if share >= 0.0995:
        return f"{100 * share:.0f}%"
    return f"{np.format_float_positional(float(f'{100 * share:.1g}'), trim='-')}%"


def verdicts(summary: Summary, first: Leaders) -> list[tuple[str, str]]:
    """Return in a few words, with green, amber or red, is there anything, how many ties, who leads, how stable."""
    chips = [structure_verdict(summary), ties_verdict(summary)]
    if "expected_ties" in summary.graph.node_columns:
        chips.append(most_ties_verdict(summary.hubs))
    else:
        chips.append(leaders_verdict(first))
    if summary.unmatched is not None:
        chips.append(names_verdict(summary.unmatched))
    if np.isfinite(summary.agreement):
        chips.append(agreement_verdict(summary))
    return chips


def structure_verdict(summary: Summary) -> tuple[str, str]:
    """Return what the test of structure found, in words that claim no more than the test does."""
    if "expected_ties" in summary.graph.node_columns:
        n_ties = float(np.sum(summary.graph.node_columns["expected_ties"])) / 2
        return f"About {n_ties:,.0f} ties among {summary.graph.n_nodes:,} people, as they told", "green"
    check = summary.structure
    if check is None or check.verdict == "cannot tell":
        return "not tested whether answers go together", "amber"
    if check.found:
        return f"answers go together (p = {check.p_value:.2g})", "green"
    return f"nothing found: as in shuffled answers (p = {check.p_value:.2g})", "red"


def names_verdict(unmatched: pd.DataFrame) -> tuple[str, str]:
    """Return how many written names are not used, and how many have a likely spelling."""
    likely = int(unmatched["likely"].sum())
    rest = f"; {likely:,} with a likely spelling" if likely else ""
    return f"{len(unmatched):,} names are not used{rest}", "amber"


def ties_verdict(summary: Summary) -> tuple[str, str]:
    """Return how many ties are shown, and what their number rests on."""
    cut = summary.cut
    if "expected_ties" in summary.graph.node_columns:
        likely = summary.graph.at_least("probability", 0.5).undirected().n_edges
        part = likely / max(cut.n_ties, 1)
        return f"{likely:,} pairs are more likely tied than not", graded(part, 0.5, 0.2)
    if cut.share:
        frequent = cut.ties.at_least("pair", 0.9).undirected().n_edges
        part = frequent / max(cut.n_ties, 1)
        return f"{cut.n_ties:,} ties, {part:.0%} of them in at least 90% of versions", graded(part, 0.5, 0.2)
    if cut.column == EVIDENCE:
        return f"{cut.n_ties:,} strongest pairs (number chosen by convention)", "amber"
    return f"{cut.n_ties:,} ties of one fit", "amber"


def most_ties_verdict(hubs: pd.DataFrame) -> tuple[str, str]:
    """Return who is expected to have most ties; green if nobody else's 90% interval reaches that person's."""
    ranked = hubs.sort_values("expected_ties", ascending=False, kind="stable")
    first = ranked.iloc[0]
    words = f"{shortened([text(first['name'])])[0][:30]} has most ties: {first['expected_ties']:.0f}"
    if "ties_low" not in ranked:
        return words, "amber"
    apart = len(ranked) == 1 or first["ties_low"] > ranked["ties_high"].iloc[1:].max()
    return f"{words} ({first['ties_low']:.0f} to {first['ties_high']:.0f})", "green" if apart else "amber"


def leaders_verdict(first: Leaders) -> tuple[str, str]:
    """Return whether it is known who is central."""
    if not first.supported:
        return "who is central is not known", "red"
    if not first.first:
        return "no ties, so no leaders", "red"
    if first.rivals:
        return "leaders not settled", "red"
    if first.settled:
        return "leaders settled", "green"
    return "leaders of one fit", "amber"


def agreement_verdict(summary: Summary) -> tuple[str, str]:
    """Return how alike replicates are, graded by how far this is above shuffled answers.

    The grade is the share of what is left above chance: 0.2 of it is what a table with clear communities reaches.
    """
    words = f"replicates share {summary.agreement:.0%} of the weight"
    if summary.reference is None or not np.isfinite(summary.reference.agreement):
        return words, "amber"
    chance = summary.reference.agreement
    above = (summary.agreement - chance) / max(1.0 - chance, 1e-9)
    return f"{words}; {chance:.0%} if shuffled", graded(above, 0.2, 0.05)


def calibration_sentence(trust: Mapping[str, Mapping[str, Any]]) -> str:
    """Return in one sentence where probabilities are farthest from the share of ties, if a truth is known."""
    if "calibration" not in trust:
        return ""
    evidence = np.asarray(trust["calibration"]["evidence"])
    tied = np.asarray(trust["calibration"]["tied"])
    worst = int(np.argmax(np.abs(tied - evidence)))
    if abs(tied[worst] - evidence[worst]) < 0.05:
        return "They agree to within 5 points."
    direction = "too low" if tied[worst] > evidence[worst] else "too high"
    return f"Of pairs at about {evidence[worst]:.0%}, {tied[worst]:.0%} are ties: these figures are {direction}."


def graded(value: float, good: float, fair: float) -> str:
    """Return green from ``good`` on, amber from ``fair`` on, else red."""
    if value >= good:
        return "green"
    return "amber" if value >= fair else "red"


class Leaders(NamedTuple):
    """The names of the most influential nodes, and of those that may be as well; none where it is settled.

    ``settled`` is whether this rests on replicates: without them, the first are the first of one fit, and no more is
    known.
    """

    first: list[str]
    rivals: list[str]
    settled: bool = True
    more_settled: bool = True
    supported: bool = True

    @property
    def sentence(self) -> str:
        """The most influential nodes, and whether their order is stable."""
        if not self.supported:
            return NOT_CENTRAL
        if not self.first:
            return "There are no ties, so nobody has influence."
        if self.rivals:
            rivals = listing(self.rivals, 5)
            return f"{self.first[0]} ranks first, but its rank is uncertain: {rivals} may rank higher."
        if not self.settled:
            first = ", ".join(self.first)
            return f"Most influence in this one fit: {first}. Fit ConsensusGL to see how stable this is."
        rest = "" if self.more_settled else " Who comes next is not settled."
        return f"Settled as most influential: {', '.join(self.first)}.{rest}"


def concentration_sentence(graph: LearnedGraph) -> str:
    """Say that two nodes hold a third of the influence of 20 or more, mostly due to the prior or an outlier."""
    influence = np.sort(graph.influence)[::-1]
    if graph.n_nodes < 20 or influence[:2].sum() <= influence.sum() / 3:
        return ""
    first = " and ".join(shortened([text(name) for name in graph.names[graph.by_influence[:2]]]))
    share = percent(float(influence[:2].sum() / influence.sum()))
    return (
        f"{first} hold {share} of all influence among {graph.n_nodes:,} nodes: check that this is meant; a weaker "
        "prior (lam), more neighbours (degree) or another benefit spreads it, and so does leaving out an odd node"
    )


def gaps_mark(graph: LearnedGraph, node: int) -> str:
    """Return what to write behind a node's name where a quarter of it or more is missing."""
    if "missing" in graph.node_columns:
        share = float(graph.node_columns["missing"][node])
    else:
        share = 0.0
    return f" ({percent(share)} missing)" if share >= 0.25 else ""


def speaking(graph: LearnedGraph) -> Array:
    """Return the nodes that may be named as influential, most influential first: not those without any signal."""
    order = graph.by_influence
    if "silent" in graph.node_columns:
        return order[np.asarray(graph.node_columns["silent"])[order] == 0]
    return order


def leaders(graph: LearnedGraph) -> Leaders:
    """Return who is most influential, as far as the intervals of the ranks tell the first from the rest."""
    if graph.influence_supported is False:
        return Leaders([], [], supported=False)
    if not graph.influence.any():
        return Leaders([], [], settled=False)
    order = speaking(graph)
    plain = shortened([text(name) for name in graph.names[order]])
    names = [name + gaps_mark(graph, node) for name, node in zip(plain, order.tolist(), strict=True)]
    if "rank_low" not in graph.node_columns:
        return Leaders(names[:3], [], settled=False)
    low, high = (np.asarray(graph.node_columns[end])[order] for end in ("rank_low", "rank_high"))
    for count in range(min(3, len(order) - 1), 0, -1):
        if high[:count].max() < low[count:].min():
            return Leaders(names[:count], [], more_settled=count == 3)
    # Those that come as high as the first one does; else those that come as low as it may.
    bar = low[0] if low[1:].min() <= low[0] else high[0]
    return Leaders(names[:1], [name for name, rank in zip(names[1:], low[1:], strict=True) if rank <= bar])


def read_methods(page: str | Path) -> str:
    """Return the methods paragraph that a report page holds."""
    try:
        if not Path(page).is_file():  # reading a pipe would wait for somebody to write
            raise FileNotFoundError
        found = re.search(r'<p [^>]*id="methods">(.*?)</p>', Path(page).read_text("utf-8", "replace"), re.DOTALL)
    except OSError as error:
        raise InputError(f"there is no {page} to read the methods paragraph from; run nashgraph learn again") from error
    if found is None:
        raise InputError(f"{page} has no methods paragraph: it was written by an older version, so learn again")
    return html.unescape(found[1])


def references(summary: Summary) -> list[str]:
    """Return what to cite: the method, the game only if a prior used it, other priors only if there is one."""
    prior = summary.parameters.get("prior", "game")
    if summary.method == "GLGP" and prior != "game" and not prior.startswith("GamePrior"):
        return [FUNCTIONAL]
    if summary.method in REFERENCES:
        of_method = [REFERENCES[summary.method]]
    else:
        of_method = []
    if summary.method == "ConsensusGL" and summary.prior is not None:
        return [*of_method, GAME]
    return of_method


def methods_paragraph(summary: Summary) -> str:
    """Return what was done in about 120 words with references, ready to paste into a paper.

    Settings, versions and how the table was read are in the supplement (:func:`methods_supplement`).

    Examples
    --------
    >>> from nashgraph import SmoothGL
    >>> from nashgraph.report import summarize
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> methods_paragraph(summarize(SmoothGL(degree=4).fit(X)))
    "A network of 30 nodes was learned with SmoothGL (Kalofolias (2016), ...) in nashgraph ...
    """
    from .. import __version__  # noqa: PLC0415 (the package's root imports this module)

    cut = summary.cut
    graph = summary.graph
    source = f" from {summary.source}" if summary.source else ""
    if references(summary):
        cited = f" ({'; '.join(references(summary))})"
    else:
        cited = ""
    density = cut.n_ties / max(1, graph.n_nodes * (graph.n_nodes - 1) / 2)
    basis = "The ties were inferred from likeness; none was observed."
    if "expected_ties" in graph.node_columns:
        basis = "The ties were estimated from what people reported about them, each with a probability."
    sentences = [
        f"A network of {graph.n_nodes:,} nodes was learned{source} with {summary.method}{cited} in nashgraph "
        f"{__version__}.",
        f"{counted_as_ties(summary)}: {cut.n_ties:,} ties, {percent(density)} of all pairs.",
        basis,
    ]
    if summary.structure is not None and np.isfinite(summary.structure.p_value):
        sentences.append(f"A permutation test of whether answers go together gave p = {summary.structure.p_value:.2g}.")
    if np.isfinite(summary.agreement):
        if summary.reference is not None:
            chance = summary.reference.agreement
        else:
            chance = np.nan
        if np.isfinite(chance):
            beside = f", {percent(chance)} with shuffled answers"
        else:
            beside = ""
        sentences.append(f"Two replicates shared {percent(summary.agreement)} of the weight{beside}.")
    sentences.append(f"The calculation: {summary.certificate.sentence}.")
    for name, score in summary.scores.items():
        sentences.append(f"{name} against the true network: {number(score)}.")
    sentences.append(
        "Communities were found by Leiden's method on modularity (Traag, Waltman and van Eck (2019), From Louvain to "
        "Leiden, Scientific Reports 9:5233)."
    )
    return " ".join(sentences)


def counted_as_ties(summary: Summary) -> str:
    """Return which pairs were counted as tied, as the start of a sentence."""
    cut = summary.cut
    if "expected_ties" in summary.graph.node_columns:
        return "The likeliest pairs were counted as tied, as many as ties are expected"
    if cut.share:
        return f"Pairs of nodes with a {cut.column} of at least 50% were counted as tied"
    if cut.column == EVIDENCE and summary.graph.degree is not None:
        return f"The strongest pairs were counted as tied, by convention {summary.graph.degree:.1f} per node on average"
    return "All pairs with a positive weight were counted as tied"


def methods_supplement(summary: Summary) -> str:
    """Return the settings and versions in one sentence each, for a paper's supplement."""
    settings = ", ".join(f"{name} {value}" for name, value in summary.parameters.items() if value not in ("", "None"))
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}"
    return f"Settings: {settings or 'none'}. Versions: {versions}."
