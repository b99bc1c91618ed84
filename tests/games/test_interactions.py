"""Interaction functions: the built-in ones meet H1, and an error says which clause a user's fails and where."""

import numpy as np
import pytest

from nashgraph import GLGP, CustomInteraction, GamePrior, equilibrium
from nashgraph.games import INTERACTIONS, as_interaction, check_h1


@pytest.mark.parametrize("name", INTERACTIONS)
def test_built_in_functions_meet_h1(name):
    check_h1(INTERACTIONS[name]())


BROKEN = {
    "f(0) must be 0, but f(0) = 0.1": (lambda x: 0.1 + 0 * x, lambda x: 0 * x),
    "f must be non-decreasing, but f'(": (lambda x: -x, lambda x: -1 + 0 * x),
    "f must be 1-Lipschitz, but f'(0) = 2": (lambda x: 2 * x, lambda x: 2 + 0 * x),
    "f must be concave, but f''(5e-07) = 0.5": (
        lambda x: 0.5 * x + 0.5 * (np.sqrt(1 + x**2) - 1),
        lambda x: 0.5 + 0.5 * x / np.sqrt(1 + x**2),
    ),
    "|f''(x)| must be at most 1, but f''(5e-07) = -2": (lambda x: x / (1 + x), lambda x: (1 + x) ** -2),
    "slope must be the derivative of f": (np.log1p, lambda x: 1 / (1 + x) ** 2),
    "finite for x >= 0, but f(": (lambda x: np.where(x > 5, np.nan, x), lambda x: 1 + 0 * x),
}


@pytest.mark.parametrize("message", BROKEN)
def test_a_broken_clause_is_named_with_its_x(message):
    with pytest.raises(ValueError, match="interaction breaks H1") as error:
        CustomInteraction(*BROKEN[message])
    assert message in str(error.value)


def test_f_above_x_is_refused_even_where_its_slope_lies():
    with pytest.raises(ValueError, match="breaks H1"):
        CustomInteraction(lambda x: 3 * x, lambda x: 0.5 + 0 * x)


def test_a_users_object_is_checked_wherever_it_is_used(signals):
    class Doubled:
        def value(self, x):
            return 2 * x

        def slope(self, x):
            return 2 + 0 * x

    with pytest.raises(ValueError, match="1-Lipschitz"):
        as_interaction(Doubled())
    with pytest.raises(ValueError, match="1-Lipschitz"):
        GLGP(beta=1.0, prior=GamePrior(interaction=Doubled())).fit(signals)


def test_a_users_function_works():
    tanh = CustomInteraction(np.tanh, lambda x: 1 / np.cosh(np.minimum(x, 300)) ** 2)
    y = equilibrium(np.array([[0, 0.5], [0.5, 0]]), np.ones(2), tanh)
    np.testing.assert_allclose(y, 1 + 0.5 * np.tanh(y))


@pytest.mark.parametrize("wrong", ["cubic", 3, None])
def test_unknown_names_list_the_known(wrong):
    with pytest.raises(ValueError, match="'linear', 'log1p', 'saturating', 'exponential'"):
        as_interaction(wrong)
