"""The result of a fit: estimates with their uncertainty as tables, the fitted game as a prior, and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse, stats

from ..games import Interaction, Linear
from ..games.interactions import INTERACTIONS, as_interaction
from ..graph import LearnedGraph
from ..matching import as_names
from ..priors import Dynamics, GamePrior
from ..validation import Array, InputError, check_number, listing
from .data import prepared
from .links import LINKS
from .reduced_form import Statistic

FORMAT = "nashgraph fitted game"
VERSION = 1
METHODS = {
    "nls": "nonlinear least squares",
    "qml": "quasi-maximum likelihood",
    "2sls": "two-stage least squares",
    "smm": "simulated moments",
}


@dataclass(frozen=True, eq=False, repr=False)
class GameFit:
    """The game fitted to actions; made by :func:`nashgraph.fit_game`.

    Attributes
    ----------
    peer_effect, standard_error : float, φ and its standard error, with what comes from not knowing the network
    coefficients : DataFrame with term, estimate, standard_error, z and p
    log_likelihood : float, of normal errors; NaN for two-stage least squares
    n_draws, between_draws : of the network, and the part of the standard error that comes from not knowing it
    first_stage, overidentification, moran : tests (statistic, freedom, p_value), None where they cannot be made
    residuals : Series by name, of those whose action was observed
    left_out : dict from a reason to names

    Examples
    --------
    >>> from nashgraph import fit_game, key_players
    >>> random = np.random.default_rng(0)
    >>> W, x = np.roll(np.eye(60), 1, axis=1), random.random(60)
    >>> y = np.linalg.solve(np.eye(60) - 0.5 * W, 1.0 + x) + 0.01 * random.normal(size=60)
    >>> fit = fit_game(W, y, x)
    >>> low, high = fit.interval
    >>> low < 0.5 < high, fit.moran.p_value > 0.01
    (True, True)
    >>> "low" in key_players(W, game=fit)
    True
    """

    terms: tuple[str, ...]
    parameters: Array
    covariance: Array
    names: Array
    actions: Array
    fitted_actions: Array
    played_columns: Array
    interaction: Interaction
    log_likelihood: float
    n_draws: int = 1
    n_groups: int = 0
    networks: tuple[Any, ...] = ()
    between_draws: float = 0.0
    first_stage: Statistic | None = None
    overidentification: Statistic | None = None
    moran: Statistic | None = None
    bootstrap: Array | None = None
    left_out: Mapping[str, list[Any]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    # What to_json writes as it is, and as numbers (null for none).
    _plain = ("terms", "n_draws", "n_groups", "between_draws", "settings", "left_out")
    _numbers = ("parameters", "covariance", "actions", "fitted_actions", "log_likelihood")
    _tests = ("first_stage", "overidentification", "moran")

    def __repr__(self) -> str:
        return (
            f"<GameFit: peer effect {self.peer_effect:.4g} ({self.standard_error:.2g}), {len(self.residuals)} people>"
        )

    @property
    def peer_effect(self) -> float:
        """φ: how much more people do per unit that their neighbours do."""
        return float(self.parameters[0])

    @property
    def standard_error(self) -> float:
        """The standard error of the peer effect."""
        return float(np.sqrt(self.covariance[0, 0]))

    @cached_property
    def residuals(self) -> pd.Series:
        """Actions less what the fit predicts, of those whose action was observed."""
        return pd.Series(self.actions - self.fitted_actions, index=self.names).dropna()

    @cached_property
    def benefit(self) -> Array:
        """The fitted benefit of each person."""
        return np.asarray(self.played_columns @ self.parameters[1 : self.played_columns.shape[1] + 1])

    @property
    def freedom(self) -> float:
        """Degrees of freedom of intervals: the number of groups less one if errors are clustered, else infinite."""
        if self.settings.get("errors") == "cluster":
            return float(self.n_groups - 1)
        return np.inf

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the peer effect."""
        return self.interval_at(0.95)

    def interval_at(self, level: float) -> tuple[float, float]:
        """Return an interval of the peer effect: from the bootstrap if there was one, else from the standard error."""
        check_number("level", level, low=0, high=1, open_low=True, open_high=True, remedy="try 0.95")
        tail = 0.5 * (1.0 - level)
        if self.bootstrap is not None:
            low, high = np.quantile(self.bootstrap[:, 0], [tail, 1.0 - tail])
            return float(low), float(high)
        width = float(stats.t.ppf(1.0 - tail, self.freedom)) * self.standard_error
        return self.peer_effect - width, self.peer_effect + width

    @cached_property
    def coefficients(self) -> pd.DataFrame:
        """All estimates as a table; groups' own constants are left out."""
        shown = [k for k, term in enumerate(self.terms) if not term.startswith("group ")]
        estimate = self.parameters[shown]
        error = np.sqrt(np.diag(self.covariance))[shown]
        z = estimate / np.where(error > 0, error, np.nan)
        return pd.DataFrame(
            {
                "term": [self.terms[k] for k in shown],
                "estimate": estimate,
                "standard_error": error,
                "z": z,
                "p": 2.0 * stats.t.sf(np.abs(z), self.freedom),
            }
        )

    def prior(self, welfare: Any = "total") -> Any:
        """Return the fitted game as a functional prior: the fitted benefits, interaction and peer effect.

        Its weights are those of the fit (rows divided by their sums if ``normalize``). A peer effect above 1, possible
        with weights as they are, is not a ``share``: interventions with ``game=fit`` scale the weights instead.

        Examples
        --------
        >>> from nashgraph import fit_game
        >>> random = np.random.default_rng(0)
        >>> W, x = np.roll(np.eye(60), 1, axis=1), random.random(60)
        >>> y = np.linalg.solve(np.eye(60) - 0.5 * W, 1.0 + x) + 0.01 * random.normal(size=60)
        >>> prior = fit_game(W, y, x).prior()
        >>> round(prior.share, 1), round(float(prior.evaluate(W).value / y.sum()), 2)
        (0.5, 1.0)
        """
        return self._prior(self.parameters, welfare)[0]

    def _prior(self, parameters: Array, welfare: Any = "total") -> tuple[Any, float]:
        """Return the game at some parameters, and what the weights are multiplied by."""
        phi = float(parameters[0])
        scale = max(1.0, abs(phi))
        benefit = self.played_columns @ parameters[1 : self.played_columns.shape[1] + 1]
        link = self.settings.get("link", "identity")
        if link in LINKS:
            return Dynamics(benefit, LINKS[link](), "linear", welfare).with_share(phi / scale), scale
        if not isinstance(self.interaction, Linear):
            benefit = np.maximum(benefit, 0.0)  # of whom the game says that they do nothing by themselves
        return GamePrior(benefit, self.interaction, welfare, share=phi / scale), scale

    def played_on(
        self, graph: LearnedGraph, replicates: tuple[Any, ...], n_parameters: int = 50, random_state: int = 0
    ) -> dict[str, Any]:
        """Return the fields of the game that interventions play on a graph with this fit.

        Its replicates are draws of the parameters, one on each replicate of the network, or on the network itself if it
        has none. Draws without an equilibrium are drawn again.
        """
        places = self._places(graph)
        normalize = bool(self.settings.get("normalize", True))

        def prepared_on(weights: Any) -> Any:
            return prepared(sparse.csr_array(weights)[places][:, places], normalize)

        weights = prepared_on(graph.weights)
        networks = [prepared_on(replicate) for replicate in replicates] or [weights] * n_parameters
        prior, scale = self._prior(self.parameters)
        drawn = self.parameter_draws(len(networks), random_state)
        priors = list[Any]()
        scaled = list[Any]()
        for network, parameters in zip(networks, drawn, strict=True):
            one, factor = self._prior(parameters)
            priors.append(one)
            scaled.append(network * factor)
        return {
            "names": self.names,
            "weights": weights * scale,
            "prior": prior,
            "replicate_weights": tuple(scaled),
            "replicate_priors": tuple(priors),
            "replicates_are_draws": True,
        }

    def parameter_draws(self, count: int, random_state: int = 0) -> Array:
        """Return draws of the parameters around the estimates; peer effects stay where the game has an equilibrium."""
        random = np.random.default_rng(random_state)
        drawn = random.multivariate_normal(self.parameters, self.covariance, size=count, method="svd")
        # Beyond 1 the linear game on rows that sum to 1 has no equilibrium; a link bounds actions by itself.
        if self.settings.get("link") not in LINKS:
            most = max(0.98, 1.02 * abs(self.peer_effect))
        else:
            most = np.inf
        drawn[:, 0] = np.clip(drawn[:, 0], -most, most)
        return drawn

    def _places(self, graph: LearnedGraph) -> Array:
        """Return the place of each fitted person in a graph."""
        ours = as_names(self.names)
        theirs = as_names(graph.names)
        places = {name: place for place, name in enumerate(theirs)}
        missing = [name for name in ours if name not in places]
        if missing:
            raise InputError(f"the game was fitted with people who are not in the graph: {listing(missing)}")
        return np.array([places[name] for name in ours], dtype=np.int64)

    def summary(self) -> str:
        """Return the fit as text: what was fitted, the table of coefficients, and the tests."""
        lines = [f"{label:<28}{value}" for label, value in self.figures().items()]
        table = self.coefficients.to_string(index=False, float_format=lambda value: f"{value:.4f}")
        rule = "-" * max(len(line) for line in [*lines, *table.splitlines()])
        return "\n".join([rule, *lines, rule, table, rule])

    def figures(self) -> dict[str, str]:
        """Return the figures above and below the table, in words."""
        low, high = self.interval
        method = METHODS[self.settings["method"]]
        if self.settings.get("link") in LINKS and method == METHODS["nls"]:
            method = "maximum likelihood"
        if self.settings["censored"]:
            method += ", censored at 0"
        if self.bootstrap is not None:
            errors = "parametric bootstrap"
        else:
            errors = str(self.settings["errors"])
        figures = {
            "Estimated by": method,
            "People": f"{len(self.residuals):,}",
            "Interaction": type(self.interaction).__name__,
            "Errors": errors,
            "Peer effect, 95% interval": f"{low:.4f} to {high:.4f}",
        }
        if np.isfinite(self.log_likelihood):
            figures["Log-likelihood"] = f"{self.log_likelihood:.3f}"
        if self.n_draws > 1:
            figures["Draws of the network"] = f"{self.n_draws}; they add {self.between_draws:.4f} to the standard error"
        if self.first_stage is not None:
            if self.first_stage.statistic < 10.0:
                weak = ", weak instruments"
            else:
                weak = ""
            figures["First stage"] = f"F = {self.first_stage.statistic:.1f}{weak}"
        for title, test in (("Overidentification", self.overidentification), ("Moran test of residuals", self.moran)):
            if test is not None:
                figures[title] = f"{test.statistic:.3f} (p = {test.p_value:.3f})"
        return figures

    def to_latex(self) -> str:
        """Return the table of coefficients for LaTeX, with standard errors in brackets."""
        lines = ["\\begin{tabular}{lrr}", "\\hline", "Term & Estimate & (Std. error) \\\\", "\\hline"]
        for row in self.coefficients.itertuples():
            term = re.sub(r"([_%&#$])", r"\\\1", str(row.term))
            lines.append(f"{term} & {row.estimate:.4f} & ({row.standard_error:.4f}) \\\\")
        return "\n".join([*lines, "\\hline", f"People & {len(self.residuals)} & \\\\", "\\end{tabular}"])

    def plot(self, ax: Any = None) -> Any:
        """Draw actions against what the fit predicts, and return the axes."""
        import matplotlib.pyplot as plt  # noqa: PLC0415 (an extra: imported where used)

        axes = plt.subplots(figsize=(5, 4))[1] if ax is None else ax
        observed = np.isfinite(self.actions)
        predicted = self.fitted_actions[observed]
        axes.scatter(predicted, self.actions[observed], s=12, alpha=0.6)
        ends = [min(predicted.min(), self.actions[observed].min()), max(predicted.max(), self.actions[observed].max())]
        axes.plot(ends, ends, linewidth=1)
        axes.set(xlabel="predicted by the fitted game", ylabel="action")
        return axes

    def to_json(self) -> str:
        """Return what interventions need of the fit, as JSON; :meth:`from_json` reads it."""
        name = [key for key, kind in INTERACTIONS.items() if type(self.interaction) is kind]
        if not name:
            raise InputError("a fit with an interaction of your own cannot be written to a file")
        content: dict[str, Any] = {"format": FORMAT, "version": VERSION, "interaction": name[0]}
        for attribute in (*self._plain, *self._tests):
            content[attribute] = getattr(self, attribute)
        for attribute in self._numbers:
            values = np.asarray(getattr(self, attribute), dtype=object)
            values[np.isnan(values.astype(float))] = None  # JSON has no NaN
            content[attribute] = values.tolist()
        content["played_columns"] = self.played_columns.T.tolist()
        content["names"] = [str(name) for name in self.names.tolist()]
        return json.dumps(content, indent=1, allow_nan=False, default=str) + "\n"

    @classmethod
    def from_json(cls, text: str) -> GameFit:
        """Return the fit in such a text; without its networks and bootstrap."""
        content = json.loads(text)
        if content.get("format") != FORMAT or content.get("version") != VERSION:
            raise InputError(
                "this is not a fitted game of this version: write it with nashgraph fit-game, or to_json()"
            )
        values: dict[str, Any] = {name: content[name] for name in cls._plain}
        values["terms"] = tuple(content["terms"])
        values |= {name: np.array(content[name], dtype=float) for name in cls._numbers}
        values["log_likelihood"] = float(values["log_likelihood"])
        values |= {name: content[name] and Statistic(*content[name]) for name in cls._tests}
        values["names"] = np.array(content["names"], dtype=object)
        values["played_columns"] = np.array(content["played_columns"], dtype=float).reshape(-1, len(content["names"])).T
        values["interaction"] = as_interaction(content["interaction"])
        return cls(**values)
