"""Columns about ties on the command line: declared, learned from with the tie model, and refused with a remedy."""

import json

import numpy as np
import pandas as pd
import pytest

from nashgraph import read_study

from ..commands import error_lines, run

N, TRAITS = 28, ("weaver", "tractor", "member", "well", "school")
COUNTS = ",".join(f"friends_{trait}={trait}" for trait in TRAITS)


def village(seed=0, asked=1.0):
    """Return a survey of 28 households with ids that look like numbers, and their true ties."""
    random = np.random.default_rng(seed)
    side = random.random(N) < 0.5
    ties = np.triu(random.random((N, N)) < np.where(side[:, None] == side, 0.35, 0.05), 1)
    ties = (ties | ties.T).astype(int)
    traits = np.column_stack([side, random.random((N, len(TRAITS) - 1)) < 0.4]).astype(int)
    table = pd.DataFrame(traits, columns=TRAITS)
    table.insert(0, "household", [101 + k for k in range(N)])
    table["age"] = random.integers(18, 80, N)
    silent = random.random(N) > asked
    for name, counts in {
        "n_friends": ties.sum(axis=1),
        **dict(zip([f"friends_{t}" for t in TRAITS], (ties @ traits).T, strict=False)),
    }.items():
        table[name] = pd.Series(counts).astype(object).mask(silent)
    for place in range(3):
        named = [np.flatnonzero(row)[place] if row.sum() > place else None for row in ties]
        table[f"friend{place + 1}"] = [None if k is None else 101 + k for k in named]
    truth = pd.DataFrame(np.argwhere(np.triu(ties)) + 101, columns=["source", "target"])
    return table, truth


@pytest.fixture
def survey(tmp_path):
    table, truth = village()
    table.to_csv(tmp_path / "survey.csv", index=False)
    truth.to_csv(tmp_path / "truth.csv", index=False)
    return tmp_path / "survey.csv"


def changed(survey, **cells):
    """Write the survey with the first cell of some columns changed; return its place."""
    table = pd.read_csv(survey, dtype=object)
    for column, value in cells.items():
        table.loc[0, column] = value
    table.to_csv(survey, index=False)
    return survey


def learn(survey, *more):
    return run("learn", survey, *more, "--out", survey.parent / "out")


def test_counts_and_numbers_of_ties_find_the_network_that_likeness_does_not(survey):
    truth = survey.parent / "truth.csv"
    told = learn(
        survey,
        "--n-ties",
        "n_friends",
        "--counts",
        COUNTS,
        "--drop",
        "friend1,friend2,friend3",
        "--truth",
        truth,
        "--json",
    )
    assert told.exit_code == 0, told.output
    answer = json.loads(told.stdout)
    assert answer["method"] == "ties"
    assert answer["certificate"]["converged"]
    alike = json.loads(
        run("learn", survey, "--truth", truth, "--method", "smooth", "--out", survey.parent / "alike", "--json").stdout
    )
    assert answer["scores"]["average_precision"] > 0.7 > alike["scores"]["average_precision"] + 0.2
    out = survey.parent / "out"
    edges, nodes = (pd.read_csv(out / name) for name in ("edges.csv", "nodes.csv"))
    assert edges["probability"].between(0, 1).all()
    assert (edges["probability"] == edges["weight"]).all()
    nodes = nodes.set_index("name")
    assert (nodes["ties_low"] <= nodes["expected_ties"]).all()
    assert (nodes["expected_ties"] <= nodes["ties_high"]).all()
    assert np.corrcoef(nodes["expected_ties"], nodes["n_friends"])[0, 1] > 0.95
    page = (out / "report.html").read_text()
    assert "A line is a probable tie" in page
    assert "answered alike" not in page
    assert "what people reported" in " ".join(run("show", out, "--methods").output.split())


def test_a_model_is_shown_rerun_and_acted_on(survey):
    assert (
        learn(survey, "--n-ties", "n_friends", "--counts", COUNTS, "--names", "friend1,friend2,friend3").exit_code == 0
    )
    out = survey.parent / "out"
    shown = json.loads(run("show", out, "--json").stdout)
    assert shown["method"] == "ties"
    assert {"expected_ties", "ties_low", "ties_high"} <= {*shown["most_influential"][0]}
    assert shown["strongest_ties"][0]["probability"] > 0.9
    again = json.loads(run("rerun", out, "--out", survey.parent / "again", "--json").stdout)
    assert again["same"]
    acted = run("act", out, "--json")
    assert acted.exit_code == 0, acted.output
    edges = pd.read_csv(out / "edges.csv")
    assert json.loads(acted.stdout)["weights"] == 2 * len(edges)
    assert json.loads(acted.stdout)["replicates"] == 20  # draws of the network
    told = ("--n-ties", "n_friends", "--counts", COUNTS, "--names", "friend1,friend2,friend3")
    assert run("learn", survey, *told, "--set", "interventions=yes", "--out", out).exit_code == 0
    assert "seeds drawn at random reach as many" in (out / "report.html").read_text()


def test_declared_columns_and_traits_are_no_signals(survey):
    options = {"counts": COUNTS.split(","), "n_ties": "n_friends", "names": ["friend1,friend2,friend3"]}
    study = read_study(pd.read_csv(survey), **options)
    assert list(study.signals.index) == ["age"]
    assert list(study.ties.traits.columns) == list(TRAITS)
    assert study.ties.room == {"": 3}
    # without any other column there are no signals, and the tie model does without
    alone = read_study(pd.read_csv(survey).drop(columns="age"), **options)
    assert alone.signals.shape == (0, N)
    assert learn(survey, "--drop", "age", "--n-ties", "n_friends", "--counts", COUNTS).exit_code == 0


@pytest.mark.parametrize(
    ("cells", "warning"),
    [
        ({"n_friends": "1", "friends_weaver": "4"}, "1 people told of more ties with a trait than ties in all"),
        ({"n_friends": "40"}, "1 people told of more ties than there are others"),
    ],
)
def test_answers_that_contradict_each_other_are_noise(survey, cells, warning):
    """They were refused, though people forget and miscount."""
    result = learn(changed(survey, **cells), "--n-ties", "n_friends", "--counts", "friends_weaver=weaver")
    assert result.exit_code == 0, result.output
    assert warning in " ".join(result.output.split())


def test_if_all_say_that_they_have_no_ties_there_are_none(tmp_path, random):
    table = pd.DataFrame({"id": [f"p{k}" for k in range(14)], "x": random.normal(size=14), "n": 0})
    table.to_csv(tmp_path / "survey.csv", index=False)
    result = learn(tmp_path / "survey.csv", "--n-ties", "n")
    assert result.exit_code == 0
    assert "nobody has any ties" in result.output
    assert pd.read_csv(tmp_path / "out" / "edges.csv").empty


def test_nobody_may_have_more_ties_than_there_are_others(tmp_path, random):
    table = pd.DataFrame({"id": [f"p{k}" for k in range(14)], "x": random.normal(size=14), "n": [13.0] + [None] * 13})
    table.to_csv(tmp_path / "survey.csv", index=False)
    assert learn(tmp_path / "survey.csv", "--n-ties", "n").exit_code == 0
    assert pd.read_csv(tmp_path / "out" / "nodes.csv")["ties_high"].max() <= 13


def test_act_on_draws_without_a_free_pair(tmp_path):
    (tmp_path / "survey.csv").write_text("id,x,a\np0,0,p1\np1,1,\np2,2,\np3,0,\np4,1,\np5,2,\n")
    learn(tmp_path / "survey.csv", "--names", "a", "--set", "max_names=1", "--set", "recall=0.01")
    result = run("act", tmp_path / "out", "--out", tmp_path / "act")
    assert result.exit_code == 0, result.output


def test_a_trait_that_everybody_or_nobody_has(survey):
    table = pd.read_csv(survey).assign(weaver=1)
    table.to_csv(survey, index=False)
    assert "everybody has the trait 'weaver'" in learn(survey, "--counts", "friends_weaver=weaver").output
    table.assign(weaver=0).to_csv(survey, index=False)
    assert "nobody has the trait 'weaver'" in learn(survey, "--counts", "friends_weaver=weaver").output


def test_ask_names_people_who_were_not_asked(tmp_path):
    table, _ = village(asked=0.4)
    table.to_csv(tmp_path / "survey.csv", index=False)
    options = ["--n-ties", "n_friends", "--counts", COUNTS, "--drop", "friend1,friend2,friend3"]
    assert learn(tmp_path / "survey.csv", *options).exit_code == 0
    asked = run("ask", tmp_path / "survey.csv", *options, "--best", "4", "--out", tmp_path / "next", "--json")
    assert asked.exit_code == 0, asked.output
    people = json.loads(asked.stdout)["interview"]
    assert json.loads(asked.stdout)["questions"] == []  # every trait is counted already
    open_ones = table.loc[table["n_friends"].isna(), "household"].astype(str)
    assert len(people) == 4
    assert {person["name"] for person in people} <= {*open_ones}
    assert pd.read_csv(tmp_path / "next" / "ask.csv", dtype={"name": str})["name"].tolist() == [
        p["name"] for p in people
    ]
    fewer = [*options[:3], COUNTS.rpartition(",")[0].rpartition(",")[0], *options[4:]]
    found = run("ask", tmp_path / "survey.csv", *fewer, "--drop", "friends_well,friends_school", "--json")
    assert {row["trait"] for row in json.loads(found.stdout)["questions"]} == {"well", "school"}
    from_model = run("ask", tmp_path / "out", "--best", "4", "--json")
    assert json.loads(from_model.stdout)["interview"] == [pytest.approx(person) for person in people]
    assert "give options with a table only" in run("ask", tmp_path / "out", "--n-ties", "n_friends").output


def test_ask_refuses_what_it_cannot_answer(survey):
    everybody = run("ask", survey, "--n-ties", "n_friends")
    assert everybody.exit_code == 1
    assert "everybody was asked" in everybody.output
    assert "everybody was asked" in run("ask", survey).output, "its columns of ties are recognized, as learn does"
    pd.read_csv(survey)[["household", "age"]].to_csv(survey.parent / "ages.csv", index=False)
    assert "declare their columns" in run("ask", survey.parent / "ages.csv").output
    assert run("learn", survey, "--method", "smooth", "--out", survey.parent / "smooth").exit_code == 0
    assert "not from answers about ties" in run("ask", survey.parent / "smooth").output


def egos_and_alters(folder, ids, ego, alter):
    """Write a group's egos and alters as two tables; return the true ties."""
    table, _ = village()
    ties = np.zeros((N, N), dtype=int)
    random = np.random.default_rng(5)
    side = table["weaver"].to_numpy()
    ties = np.triu(random.random((N, N)) < np.where(side[:, None] == side, 0.4, 0.1), 1)
    ties = ties | ties.T
    people = table[["weaver", "tractor", "member"]].astype(bool).assign(job=["smith", "baker", "cook", "smith"] * 7)
    people.assign(**{ego: ids}).to_csv(folder / "egos.csv", index=False)
    rows = [{ego: ids[i], alter: k, **people.iloc[j]} for i in range(20) for k, j in enumerate(np.flatnonzero(ties[i]))]
    pd.DataFrame(rows).to_csv(folder / "alters.csv", index=False)
    return ties


def test_gossip_is_a_benefit_and_makes_seeds(survey):
    table = pd.read_csv(survey, dtype=object)
    table["best1"], table["best2"] = ["105"] * N, ["107", "108"] * (N // 2)
    table.to_csv(survey, index=False)
    out = survey.parent / "out"
    told = ("--n-ties", "n_friends", "--counts", COUNTS, "--drop", "friend1,friend2,friend3")
    for options in (told, ("--drop", "friend1,friend2,friend3,n_friends", "--method", "consensus")):
        done = learn(survey, "--set", "gossip=best1,best2", *options, "--json")
        assert done.exit_code == 0, done.output
        nodes = pd.read_csv(out / "nodes.csv", dtype={"name": str}).set_index("name")
        named = nodes["gossip"].sort_values(ascending=False).head(3)
        assert named.to_dict() == {
            "105": N - 1,
            "107": N / 2 - 1,
            "108": N / 2 - 1,
        }
        if options != told:  # relative to their mean, so everybody named more has a larger benefit
            assert nodes["benefit"].idxmax() == "105"
        acted = run("act", out, "--best", "2", "--out", survey.parent / "act")
        assert acted.exit_code == 0, acted.output
        assert "Whom people name as the best to spread news" in acted.output
        assert pd.read_csv(survey.parent / "act" / "gossip.csv", dtype={"name": str})["name"].tolist()[0] == "105"
    both = learn(survey, "--set", "gossip=best1", "--set", "benefit=age", "--drop", "friend1,friend2,friend3")
    assert "--set gossip and --set benefit both give benefits" in both.output


def test_a_table_of_alters_is_kept_and_known_again(tmp_path):
    egos_and_alters(tmp_path, list(range(1, N + 1)), "egoID", "alterID")
    alters, egos = tmp_path / "alters.csv", tmp_path / "egos.csv"
    read = (tmp_path / "edges.csv", tmp_path / "ask.csv")
    for file in read:
        file.write_bytes(alters.read_bytes())
    for command, file in zip(("learn", "ask"), read, strict=True):
        result = run(command, egos, "--set", f"alters={file}", "--out", tmp_path)
        assert f"{file} is read in this run" in error_lines(result)[0]
        assert file.read_bytes() == alters.read_bytes()
    assert run("learn", egos, "--set", f"alters={alters}", "--out", tmp_path / "out").exit_code == 0
    assert run("rerun", tmp_path / "out", "--out", tmp_path / "again").exit_code == 0
    alters.rename(tmp_path / "moved.csv")
    missing = run("rerun", tmp_path / "out", "--out", tmp_path / "again")
    assert "alters.csv is not there: give it with --alters" in " ".join(error_lines(missing))
    moved = ("--alters", tmp_path / "moved.csv", "--out", tmp_path / "again")
    assert run("rerun", tmp_path / "out", *moved).exit_code == 0
    (tmp_path / "moved.csv").write_text((tmp_path / "moved.csv").read_text() + "\n")
    changed_file = run("rerun", tmp_path / "out", *moved)
    assert "moved.csv is not the file that the model was learned from" in " ".join(error_lines(changed_file))
