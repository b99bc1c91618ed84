r"""Is there a network in these answers at all? A permutation test to run before anybody is shown a network.

Likeness of two nodes is :math:`s_{ij} = \sum_m z_{mi} z_{mj}`, z being standardised answers. If nothing ties nodes, a
node's answers to different questions have nothing to do with each other, and likeness is spread as evenly over pairs as
it can be. The test statistic is its concentration,

.. math:: T = \sum_{ij} s_{ij}^2 = \sum_{kl} \langle z_k, z_l \rangle^2,

which by the second form takes :math:`O(M^2 N)`. Its distribution under the null hypothesis comes from shuffling the
answers to every question among the nodes that answered it, so the test has its level exactly, whatever the answers are.

Rejecting the null says that questions go together. It does not prove ties: age can explain income and hobbies without
any tie. So the check also says how much of T one direction or one column explains.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .validation import Array, InputError, check_integer, check_number, check_range

ASK = (
    "Ask about ties instead: who people know, how many ties they have, or how many of their ties have each of a few "
    "traits (for example farmers, shopkeepers, teachers). Such answers say far more about ties than likeness does."
)


@dataclass(frozen=True)
class NetworkCheck:
    """What :func:`check_network` found.

    Attributes
    ----------
    verdict : "nothing found", "one dimension", "several dimensions" or "cannot tell"
    p_value : float, of the permutation test; NaN if it cannot be done
    concentration : float
        How concentrated likeness is, relative to shuffled answers: 1 is what chance gives.
    dimensions : int
        Principal components above the 95% quantile of those of shuffled answers (parallel analysis, Horn 1965).
    first_component : float, the share of the concentration that the first principal component explains
    column : object, the signal that alone explains most of it
    column_share : float, the share it explains
    even_share : float, both shares if signals had nothing to do with each other
    low_pass : bool or None
        Whether the leading eigenvector of the covariance between nodes is the most one-signed (the test of He and Wai
        2021): expected if signals were spread by a network. None if answers are missing. It is for signals of mean
        zero; answers whose columns have different means pass it without any network, so the verdict ignores it.
    n_permutations : int

    Examples
    --------
    >>> print(check_network(np.random.default_rng(0).normal(size=(8, 40))).sentences[1])
    A network learned from these answers would show chance.
    """

    verdict: str
    p_value: float
    concentration: float
    dimensions: int
    first_component: float
    column: Any
    column_share: float
    even_share: float
    low_pass: bool | None
    n_permutations: int

    @property
    def found(self) -> bool:
        """Whether answers are more alike than chance makes them."""
        return self.verdict in ("one dimension", "several dimensions")

    def as_dict(self) -> dict[str, Any]:
        """Return all figures by name, with the sentences."""
        return asdict(self) | {"sentences": self.sentences}

    @property
    def sentences(self) -> list[str]:
        """The verdict in words."""
        if self.verdict == "cannot tell":
            return ["Cannot tell: fewer than two usable columns, or fewer than four nodes. Add more answers.", ASK]
        test = f"p = {self.p_value:.2g}, {self.n_permutations} shuffles of each column"
        if not self.found:
            return [
                f"Nothing found: likeness is not more concentrated than if the answers were shuffled ({test}).",
                "A network learned from these answers would show chance.",
                ASK,
            ]
        said = [
            f"Likeness is {self.concentration:.2g} times as concentrated as if the answers were shuffled ({test}).",
            "This shows that answers go together, not that people with similar answers have ties.",
        ]
        if self.dimensions > 1:
            said.append(f"They go together in {self.dimensions} independent directions.")
        shares = f"{self.first_component:.0%} of it (with unrelated columns: {self.even_share:.0%})"
        if self.verdict == "one dimension" or self.first_component > 0.7:
            said.append(
                f"One direction explains {shares}. A learned network mostly orders people along it: look at that "
                f"scale first; the column nearest to it is {self.column}."
            )
        else:
            said.append(f"The first direction explains {shares}.")
        said.append(f"The column {self.column} alone explains {self.column_share:.0%}.")
        return said


def check_network(
    X: Any, *, questions: Any = None, n_permutations: int = 199, level: float = 0.05, random_state: int = 0
) -> NetworkCheck:
    """Test whether answers hold any structure that a network could be learned from.

    Parameters
    ----------
    X : array or DataFrame of shape (n_signals, n_nodes)
        NaN where an answer is missing; answers are shuffled among those who gave one.
    questions : array of shape (n_signals,), optional
        The question that each signal belongs to. The signals of one question, such as the columns of one category, are
        shuffled together. Default: each signal is a question of its own.
    n_permutations, random_state : int
    level : float
        Error rate: on answers without any structure a share ``level`` of the tables at most is said to have some.

    References
    ----------
    Horn, *A rationale and test for the number of factors in factor analysis* (1965); He, Wai, *Identifying first-order
    lowpass graph signals using Perron Frobenius theorem* (2021).

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> check_network(random.normal(size=(8, 40))).verdict
    'nothing found'
    >>> groups = random.normal(size=(8, 4))[:, np.arange(40) % 4]
    >>> check_network(groups + random.normal(size=(8, 40))).verdict
    'several dimensions'
    """
    names = np.asarray(X.index) if hasattr(X, "index") else np.arange(len(X))
    values = np.asarray(X, float)
    if values.ndim != 2:
        raise InputError(f"X must have shape (n_signals, n_nodes), got {values.shape}")
    if np.isinf(values).any():
        raise InputError("X has infinite values: use NaN for answers that are missing")
    check_range(np.nan_to_num(values))
    count = check_integer("n_permutations", n_permutations, low=19, remedy="try 199")
    remedy = "try 0.05, or more permutations"
    check_number("level", level, low=1.0 / (count + 1), high=0.5, open_low=True, remedy=remedy)
    owners = np.arange(len(values)) if questions is None else np.asarray(questions)
    if owners.shape != (len(values),):
        raise InputError(f"questions must have one entry per signal: got {owners.shape} for {len(values)} signals")
    Z = standardised(values)
    kept = np.flatnonzero(np.square(Z).sum(axis=1) > 0)
    blocks = [kept[owners[kept] == each] for each in np.unique(owners[kept])]
    if len(blocks) < 2 or Z.shape[1] < 4:
        nan = np.nan
        return NetworkCheck("cannot tell", nan, nan, 0, nan, None, nan, nan, None, count)
    random, observed = np.random.default_rng(random_state), ~np.isnan(values)
    own, n = Z[kept] @ Z[kept].T, Z.shape[1]
    others = (shuffled(Z, blocks, observed, random)[kept] for _ in range(count))
    drawn = np.stack([each @ each.T for each in others])
    return judged(own / n, drawn / n, names[kept], level, low_pass(values) if observed.all() else None)


def judged(own: Array, drawn: Array, names: Array, level: float, passed: bool | None) -> NetworkCheck:
    """Return the check, given the inner products of signals per node, and those of shuffled answers."""
    total, chance = float(np.square(own).sum()), np.square(drawn).sum(axis=(1, 2))
    p_value = (1.0 + np.sum(chance >= total * (1.0 - 1e-9))) / (len(drawn) + 1.0)
    roots, even = np.linalg.eigvalsh(own)[::-1], np.linalg.eigvalsh(drawn)[:, ::-1]
    above = roots > np.quantile(even, 0.95, axis=0)
    dimensions = int(np.argmin([*above, False]))
    columns = np.square(own).sum(axis=0) ** 2 / (np.diag(own) ** 2 * total)
    best = int(np.argmax(columns >= columns.max() * (1.0 - 1e-9)))  # of parallel columns, the first
    several = "several dimensions" if dimensions > 1 else "one dimension"
    verdict = several if p_value < level else "nothing found"
    shares = float(roots[0] ** 2 / total), names[best], float(columns[best]), 1.0 / len(own)
    relative = total / float(chance.mean())
    return NetworkCheck(verdict, float(p_value), relative, dimensions, *shares, passed, len(drawn))


def standardised(values: Array) -> Array:
    """Return signals of mean 0 and spread 1 over the nodes that have them; missing and constant ones are 0."""
    observed = ~np.isnan(values)
    counts = np.maximum(observed.sum(axis=1, keepdims=True), 1)
    centred = np.where(observed, values, 0.0)
    centred = np.where(observed, centred - centred.sum(axis=1, keepdims=True) / counts, 0.0)
    size = np.abs(values, where=observed, out=np.zeros_like(values)).max(axis=1, keepdims=True, initial=0.0)
    spread = np.sqrt(np.square(centred).sum(axis=1, keepdims=True) / counts)
    varies = spread > 1e-12 * size
    return np.asarray(np.where(varies, centred / np.where(varies, spread, 1.0), 0.0))


def shuffled(Z: Array, blocks: list[Array], observed: Array, random: np.random.Generator) -> Array:
    """Return signals with the answers to each question shuffled among the nodes that answered it."""
    result = np.zeros_like(Z)
    for block in blocks:
        nodes = np.flatnonzero(observed[block].all(axis=0))
        others = np.flatnonzero(~observed[block].all(axis=0))
        result[np.ix_(block, nodes)] = Z[np.ix_(block, random.permutation(nodes))]
        result[np.ix_(block, others)] = Z[np.ix_(block, others)]  # answered in part: left as they are
    return result


def low_pass(values: Array) -> bool:
    """Return whether the leading eigenvector of the covariance between nodes is the most one-signed of all."""
    centred = values - values.mean(axis=0)
    vectors = np.linalg.svd(centred, full_matrices=False)[2][: max(1, len(values) - 1)]
    return int(np.argmax(np.abs(vectors.sum(axis=1)) / np.abs(vectors).sum(axis=1))) == 0
