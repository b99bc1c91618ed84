"""Fit the game to what people do: one function, with a method for each way of estimating."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..games import Interaction, Linear, as_interaction
from ..games.interactions import Response
from ..validation import Array, InputError, check_choice, check_integer, warn
from .data import CONSTANT, GameData, check_not_collinear, game_data, group_columns
from .instruments import check_instruments, first_stage, instruments_of, moran, two_stage
from .least_squares import Search, Solution, covariance, least_squares
from .likelihood import censored_likelihood, quasi_likelihood
from .links import LINKS, Normal, response_of
from .reduced_form import Estimate, Network, NotIdentifiedError, ReducedForm
from .result import METHODS, GameFit
from .simulated_moments import simulated_moments


@dataclass(frozen=True, eq=False)
class Design:
    """The terms of a model on data: which columns are played, and which are added to actions as they are.

    ``own`` are the constant (or one for each group) and the covariates; ``contextual`` adds the means of neighbours.
    """

    data: GameData
    interaction: Interaction
    own: Array
    terms: tuple[str, ...]
    contextual: bool
    constant_only: bool
    response: Response | None = None

    @property
    def instrumental(self) -> Array:
        """The columns whose neighbours' values are instruments: the covariates, or without any the constant."""
        if self.data.covariates.shape[1]:
            return self.data.covariates
        return self.own

    def networks(self) -> tuple[Network, ...]:
        """Return each draw with its columns."""
        return tuple(self._on(weights) for weights in self.data.networks)

    def _on(self, weights: Any) -> Network:
        columns = self.columns(weights)
        if self.constant_only:
            n_constants = self.own.shape[1] - self.data.covariates.shape[1]
            return Network(weights, columns[:, :n_constants], columns[:, n_constants:], self.interaction, self.response)
        return Network(weights, columns, np.zeros((len(columns), 0)), self.interaction, self.response)

    def columns(self, weights: Any) -> Array:
        """Return all columns on one network."""
        if not self.contextual:
            return self.own
        return np.column_stack([self.own, weights @ self.data.covariates])


def fit_game(
    graph: Any,
    actions: Any,
    X: Any = None,
    *,
    data: pd.DataFrame | None = None,
    interaction: str | Interaction = "linear",
    method: str = "nls",
    normalize: bool = True,
    groups: Any = None,
    fixed_effects: bool = False,
    contextual: bool = False,
    played: str = "all",
    censored: bool = False,
    link: str = "identity",
    errors: str = "robust",
    n_draws: int = 20,
    n_bootstrap: int = 0,
    random_state: Any = 0,
    search: Search | None = None,
) -> GameFit:
    r"""Fit the game to observed actions: how much people do because of what their neighbours do.

    .. math:: y = \mathrm{NE}(\phi W;\; b = \alpha + X \beta + (W X) \gamma,\; f) + \varepsilon

    The peer effect is :math:`\phi`. For f(x) = x this is the linear-in-means model of the econometricians,
    :math:`y = \phi W y + \alpha + X \beta + W X \gamma + \nu`.

    **Assumption**: the network is exogenous, that is, who is tied to whom does not depend on :math:`\varepsilon`. If
    people choose friends who act alike for reasons that X does not have, the peer effect is too large.

    Parameters
    ----------
    graph : array, CSR, networkx graph, LearnedGraph, fitted model, or a list of networks (draws)
        ``W[i, j]`` is the weight with which j influences i. A fitted :class:`~nashgraph.TieModel` brings ``n_draws``
        draws of its network: the reduced form is averaged over them, because one draw taken as the truth is biased.
    actions : Series by name, array, a column of ``data``, or a formula such as "savings ~ age + C(caste)"
        NaN for people who were not asked: they stay in the network.
    X : DataFrame by name, array, list of columns of ``data``, or the right-hand side of a formula
    data : DataFrame by name, for formulas and columns
    interaction : by name, or an object of :mod:`nashgraph.games`
    method : "nls", "qml", "2sls" or "smm"
        Nonlinear least squares of the reduced form; quasi-maximum likelihood (Lee 2004) and two-stage least squares
        with friends of friends as instruments (Bramoullé, Djebbari and Fortin 2009), for the linear game on one network
        with everybody's action; simulated moments (after Boucher and Houndetoungan 2025) for the linear game on draws.
    normalize : bool, whether the rows of W are divided by their sums; isolated people have empty rows
    groups : Series, array or a column of ``data``: the village, school or class of each person
    fixed_effects : bool, whether each group has its own constant
    contextual : bool, whether neighbours' mean covariates have an effect
    played : "all", or "constant" for econet's model A: only the constant is played, and X is added to actions as it is
    censored : bool, with "qml": actions cannot be below zero, as in the paper's game
    link : "identity", "logit" for actions that are yes (1) or no (0), or "log" for counts, with "nls"
    errors : "robust", "classical" or "cluster" (by ``groups``)
    n_bootstrap : int, for few people: how often actions are simulated from the fit and fitted again for standard errors
    random_state : int, seeds draws of the network and the bootstrap
    search : Search, optional, how least squares are searched for

    Returns
    -------
    GameFit, with ``peer_effect``, ``standard_error``, ``interval``, ``coefficients``, tests, and ``prior()``

    References
    ----------
    Lee (2004), Econometrica 72. Bramoullé, Djebbari and Fortin (2009), Journal of Econometrics 150. Battaglini,
    Patacchini and Rainone, *econet*.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> W = (random.random((200, 200)) < 0.03).astype(float)
    >>> X = random.normal(size=(200, 1))
    >>> G = W / np.maximum(W.sum(axis=1, keepdims=True), 1)
    >>> y = np.linalg.solve(np.eye(200) - 0.4 * G, 1.0 + X[:, 0]) + 0.01 * random.normal(size=200)
    >>> fit = fit_game(W, y, X)
    >>> round(fit.peer_effect, 2), fit.coefficients.term.tolist()
    (0.4, ['peer effect', 'constant', 'x1'])
    """
    check_choice("method", method, tuple(METHODS))
    check_choice("errors", errors, ("robust", "classical", "cluster"))
    check_choice("played", played, ("all", "constant"))
    check_choice("link", link, ("identity", *LINKS))
    count = check_integer("n_bootstrap", n_bootstrap, low=0, high=100_000, remedy="try 200")
    matched = game_data(
        graph,
        actions,
        X,
        data=data,
        groups=groups,
        normalize=normalize,
        n_draws=check_integer("n_draws", n_draws, low=1, high=10_000, remedy="try 20"),
        random_state=random_state,
    )
    design = designed(matched, as_interaction(interaction), fixed_effects, contextual, played == "constant")
    response = response_of(link, isinstance(design.interaction, Linear), matched.actions)
    design = replace(design, response=response)
    if errors == "cluster" and matched.groups is None:
        raise InputError("errors='cluster' needs groups, for example the village of each person", parameter="groups")
    check_method(design, method, censored)
    settings = {"method": method, "normalize": normalize, "errors": errors, "censored": censored, "played": played}
    settings["link"] = link
    if count and method != "nls":
        raise InputError("n_bootstrap is for method='nls'")
    if method == "nls":
        estimate = by_least_squares(design, errors, search or Search(), count, random_state)
    elif method == "smm":
        form = ReducedForm(design.networks())
        estimate = simulated_moments(form, matched.actions, design.instrumental, errors, matched.groups)
    else:
        [weights] = matched.networks
        columns = design.columns(weights)
        excluded = instruments_of(weights, design.instrumental, columns)
        check_instruments(excluded)
        if method == "2sls":
            estimate = two_stage(weights, matched.actions, columns, excluded, errors, matched.groups)
        else:
            maximise = censored_likelihood if censored else quasi_likelihood
            estimate = maximise(weights, matched.actions, columns)
    return fitted(design, settings, estimate)


def designed(
    data: GameData, interaction: Interaction, fixed_effects: bool, contextual: bool, constant_only: bool
) -> Design:
    """Return the terms of the model; covariates that others explain are an error that names them."""
    if fixed_effects:
        if data.groups is None:
            raise InputError("fixed_effects=True needs groups, for example the village of each person")
        constants = group_columns(data.groups)
        names = tuple(f"group {k + 1}" for k in range(constants.shape[1]))
    else:
        constants = np.ones((len(data.names), 1))
        names = (CONSTANT,)
    columns = np.column_stack([constants, data.covariates])
    if contextual:
        friends = tuple(f"friends' {term}" for term in data.terms)
    else:
        friends = ()
    terms = (*names, *data.terms, *friends)
    design = Design(data, interaction, columns, terms, contextual, constant_only)
    check_not_collinear(design.columns(data.mean_network), terms)
    observed = data.actions[data.observed]
    if not isinstance(interaction, Linear):
        if (observed < 0).any():
            raise InputError("an interaction other than 'linear' is for actions that are not negative, and some are")
        if np.median(observed) > 100.0:
            warn(
                f"half of all actions are above {np.median(observed):.4g}, where this interaction is nearly flat: "
                "give actions in thousands, or whatever makes them a few units"
            )
    if np.ptp(observed) == 0.0:
        raise InputError("everybody has the same action, so nothing can be fitted")
    return design


def check_method(design: Design, method: str, censored: bool) -> None:
    """Refuse what a method cannot do."""
    if censored and method != "qml":
        raise InputError("censored=True needs method='qml'", parameter="censored", value=True)
    if method == "nls":
        return
    on_draws = method == "smm"
    problems = {
        "one network": len(design.data.networks) > 1 and not on_draws,
        "the linear interaction without a link": design.response is not None,
        "played='all'": design.constant_only,
        "everybody's action": not design.data.observed.all() and not on_draws,
    }
    missing = [what for what, lacking in problems.items() if lacking]
    if missing:
        raise InputError(f"method={method!r} needs {' and '.join(missing)}: use method='nls'", parameter="method")


def by_least_squares(design: Design, errors: str, search: Search, n_bootstrap: int, random_state: Any) -> Estimate:
    """Return the fit by least squares of the reduced form, or with a link by maximum likelihood."""
    data = design.data
    observed = data.observed
    form = ReducedForm(design.networks())
    solution = least_squares(form, data.actions, search)
    means = form.means(solution.parameters[0], solution.parameters[1:])
    groups = None if data.groups is None else data.groups[observed]
    draws = means[:, observed] if len(means) > 1 else None
    spread, between = covariance(solution, errors, groups, draws)
    likelihood = form.family.log_likelihood(data.actions[observed], solution.point.mean[observed])
    estimate = Estimate(solution.parameters, spread, solution.point.mean, likelihood, between)
    if not n_bootstrap:
        return estimate
    bootstrap = bootstrapped(form, data.actions, solution, means, search, n_bootstrap, random_state)
    p = len(solution.parameters)
    return estimate._replace(covariance=np.cov(bootstrap.T).reshape(p, p), bootstrap=bootstrap)


def bootstrapped(
    form: ReducedForm, actions: Array, solution: Solution, means: Array, search: Search, count: int, random_state: Any
) -> Array:
    """Return estimates from actions simulated with the fit, each on one draw of the network.

    Errors are residuals drawn with replacement and widened by what a fit of so many parameters takes away; with a link,
    answers and counts are drawn from their distribution. An action is that on one draw of the network, so the spread
    has what is not known of it.
    """
    random = np.random.default_rng(random_state)
    observed = np.isfinite(actions)
    n, p = solution.jacobian.shape
    # Residuals drawn with a mean other than 0 would shift all simulated actions.
    residuals = (solution.errors - solution.errors.mean()) * np.sqrt(n / max(n - p, 1))
    bootstrap = list[Array]()
    for _ in range(count):
        mean = means[random.integers(len(means))]
        if isinstance(form.family, Normal):
            simulated = mean + random.choice(residuals, len(mean))
        else:
            simulated = form.family.drawn(mean, random)
        simulated[~observed] = np.nan
        try:
            bootstrap.append(least_squares(form, simulated, search, solution.parameters).parameters)
        except NotIdentifiedError:  # a sample in which everybody's errors hide the effect
            continue
    if len(bootstrap) < max(2, count // 2):
        raise InputError("most bootstrap fits failed: there are too few people for these terms")
    return np.array(bootstrap)


def fitted(design: Design, settings: dict[str, Any], estimate: Estimate) -> GameFit:
    """Return a fit with its tests."""
    data = design.data
    observed = data.observed
    weights = data.mean_network
    columns = design.columns(weights)
    excluded = instruments_of(weights, design.instrumental, columns)
    tested = None
    if observed.all() and excluded.shape[1]:
        tested = first_stage(weights @ data.actions, columns, excluded)
    n_played = len(estimate.parameters) - 1
    if design.constant_only:
        n_played = design.own.shape[1] - data.covariates.shape[1]
    residuals = (data.actions - estimate.mean)[observed]
    if estimate.between is None:
        between = 0.0
    else:
        between = float(np.sqrt(estimate.between[0, 0]))
    return GameFit(
        terms=("peer effect", *design.terms),
        parameters=estimate.parameters,
        covariance=estimate.covariance,
        names=data.names,
        actions=data.actions,
        fitted_actions=estimate.mean,
        played_columns=columns[:, :n_played],
        interaction=design.interaction,
        log_likelihood=float(estimate.log_likelihood),
        n_draws=len(data.networks),
        n_groups=0 if data.groups is None else len(np.unique(data.groups)),
        networks=data.networks,
        between_draws=between,
        first_stage=tested,
        overidentification=estimate.overidentification,
        moran=moran(weights[observed][:, observed], residuals),
        bootstrap=estimate.bootstrap,
        left_out=dict(data.left_out),
        settings=settings,
    )
