"""Is there a network in these answers? The check's level, its power, and its messages."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from nashgraph import InputError, check_network
from nashgraph.network_check import concentration_of, shuffled
from nashgraph.scaling import standardised


def heat_signals(W, n_signals, noise, random):
    """Signals that were spread by a network, and noise."""
    roots, vectors = np.linalg.eigh(np.diag(W.sum(axis=1)) - W)
    X = ((vectors * np.exp(-roots)) @ random.normal(size=(len(W), n_signals))).T
    return X / X.std() + noise * random.normal(size=X.shape)


def ring(n=40):
    step = np.eye(n, k=1) + np.eye(n, k=2)
    W = step + step.T
    W[0, -1] = W[-1, 0] = 1.0
    return W


TABLES = {
    "normal": lambda random: random.normal(size=(6, 30)),
    "Likert": lambda random: random.integers(1, 6, size=(8, 25)).astype(float),
    "heavy tails": lambda random: random.lognormal(0, 2, size=(6, 30)),
    "few signals": lambda random: random.normal(size=(2, 20)),
    "rare answers": lambda random: (random.random((10, 30)) < 0.1).astype(float),
    "gaps": lambda random: np.where(random.random((6, 30)) < 0.2, np.nan, random.normal(size=(6, 30))),
}


def test_level_on_tables_without_structure():
    tables = 200
    wrong = {
        kind: sum(
            check_network(make(np.random.default_rng([7, k])), n_permutations=59, random_state=k).found
            for k in range(tables)
        )
        for kind, make in TABLES.items()
    }
    assert sum(wrong.values()) <= 0.05 * tables * len(TABLES)
    assert max(wrong.values()) <= 19  # three standard deviations above 5%


def test_level_where_shuffling_a_table_with_structure_left_none():
    random = np.random.default_rng(0)
    X = heat_signals(ring(), 8, 0.5, random)
    assert check_network(X).found
    wrong = sum(check_network(random.permuted(X, axis=1), n_permutations=59, random_state=k).found for k in range(200))
    assert wrong <= 0.05 * 200


def test_power_on_signals_spread_by_a_network():
    found = [
        check_network(heat_signals(ring(), 10, 1.0, np.random.default_rng([3, k])), n_permutations=59).found
        for k in range(40)
    ]
    assert np.mean(found) >= 0.9


def test_categories_of_one_question_are_shuffled_together():
    random = np.random.default_rng(0)
    jobs, towns = random.integers(0, 4, size=(2, 60))
    X = np.vstack([np.eye(4)[jobs].T, np.eye(4)[towns].T])
    questions = ["job"] * 4 + ["town"] * 4
    assert check_network(X).found  # each category excludes the others
    assert not check_network(X, questions=questions).found
    X[4:] = np.eye(4)[np.where(random.random(60) < 0.7, jobs, towns)].T
    assert check_network(X, questions=questions).found


def test_one_scale_is_told_from_several():
    random = np.random.default_rng(1)
    scale = random.normal(size=60)
    one = check_network(np.outer(np.ones(6), scale) + 0.5 * random.normal(size=(6, 60)))
    assert (one.verdict, one.dimensions) == ("one dimension", 1)
    assert one.first_component > 0.9
    assert "orders people along it" in " ".join(one.sentences)
    several = check_network(random.normal(size=(8, 5))[:, np.arange(60) % 5] + 0.5 * random.normal(size=(8, 60)))
    assert several.verdict == "several dimensions"


def test_column_that_explains_most_is_named():
    random = np.random.default_rng(2)
    age = random.normal(size=80)
    rows = {"income": age, "age": age, "hobby": age, "shoe": np.zeros(80)}
    X = pd.DataFrame({key: value + 0.8 * random.normal(size=80) * (key != "age") for key, value in rows.items()}).T
    found = check_network(X)
    assert found.column == found.carried_by[0][0] == "age"
    assert found.sentences[1] == "That does not show that people with similar answers have ties."
    assert "age (" in found.sentences[2]
    assert sum(share for _, share in found.carried_by) == pytest.approx(1.0)
    assert found.column_share > 0.5 > found.even_share


def test_pattern_of_gaps_alone_is_not_a_network():
    random = np.random.default_rng(4)
    X = random.normal(size=(10, 40))
    X[:, :20][random.random((10, 20)) < 0.7] = np.nan
    assert not check_network(X).found


def test_low_pass_signals_pass_the_test_of_he_and_wai():
    W = 0.3 * ring() / ring().sum(axis=1).max() * 3
    excitation = np.random.default_rng(0).normal(size=(400, 40))
    X = np.linalg.solve(np.eye(40) - W, excitation.T).T
    high = np.linalg.solve(np.eye(40) + W, excitation.T).T
    assert check_network(X, n_permutations=39).low_pass
    assert not check_network(high, n_permutations=39).low_pass


def test_words_and_figures():
    nothing = check_network(np.random.default_rng(0).normal(size=(8, 40)))
    assert nothing.verdict == "unrelated"
    assert nothing.sentences[0].startswith("The columns do not go together more than if their answers were shuffled")
    assert "does not show that there are no ties" in nothing.sentences[1]
    assert f"{nothing.carried_by[0][0]} (" in nothing.sentences[2]
    assert "who people know" in nothing.sentences[-1]
    assert nothing.as_dict()["p_value"] == nothing.p_value > 0.05
    assert check_network(np.ones((5, 30))).verdict == "cannot tell"
    assert "two usable columns" in check_network(np.arange(30.0)[None]).sentences[0]


def test_same_random_state_same_figures():
    X = np.random.default_rng(5).normal(size=(6, 30))
    assert check_network(X, random_state=3) == check_network(X, random_state=3)


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (np.zeros(5), {}, "shape"),
        (np.zeros((3, 9)), {"questions": [1, 2]}, "one entry per signal"),
        (np.zeros((3, 9)), {"n_permutations": 3}, "n_permutations"),
        (np.zeros((3, 9)), {"level": 0.001}, "level"),
        (np.full((3, 9), np.inf), {}, "infinite"),
    ],
)
def test_refusals(X, options, message):
    with pytest.raises(InputError, match=message):
        check_network(X, **options)


@pytest.mark.parametrize("seed", range(10))
def test_of_parallel_columns_the_first_is_named_whatever_the_order_of_people(seed):
    random = np.random.default_rng(seed)
    age = random.integers(18, 80, 30).astype(float)
    X = pd.DataFrame([random.integers(1, 6, 30), age, 2026.0 - age], index=["likert", "age", "born"])
    assert check_network(X).column == check_network(X.iloc[:, random.permutation(30)]).column == "age"


@pytest.mark.parametrize("shape", [(30, 12), (12, 30)])
def test_both_forms_of_the_concentration_are_the_same(shape):
    Z = standardised(np.random.default_rng(0).normal(size=shape))
    total, roots = concentration_of(Z)
    assert total == pytest.approx(np.square(Z.T @ Z).sum())
    np.testing.assert_allclose(roots, np.linalg.svd(Z, compute_uv=False) ** 2, atol=1e-9)


def test_carried_by_is_likeness_with_other_questions():
    random = np.random.default_rng(0)
    X = random.normal(size=(5, 30))
    X[1] = X[0] + 0.1 * random.normal(size=30)
    Z = standardised(X)
    found = check_network(X, questions=[0, 0, 1, 2, 3])
    products = np.square(Z @ Z.T)
    products[:2, :2] = 0.0  # one question
    np.fill_diagonal(products, 0.0)
    wanted = products.sum(axis=1) / products.sum()
    assert dict(found.carried_by) == pytest.approx(dict(enumerate(wanted)), abs=1e-8)


def test_answers_with_gaps_are_shuffled_among_those_who_answered():
    random = np.random.default_rng(0)
    observed = random.random((50, 20)) < 0.7
    Z = np.where(observed, random.normal(size=(50, 20)), 0.0)
    drawn = shuffled(Z, [np.array([k]) for k in range(50)], observed, random)
    np.testing.assert_array_equal(drawn != 0, observed)
    np.testing.assert_array_equal(np.sort(drawn, axis=1), np.sort(Z, axis=1))
    assert (drawn[observed] != Z[observed]).mean() > 0.8


def test_eight_thousand_columns_take_little_memory():
    """One product of the 8,000 columns for each shuffle took 22 GB in all."""
    X = np.random.default_rng(0).normal(size=(8_000, 60))
    tracemalloc.start()
    check_network(X, n_permutations=20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * X.nbytes
