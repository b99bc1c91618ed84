"""Laws for every public function that takes names: the order of nodes, and of the rows of every table, does not matter.

Each case is a function of a world of named things (signals, a true network, weights, benefits, tables about ties) that
returns what a public function says of them, by name. The same function of the same world with all its nodes and rows
in other orders must return the same. Labels are names, or the numbers 0 to n - 1 in other orders.
"""

import warnings
from functools import cached_property

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import nashgraph
import nashgraph.report
from nashgraph.datasets import preferential_attachment, smooth_signals
from nashgraph.estimators import METHODS

N, M = 24, 30
LABELS = {"names": [f"p{k}" for k in range(N)], "numbers": list(range(N))}


class World:
    """Named things about one population; ``shuffle`` gives every one of them an order of its own."""

    def __init__(self, labels, shuffle):
        self.labels = list(labels)
        self.random = np.random.default_rng(1) if shuffle else None

    def order(self, items):
        """Return items in another order, a new one each time, or in theirs."""
        items = list(items)
        return items if self.random is None else [items[k] for k in self.random.permutation(len(items))]

    def mixed(self, table):
        """Return a Series, or a table about rows, with its rows in another order."""
        return table.loc[self.order(table.index)]

    @cached_property
    def truth(self):
        """The true network."""
        drawn = nx.relabel_nodes(preferential_attachment(N, 2, random_state=0), dict(enumerate(self.labels)))
        graph = nx.Graph()
        graph.add_nodes_from(self.order(drawn))
        graph.add_edges_from(self.order(drawn.edges))
        return graph

    @cached_property
    def X(self):  # noqa: N802 (the name of signals everywhere)
        """Signals: rows by name, nodes in the columns."""
        drawn = smooth_signals(preferential_attachment(N, 2, random_state=0), M, "heat", noise=0.3, random_state=0)
        table = pd.DataFrame(drawn, [f"q{k}" for k in range(M)], self.labels)
        return self.mixed(table)[self.order(self.labels)]

    @cached_property
    def weights(self):
        """A weight matrix with names on both sides, in different orders."""
        draws = np.random.default_rng(3)
        matrix = draws.random((N, N)) * (draws.random((N, N)) < 0.3)
        np.fill_diagonal(matrix, 0.0)
        matrix *= 0.6 / matrix.sum(axis=1).max()
        return self.mixed(pd.DataFrame(matrix, self.labels, self.labels))[self.order(self.labels)]

    @cached_property
    def graph(self):
        """The same weights as a networkx graph."""
        table = self.weights.stack()
        graph = nx.DiGraph()
        graph.add_nodes_from(self.order(self.labels))
        graph.add_weighted_edges_from((source, target, weight) for (target, source), weight in table.items() if weight)
        return graph

    def values(self, seed):
        """Return a positive number for each node, by name."""
        return self.mixed(pd.Series(np.random.default_rng(seed).random(N) + 0.1, self.labels))

    @cached_property
    def traits(self):
        table = pd.DataFrame(np.random.default_rng(5).integers(0, 2, (N, 3)), self.labels, ["a", "b", "c"])
        return self.mixed(table)

    @cached_property
    def survey(self):
        """Traits, and what everybody says of their ties, each table with its rows in an order of its own."""
        friends = nx.to_pandas_adjacency(self.truth)
        traits = self.traits
        counts = friends @ traits.loc[friends.columns]
        return {"traits": traits, "counts": self.mixed(counts), "n_ties": self.mixed(friends.sum(axis=1))}

    def of_rows(self, values):
        """Return values of the signals as a Series."""
        return self.mixed(pd.Series(values, [f"q{k}" for k in range(M)]))

    def consensus(self):
        return nashgraph.ConsensusGL(n_replicates=0, benefit=self.values(4)).fit(self.X)


def by_name(result):
    """Return a result as a Series of numbers by name, sorted, whatever order its rows had."""
    if isinstance(result, nashgraph.GraphEstimator):
        result = result.graph_
    if isinstance(result, nashgraph.LearnedGraph):
        directed = result.directed
        result = result.edges()
        if not directed:  # the ends of a tie without direction come in any order
            result[["source", "target"]] = np.sort(result[["source", "target"]].astype(str), axis=1)
    if isinstance(result, pd.DataFrame):
        keys = [name for name in ("name", "source", "target", "method") if name in result]
        names = result[keys].astype(str).agg("|".join, axis=1) if keys else result.index
        values = result.drop(columns=[*keys, "seconds"], errors="ignore").select_dtypes("number")
        result = values.set_index(pd.Index(names)).stack()
    if not isinstance(result, pd.Series):
        return pd.Series(np.atleast_1d(np.asarray(result, dtype=float)))
    index = [str(label) for label in result.index]
    return pd.Series(result.to_numpy(dtype=float), index).sort_index()


def lines(ax):
    """Return how many ties a plot draws of each kind."""
    return sorted(len(part.get_segments()) for part in ax.collections if hasattr(part, "get_segments"))


CASES = {}


def law(name):
    """File a case under the public name that it is about."""

    def file(case):
        CASES[name] = case
        return case

    return file


for score in ("edge_auc", "edge_average_precision", "edge_precision_recall"):
    CASES[score] = lambda w, score=score: getattr(nashgraph, score)(w.truth, w.weights, "mean")
METHOD_OPTIONS = {"consensus": {"n_replicates": 0}, "glasso": {"alpha": 0.05, "tol": 1e-8}}
for method, make in METHODS.items():
    CASES[make.__name__] = lambda w, make=make, method=method: make(**METHOD_OPTIONS.get(method, {})).fit(w.X)
for function in ("key_players", "what_if"):
    CASES[function] = lambda w, function=function: getattr(nashgraph, function)(w.graph, w.values(4))
for function in ("best_ties", "costliest_ties", "key_group"):
    CASES[function] = lambda w, function=function: getattr(nashgraph, function)(w.graph, 3, w.values(4))


@law("compare")
def _(w):
    return nashgraph.compare(w.X, w.truth, ["smooth", "linear"], benefit=w.values(4)).head(2)


@law("welfare_gain")
def _(w):
    other = w.graph.copy()
    other.remove_edges_from([edge for edge in w.graph.edges if w.labels[0] in edge])
    return nashgraph.welfare_gain(w.weights, other, w.values(4))


@law("welfare")
def _(w):
    return nashgraph.welfare(w.weights, w.values(4))


@law("equilibrium")
def _(w):
    return pd.Series(nashgraph.equilibrium(w.weights, w.values(4)), w.weights.columns)


@law("adjoint")
def _(w):
    return pd.Series(nashgraph.adjoint(w.weights, w.values(4)), w.weights.columns)


@law("equal_influence")
def _(w):
    return nashgraph.LearnedGraph.of(nashgraph.equal_influence(w.weights), w.weights.columns)


@law("adjacency_matrix")
def _(w):
    return nashgraph.LearnedGraph.of(nashgraph.adjacency_matrix(w.graph), w.graph)


@law("as_graph")
def _(w):
    return nashgraph.as_graph(w.weights)


@law("LearnedGraph")
def _(w):
    return nashgraph.as_graph(w.graph).suggested(4)


@law("spectral_benefit")
def _(w):
    return pd.Series(nashgraph.spectral_benefit(w.X), w.X.columns)


@law("squared_distances")
def _(w):
    return nashgraph.LearnedGraph.of(nashgraph.squared_distances(w.X), w.X.columns)


@law("check_network")
def _(w):
    questions = w.of_rows(np.repeat(np.arange(M // 2), 2))
    return pd.Series(dict(nashgraph.check_network(w.X, questions=questions).carried_by))


@law("GamePrior")
def _(w):
    return nashgraph.GLGP(lam=1e-3, prior=nashgraph.GamePrior(w.values(4))).fit(w.X)


@law("GamePrior.evaluate")
def _(w):
    return nashgraph.GamePrior(w.values(4)).evaluate(nashgraph.as_graph(w.weights)).value


@law("GLGP")
def _(w):
    return nashgraph.GLGP(lam=1e-3, benefit=w.values(4)).fit(w.X, sample_weight=w.of_rows(np.arange(1.0, M + 1.0)))


@law("GLGP.init")
def _(w):
    start = nashgraph.SmoothGL().fit(w.X)
    init = pd.DataFrame(start.graph_.weights.toarray(), w.X.columns, w.X.columns)
    init = w.mixed(init)[w.order(w.labels)]
    solver = nashgraph.BestResponse(max_iter=2, tol=1.0)
    return nashgraph.GLGP(lam=1e-3, benefit=w.values(4), init=init, solver=solver).fit(w.X)


@law("LambdaPath")
def _(w):
    return nashgraph.GLGP(benefit=w.values(4)).path(w.X, [1e-3]).models[0]


@law("ConsensusGL")
def _(w):
    return w.consensus()


@law("TieModel")
def _(w):
    return nashgraph.TieModel(calibrate=False).fit(**w.survey)


@law("TieSurvey")
def _(w):
    survey = nashgraph.TieSurvey.of(w.order(w.labels), **w.survey)
    tables = [survey.traits, survey.counts, survey.n_ties.to_frame("n_ties")]
    return pd.concat([table.astype(float) for table in tables], axis=1).set_axis(range(7), axis=1).stack()


@law("read_study")
def _(w):
    table = w.X.T.rename_axis("name").reset_index()
    return nashgraph.read_study(table).signals.T.stack()


@law("fit_game")
def _(w):
    X = w.mixed(w.values(8).rename("age").to_frame())
    fit = nashgraph.fit_game(w.graph, w.values(4), X, groups=w.mixed(pd.Series(np.arange(N) % 2, w.labels)))
    return fit.coefficients.set_index("term")["estimate"]


@law("best_support")
def _(w):
    return nashgraph.best_support(w.graph, 1.0, w.values(4))


@law("what_if")
def _(w):
    changed = w.mixed(pd.Series({w.labels[5]: 3.0, w.labels[6]: 2.0}))
    return nashgraph.what_if(w.graph, w.values(4), without=[w.labels[3]], new_benefit=changed)


@law("diffusion_centrality")
def _(w):
    return pd.Series(nashgraph.diffusion_centrality(w.graph, rounds=3), list(w.graph))


@law("expected_reach")
def _(w):
    """By simulation: a law up to chance."""
    seeds = w.order([w.labels[2], w.labels[9]])
    return round(nashgraph.expected_reach(w.graph, seeds, rounds=2, samples=20_000) / 2, 0)


@law("best_seeds")
def _(w):
    """The seeds that score singles out; the share that they reach is simulated."""
    score = w.mixed(pd.Series(np.where(np.arange(N) < 2, 1.0, 0.0), w.labels))
    return sorted(map(str, nashgraph.best_seeds(w.graph, 2, score=score).name)) == sorted(map(str, w.labels[:2]))


@law("roles")
def _(w):
    return nashgraph.roles(w.graph, communities=w.mixed(pd.Series(np.arange(N) % 3, w.labels)))


@law("plot_graph")
def _(w):
    return lines(nashgraph.plot_graph(w.graph, Figure().subplots(), truth=w.truth))


@law("plot_adjacency")
def _(w):
    ax = nashgraph.plot_adjacency(w.weights, Figure().subplots(), order=w.labels)
    return np.asarray(ax.images[0].get_array()).ravel()


@law("summarize")
def _(w):
    return nashgraph.summarize(w.consensus(), truth=w.truth, columns=w.traits).hubs


@law("plan_study")
def _(w):
    """Simulated people: only that the network and the traits are those of the same people."""
    traits = w.mixed(pd.DataFrame({"group": nx.spectral_layout(w.truth, dim=1)}).map(lambda place: int(place[0] > 0)))
    options = {"asked": [1.0], "questions": [1], "n_draws": 3}
    return nashgraph.plan_study(like=(w.truth, traits), **options).average_precision.round(0)


@law("report.compare_groups")
def _(w):
    groups = [w.X.loc[[f"q{k}" for k in range(first, M, 2)], w.order(w.labels)] for first in (0, 1)]
    return nashgraph.report.compare_groups(nashgraph.SmoothGL(degree=3), *groups, n_permutations=19).structure


@law("report.plot_precision_recall")
def _(w):
    ax = nashgraph.report.plot_precision_recall(w.graph, w.truth, Figure().subplots())
    return ax.lines[0].get_ydata()


@law("report.plot_calibration")
def _(w):
    ax = nashgraph.report.plot_calibration(
        nashgraph.TieModel(calibrate=False).fit(**w.survey), w.truth, Figure().subplots()
    )
    return ax.lines[-1].get_ydata()


# Public names that take nothing with names, and why.
WITHOUT_NAMES = {
    **dict.fromkeys(["InputError", "DataWarning"], "errors"),
    **dict.fromkeys(["BestResponse", "TTGD"], "options of a solver"),
    **dict.fromkeys(
        ["Interaction", "Linear", "Log1p", "Saturating", "Exponential", "CustomInteraction"], "functions of a number"
    ),
    **dict.fromkeys(["Welfare", "TotalAction", "Utilitarian", "CustomWelfare"], "functions of actions"),
    "GameFit": "the result of fit_game",
    "Study": "the result of read_study",
    "GraphEstimator": "the base of the estimators",
    "NetworkCheck": "the result of check_network",
    "project_rows": "takes rows of numbers",
    "plot_convergence": "draws a history",
    "plot_path": "draws a path",
    "plot_plan": "draws a table of plan_study",
    "write_report": "writes what summarize returns",
    **dict.fromkeys(["report.Differences", "report.GroupTest", "report.Summary"], "results"),
    **dict.fromkeys(
        [f"report.{name}" for name in ("differences", "methods_paragraph", "plot_influence")], "take one fitted model"
    ),
    **dict.fromkeys(
        [f"report.{name}" for name in ("plot_differences", "plot_stability", "plot_networks")],
        "draw results or several networks",
    ),
    **dict.fromkeys(["fit_waves", "compare_waves"], "take waves of signals (tests/test_wave_comparison.py)"),
    "report.stability_curve": "draws parts of the signals at random",
    "WeightedTotal": "its weights are a field of GamePrior's welfare (tests/games)",
    "EqualGroups": "its groups are a field of GamePrior's welfare (tests/games)",
    "SpecTemp": "its unit is the first node's degree, so the order of nodes counts",
}


def test_every_public_name_has_a_law_or_a_reason():
    report = [f"report.{name}" for name in nashgraph.report.__all__ if name not in nashgraph.__all__]
    public = {name for name in [*nashgraph.__all__, *report] if not name.startswith("__")}
    covered = {name for name in CASES if "evaluate" not in name and ".init" not in name}
    assert public - covered - {*WITHOUT_NAMES} == set()
    assert {*WITHOUT_NAMES} - public == set()


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("name", [name for name in CASES if name not in WITHOUT_NAMES])
def test_orders_of_nodes_and_rows_do_not_matter(name, labels):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nashgraph.DataWarning)
        before, after = (by_name(CASES[name](World(LABELS[labels], shuffle))) for shuffle in (False, True))
    assert len(before) > 0
    scale = max(np.abs(before).max(), 1e-300)
    pd.testing.assert_series_equal(after / scale, before / scale, rtol=0, atol=1e-5, check_dtype=False)
