"""Benefits learned from columns: the hypergradient against differences, signs, intervals, and their accuracy."""

import numpy as np
import pandas as pd
import pytest

from nashgraph import GLGP, InputError, edge_average_precision
from nashgraph.datasets import preferential_attachment, smooth_signals
from nashgraph.estimators.learned_benefit import Network, Task, learn_benefit
from nashgraph.priors import Epidemic, GamePrior


def hubs(seed=0, n=40):
    """Everybody names one of three people, whose mark is not in the signals; age is unrelated."""
    random = np.random.default_rng(seed)
    marks = pd.DataFrame({"mark": (np.arange(n) < 3).astype(float), "age": random.normal(size=n)})
    return Task(random.normal(size=(10, n)), marks, [(i, i % 3) for i in range(3, n)])


def held_out(W):
    """A functional other than ties: the influence of the first five nodes, to be high."""
    gradient = np.zeros_like(W)
    gradient[:, :5] = -1.0
    return -float(W[:, :5].sum()), gradient


@pytest.mark.parametrize("make", [GamePrior, lambda b: GamePrior(b, "linear", "utilitarian"), Epidemic])
@pytest.mark.parametrize("known", ["ties", "functional"])
def test_hypergradient_agrees_with_differences(make, known):
    task = hubs()
    network = Network.of(task if known == "ties" else task._replace(known=[held_out]), 20, 0.9, make)
    point, step = np.array([0.4, 0.2, 0.5]), 1e-4
    gradient = network.loss(point)[1][0]
    differences = [(network.loss(point + e)[0] - network.loss(point - e)[0]) / (2 * step) for e in step * np.eye(3)]
    np.testing.assert_allclose(gradient, differences, rtol=2e-4, atol=2e-4 * np.abs(gradient).max())
    np.testing.assert_allclose(network.loss(point, parts=True)[1].sum(axis=0), gradient, rtol=1e-4, atol=1e-5)


def test_the_column_that_marks_hubs_is_found_and_the_other_is_not():
    found = learn_benefit(hubs())
    assert found.table.loc["mark", "sign"] == "+"
    assert found.table.loc["age", "sign"] == "?"
    assert found.loss < found.loss_without
    assert found.benefits[0][:3].min() > 3 * found.benefits[0][3:].max()


def test_a_column_turned_round_has_the_other_sign():
    task = hubs()
    table = learn_benefit(task._replace(columns=-task.columns)).table
    assert table.loc["mark", "sign"] == "-"


def test_columns_of_noise_are_rarely_called_significant():
    wrong = []
    for seed in range(8):
        random, graph = np.random.default_rng(seed), preferential_attachment(40, 2, random_state=seed)
        ties = [pair for i, j in graph.edges() for pair in ((i, j), (j, i))]
        X = smooth_signals(graph, 20, "heat", random_state=seed)
        table = learn_benefit(Task(X, random.normal(size=(40, 2)), ties), max_iter=15).table
        wrong += [*(table["sign"].iloc[:2] != "?")]
    assert np.mean(wrong) <= 0.25


def test_benefits_learned_on_one_network_help_on_another():
    def village(seed):
        random, graph = np.random.default_rng(seed), preferential_attachment(50, 2, random_state=seed)
        degrees = np.array([degree for _, degree in graph.degree()], float)
        rank = np.log(degrees + 1) + 0.3 * random.normal(size=50)
        ties = [pair for i, j in graph.edges() for pair in ((i, j), (j, i))]
        columns = pd.DataFrame({"rank": rank, "age": random.normal(size=50)})
        return graph, Task(smooth_signals(graph, 10, "lowpass", random_state=seed), columns, ties)

    villages = [village(seed) for seed in range(4)]
    found = learn_benefit([task for _, task in villages[:2]], max_iter=25)
    assert found.table.loc["rank", "sign"] == "+"
    slopes, gains = found.table["estimate"].iloc[:2].to_numpy(), []
    for graph, task in villages[2:]:
        benefit = Network.of(task, 20, 0.95, GamePrior).benefit(slopes)
        scores = [
            edge_average_precision(graph, GLGP(lam=lam, degree=20, benefit=benefit).fit(task.X), "mean")
            for lam in (0.0, "auto")
        ]
        gains.append(scores[1] - scores[0])
    assert np.mean(gains) > 0


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ([], "tasks is empty"),
        (hubs()._replace(known=[]), "known is empty"),
        (hubs()._replace(known=[(0, 99)]), "node numbers from 0 to 39"),
        (hubs()._replace(columns=np.ones((3, 2))), "one row per node"),
        (hubs()._replace(columns=np.full((40, 1), np.nan)), "missing"),
        ([hubs(), hubs()._replace(columns=np.ones((40, 2)))], "same columns"),
    ],
)
def test_refusals(task, message):
    with pytest.raises(InputError, match=message):
        learn_benefit(task)
