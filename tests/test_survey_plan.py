"""A study planned before there is any data: figures that rise with the questions, a similar group, bad input."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from nashgraph import InputError, plan_study, plot_plan
from nashgraph.survey_plan import SeedingGain, drawn_group

from .commands import run


def test_asking_more_people_more_questions_buys_more():
    table = plan_study(80, 7, asked=[0.2, 1.0], questions=[0, 8], n_draws=3)
    figures = table.set_index(["asked", "questions"])["average_precision"]
    assert figures[1.0, 8] > figures[1.0, 0] + 0.1 > table.attrs["chance"] + 0.1
    assert figures[1.0, 8] > figures[0.2, 8] > table.attrs["chance"]
    assert table.n_asked.tolist() == [16, 16, 80, 80]
    pd.testing.assert_frame_equal(table, plan_study(80, 7, asked=[0.2, 1.0], questions=[0, 8], n_draws=3))
    forgetful = plan_study(80, 7, asked=[1.0], questions=[8], recall=0.6, n_draws=3)
    assert forgetful.average_precision[0] < figures[1.0, 8]


def test_drawn_groups_have_the_ties_and_the_mixing_that_were_guessed():
    random = np.random.default_rng(0)
    A, T = drawn_group(400, 6.0, 5, 1.0, random)
    assert A.sum() / 400 == pytest.approx(6.0, rel=0.1)
    centred = T - T.mean(axis=0)
    assert (A * (centred @ centred.T)).sum() / A.sum() > 0.15
    plain, T = drawn_group(400, 6.0, 5, 0.0, random)
    centred = T - T.mean(axis=0)
    assert abs((plain * (centred @ centred.T)).sum() / plain.sum()) < 0.08


def test_seeding_is_one_on_the_network_itself():
    A, _ = drawn_group(60, 6.0, 1, 0.0, np.random.default_rng(0))
    judge = SeedingGain(A, np.random.default_rng(1))
    assert judge.share(A) == pytest.approx(1.0)
    assert judge.share(np.random.default_rng(2).random(A.shape)) < 0.8


def test_a_similar_group_stands_in_for_guesses_and_is_checked():
    club = nx.karate_club_graph()
    traits = pd.DataFrame((np.random.default_rng(0).random((34, 3)) < 0.4).astype(int), columns=list("abc"))
    table = plan_study(asked=[1.0], questions=[3], like=(club, traits), n_draws=1)
    assert table.n_asked[0] == 34
    for like, questions, message in (
        ((club, traits.iloc[:9]), 3, "lack 25 of the network's nodes, for example '9'"),
        ((club, traits.assign(a=7)), 3, "like has 2 traits of 0 and 1, and 3 questions are planned"),
        ((nx.path_graph(4), traits), 1, "10 to 2,000 nodes, got 4"),
    ):
        with pytest.raises(InputError, match=message):
            plan_study(asked=[1.0], questions=[questions], like=like)


def test_a_group_in_which_all_have_as_many_ties_is_planned_without_a_warning():
    ring, traits = nx.cycle_graph(20), pd.DataFrame({"a": np.arange(20) % 3 == 0}).astype(int)
    table = plan_study(asked=[0.5], questions=[1], like=(ring, traits), n_draws=1)
    assert table.rank_of_ties[0] == 0.0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_nodes": 5}, "n_nodes"),
        ({"n_nodes": 3000}, "plan for 2000"),
        ({"n_ties": 0}, "n_ties"),
        ({"n_ties": 150}, "n_ties"),
        ({"asked": [30]}, "asked"),
        ({"asked": []}, "nothing to plan"),
        ({"questions": [-1]}, "questions"),
        ({"recall": 0}, "recall"),
        ({"n_draws": 0}, "n_draws"),
    ],
)
def test_bad_plans_are_said(wrong, message):
    with pytest.raises(InputError, match=message):
        plan_study(**wrong)


def test_the_plot_has_a_line_for_every_number_of_questions():
    table = plan_study(30, 5, asked=[0.5, 1], questions=[0, 4], n_draws=1)
    ax = plot_plan(table, Figure().subplots(), measure="average_precision")
    assert [line.get_label() for line in ax.lines] == ["number of ties only", "4 counting questions"]
    with pytest.raises(InputError, match="measure must be one of"):
        plot_plan(table, measure="precision")


def test_the_command_prints_a_table_and_writes_it_with_a_plot(tmp_path):
    given = ("--people", "30", "--ties", "5", "--asked", "50,100", "--questions", "0,4", "--draws", "1")
    done = run("plan", *given, "--out", tmp_path / "plan", "--json")
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["plan"]
    assert [row["n_asked"] for row in rows] == [15, 15, 30, 30]
    assert len(pd.read_csv(tmp_path / "plan" / "plan.csv")) == 4
    assert "<svg" in (tmp_path / "plan" / "plan.svg").read_text()
    assert "by chance" in run("plan", *given).output


def test_the_command_plans_with_a_similar_group_and_says_what_is_wrong(tmp_path):
    edges, people = tmp_path / "edges.csv", tmp_path / "people.csv"
    club = nx.karate_club_graph()
    pd.DataFrame([(f"0{a}", f"0{b}") for a, b in club.edges], columns=["source", "target"]).to_csv(edges, index=False)
    flags = (np.random.default_rng(0).random((34, 3)) < 0.4).astype(int)
    pd.DataFrame(flags, columns=list("abc")).set_axis([f"0{k}" for k in range(34)]).to_csv(people, index_label="who")
    done = run("plan", "--like", edges, "--traits", people, "--asked", "100", "--questions", "3", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["plan"][0]["n_asked"] == 34
    assert "belong together" in run("plan", "--like", edges).output
    assert "--questions 1.5 must be whole numbers" in run("plan", "--questions", "1.5").output
    assert "no file" in run("plan", "--like", tmp_path / "none.csv", "--traits", people).output


@pytest.mark.parametrize("mixing", [-100.0, 100.0])
def test_a_group_in_which_traits_decide_nearly_everything_can_be_drawn(mixing):
    A, _ = drawn_group(30, 8.0, 10, mixing, np.random.default_rng(0))
    assert 0 < A.sum() < A.size
