"""Waves of the tie model: the gradient, a simulated panel, the pupils of Knecht (2006), what changed."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score

from nashgraph import InputError, TieModel
from nashgraph.ties.waves import WaveTask


def panel(n=50, waves=4, stay=0.8, seed=0):
    """Networks whose ties are kept with a probability, and the names given in each wave."""
    random = np.random.default_rng(seed)
    place = random.random(n)
    density = 0.5 * np.exp(-10 * np.abs(place[:, None] - place))
    networks = []
    rows = []
    for wave in range(waves):
        fresh = np.triu(random.random((n, n)) < density, 1)
        kept = networks[-1] if networks else fresh
        A = np.where(np.triu(random.random((n, n)) < stay, 1), kept, fresh)
        networks.append(np.triu(A, 1))
        both = networks[-1] | networks[-1].T
        named = both & (random.random((n, n)) < 0.7)
        rows += [(one, one, other, wave) for one, other in np.argwhere(named)]
    return networks, pd.DataFrame(rows, columns=["respondent", "source", "target", "wave"]), place


def test_the_gradient_of_a_wave_meets_finite_differences():
    random = np.random.default_rng(0)
    log_odds = random.normal(-1, 1, (12, 12))
    task = WaveTask(
        log_odds=log_odds + log_odds.T,
        asked=np.arange(12) < 8,
        named=(random.random((12, 12)) < 0.2) & ~np.eye(12, dtype=bool),
        recall=random.uniform(0.3, 0.8, 12),
        false=random.uniform(0.01, 0.05, 12),
    )
    at = np.array([0.3, 0.8, -0.2])
    _, gradient = task.objective(at)
    for k in range(3):
        step = np.zeros(3)
        step[k] = 1e-5
        slope = (task.objective(at + step)[0] - task.objective(at - step)[0]) / 2e-5
        assert slope == pytest.approx(gradient[k], rel=1e-6)


def test_each_wave_has_its_network_and_changes_are_told():
    networks, reports, place = panel()
    places = pd.DataFrame({"x": place})
    model = TieModel().fit(reports=reports, places=places)
    assert list(model.graphs_) == ["0", "1", "2", "3"]
    last = TieModel().fit(reports=reports[reports["wave"] == 3].drop(columns="wave"), places=places)
    upper = np.triu_indices(50, 1)
    score, alone = (
        average_precision_score(networks[3][upper], fit.probabilities().to_numpy()[upper]) for fit in (model, last)
    )
    assert score > alone > 0.9
    assert model.expected_ties_["expected_ties"].sum() == pytest.approx(2 * networks[3].sum(), rel=0.1)
    second = TieModel().fit(reports=reports, places=places, wave=1)
    pd.testing.assert_series_equal(
        second.expected_ties_["expected_ties"],
        pd.Series(model.graphs_["1"].node_columns["expected_ties"], index=second.node_names_, name="expected_ties"),
        check_index=False,
    )
    table = model.changes(0.02)
    step = table[(table["before"] == "2") & (table["after"] == "3")]
    formed = networks[3] & ~networks[2]
    true = [formed[min(pair), max(pair)] for pair in step[["source", "target"]].astype(int).to_numpy()]
    assert average_precision_score(true, step["formed"]) > 2 * formed[upper].mean()
    assert table[["formed", "lost"]].max(axis=1).is_monotonic_decreasing
    with pytest.raises(InputError, match="no waves"):
        last.changes()


@pytest.mark.skipif("NASHGRAPH_DATA" not in os.environ, reason="needs NASHGRAPH_DATA")
@pytest.mark.parametrize("target", [3, 4])
def test_pupils_of_the_next_wave_are_predicted_better_than_by_all_earlier_names(target):
    folder = Path(os.environ["NASHGRAPH_DATA"]) / "waves"
    ties = pd.read_csv(folder / "knecht_ties.csv").query("source != target")
    answers = pd.read_csv(folder / "knecht_answers.csv").query("wave == 1").set_index("name")
    answers = answers[["gender", "ethnic", "religion"]]
    X = pd.get_dummies(answers, columns=list(answers), prefix_sep="=").T.astype(float)
    names = list(X.columns)
    named = []
    for _, rows in ties.groupby("wave"):
        table = pd.crosstab(rows["source"], rows["target"])
        named.append(table.reindex(index=names, columns=names).fillna(0))
    off_diagonal = ~np.eye(len(names), dtype=bool)
    truth = named[target - 1].to_numpy()[off_diagonal]
    earlier = sum(named[: target - 1]).to_numpy()[off_diagonal]
    model = TieModel().fit(X, reports=ties[ties["wave"] < target])
    predicted = model.expected_reports().loc[names, names].to_numpy()[off_diagonal]
    assert average_precision_score(truth, predicted) > average_precision_score(truth, earlier)
