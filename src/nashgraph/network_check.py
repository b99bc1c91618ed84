r"""Do the answers to different questions go together? A permutation test to run before anybody is shown a network.

Likeness of two nodes is :math:`s_{ij} = \sum_m z_{mi} z_{mj}`, z being standardised answers. If a node's answers to
different questions have nothing to do with each other, likeness is spread as evenly over pairs as it can be. The test
statistic is its concentration,

.. math:: T = \sum_{ij} s_{ij}^2 = \sum_{kl} \langle z_k, z_l \rangle^2,

The first form takes :math:`O(N^2 M)`, the second :math:`O(M^2 N)`; the smaller is used, and shuffles are summed up one
by one, so memory is :math:`O(NM)`. The distribution of T under the null hypothesis comes from shuffling the answers to
every question among the nodes that answered it, so the test has its level exactly, whatever the answers are.

The test is about columns, not about ties. Age can explain income and hobbies without any tie, so columns that go
together do not prove a network. One decisive column (a school grade, an office) can hold the whole network while no
two columns go together, so columns that do not are no proof against one.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from .matching import in_order
from .scaling import standardised
from .validation import Array, InputError, check_integer, check_number, check_range

ASK = (
    "Ask about ties instead: who people know, how many ties they have, or how many of their ties have each of a few "
    "traits (for example farmers, shopkeepers, teachers). Such answers say far more about ties than likeness does."
)


@dataclass(frozen=True)
class NetworkCheck:
    """What :func:`check_network` found about the columns.

    Attributes
    ----------
    verdict : "unrelated", "one dimension", "several dimensions" or "cannot tell"
    p_value : float, of the permutation test; NaN if it cannot be done
    concentration : float
        How concentrated likeness is, relative to shuffled answers: 1 is what chance gives.
    dimensions : int
        Principal components above the 95% quantile of those of shuffled answers (parallel analysis, Horn 1965).
    first_component : float, the share of the concentration that the first principal component explains
    carried_by : tuple of (signal, share)
        The signals that go together most with those of other questions, and what each of them has of all such
        likeness; at most five, the strongest first.
    column : object, the signal that alone explains most of the concentration
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
    That does not show that there are no ties: one column (a school grade, an office) can tell them on its own.
    """

    verdict: str
    p_value: float
    concentration: float
    dimensions: int
    first_component: float
    carried_by: tuple[tuple[Any, float], ...]
    column: Any
    column_share: float
    even_share: float
    low_pass: bool | None
    n_permutations: int

    @property
    def found(self) -> bool:
        """Whether columns go together more than chance makes them."""
        return self.verdict in ("one dimension", "several dimensions")

    def as_dict(self) -> dict[str, Any]:
        """Return all figures by name, with the sentences."""
        return asdict(self) | {"sentences": self.sentences}

    @property
    def sentences(self) -> list[str]:
        """The verdict in words: about the columns, and about nothing else."""
        if self.verdict == "cannot tell":
            return ["Cannot tell: fewer than two usable columns, or fewer than four nodes. Add more answers.", ASK]
        test = f"p = {self.p_value:.2g}, {self.n_permutations} shuffles of each column"
        names = ", ".join(f"{name} ({percent(share)})" for name, share in self.carried_by)
        if not self.found:
            return [
                f"The columns do not go together more than if their answers were shuffled ({test}).",
                "That does not show that there are no ties: one column (a school grade, an office) can tell them on "
                "its own.",
                f"The columns that go together most: {names}.",
                ASK,
            ]
        sentences = [
            f"The columns go together: likeness is {self.concentration:.2g} times as concentrated as if their answers "
            f"were shuffled ({test}).",
            "That does not show that people with similar answers have ties.",
            f"The columns that carry it: {names}.",
        ]
        if self.dimensions > 1:
            sentences.append(f"They go together in {self.dimensions} independent directions.")
        shares = f"{self.first_component:.0%} of it (with unrelated columns: {self.even_share:.0%})"
        if self.verdict == "one dimension" or self.first_component > 0.7:
            sentences.append(
                f"One direction explains {shares}. A learned network mostly orders people along it: look at that "
                f"scale first; the column nearest to it is {self.column}."
            )
        else:
            sentences.append(f"The first direction explains {shares}.")
        return sentences


def percent(share: float) -> str:
    """Return a share in words: of thousands of columns none has 1%."""
    return f"{share:.0%}" if share >= 0.01 else "under 1%"


def check_network(
    X: Any, *, questions: Any = None, n_permutations: int = 199, level: float = 0.05, random_state: int = 0
) -> NetworkCheck:
    """Test whether the answers to different questions go together. It says nothing about ties.

    Parameters
    ----------
    X : array or DataFrame of shape (n_signals, n_nodes)
        NaN where an answer is missing; answers are shuffled among those who gave one.
    questions : array of shape (n_signals,), optional
        The question that each signal belongs to. The signals of one question, such as the columns of one category, are
        shuffled together. Default: each signal is a question of its own.
    n_permutations, random_state : int
    level : float
        Error rate: if columns are unrelated, a share ``level`` of the tables at most is said to have related ones.

    References
    ----------
    Horn, *A rationale and test for the number of factors in factor analysis* (1965); He, Wai, *Identifying first-order
    lowpass graph signals using Perron Frobenius theorem* (2021).

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> check_network(random.normal(size=(8, 40))).verdict
    'unrelated'
    >>> groups = random.normal(size=(8, 4))[:, np.arange(40) % 4]
    >>> check_network(groups + random.normal(size=(8, 40))).verdict
    'several dimensions'
    """
    if hasattr(X, "index"):
        names = np.asarray(X.index)
    else:
        names = np.arange(len(X))
    values = np.asarray(X, float)
    if values.ndim != 2:
        raise InputError(f"X must have shape (n_signals, n_nodes), got {values.shape}")
    if np.isinf(values).any():
        raise InputError("X has infinite values: use NaN for answers that are missing")
    check_range(np.nan_to_num(values))
    count = check_integer("n_permutations", n_permutations, low=19, remedy="try 199")
    remedy = "try 0.05, or more permutations"
    check_number("level", level, low=1.0 / (count + 1), high=0.5, open_low=True, remedy=remedy)
    if isinstance(X, pd.DataFrame):
        questions = in_order("questions", questions, X.index, "X's rows")
    if questions is None:
        owners = np.arange(len(values))
    else:
        owners = np.asarray(questions)
    if owners.shape != (len(values),):
        raise InputError(f"questions must have one entry per signal: got {owners.shape} for {len(values)} signals")
    Z = np.nan_to_num(standardised(values))
    varies = np.square(Z).sum(axis=1) > 0
    observed = ~np.isnan(values[varies])
    blocks = blocks_of(owners[varies])
    if len(blocks) < 2 or Z.shape[1] < 4:
        nan = np.nan
        return NetworkCheck("cannot tell", nan, nan, 0, nan, (), None, nan, nan, None, count)
    Z = Z[varies]
    random = np.random.default_rng(random_state)
    totals = np.zeros(count)
    spectra = np.zeros((count, min(Z.shape)))
    for number in range(count):
        totals[number], spectra[number] = concentration_of(shuffled(Z, blocks, observed, random))
    passed = low_pass(values) if not np.isnan(values).any() else None
    return judged(Z, names[varies], blocks, totals, spectra, level, passed)


def blocks_of(owners: Array) -> list[Array]:
    """Return the rows of each question, in the order of the questions."""
    _, question, sizes = np.unique(owners, return_inverse=True, return_counts=True)
    rows = np.argsort(question, kind="stable")
    return np.split(rows, np.cumsum(sizes)[:-1])


def concentration_of(Z: Array) -> tuple[float, Array]:
    """Return T and the eigenvalues of the likeness, from the smaller of its two forms; largest first."""
    likeness = Z @ Z.T if len(Z) < Z.shape[1] else Z.T @ Z
    return float(np.square(likeness).sum()), np.linalg.eigvalsh(likeness)[::-1]


def judged(
    Z: Array, names: Array, blocks: list[Array], totals: Array, spectra: Array, level: float, passed: bool | None
) -> NetworkCheck:
    """Return the check, given standardised signals, and T and the eigenvalues of every shuffle."""
    total, roots = concentration_of(Z)
    p_value = (1.0 + np.sum(totals >= total * (1.0 - 1e-9))) / (len(totals) + 1.0)
    above = roots > np.quantile(spectra, 0.95, axis=0)
    dimensions = int(np.argmin([*above, False]))
    # The sum over l of <z_k, z_l>^2 for every signal k, by the smaller form.
    if len(Z) >= Z.shape[1]:
        likeness = np.einsum("kn,nk->k", Z, (Z.T @ Z) @ Z.T)
    else:
        likeness = np.square(Z @ Z.T).sum(axis=0)
    sizes = np.square(Z).sum(axis=1)
    columns = likeness**2 / (sizes**2 * total)
    best = int(np.argmax(columns >= columns.max() * (1.0 - 1e-9)))  # the first of parallel columns
    with_others = likeness.copy()
    for block in blocks:  # categories of one question exclude each other, which is no news
        with_others[block] -= np.square(Z[block] @ Z[block].T).sum(axis=0)
    shares = np.round(with_others / max(with_others.sum(), 1e-300), 9)  # rounding does not decide the order
    strongest = np.argsort(-shares, kind="stable")[:5]
    several = "several dimensions" if dimensions > 1 else "one dimension"
    return NetworkCheck(
        verdict=several if p_value < level else "unrelated",
        p_value=float(p_value),
        concentration=total / float(totals.mean()),
        dimensions=dimensions,
        first_component=float(roots[0] ** 2 / total),
        carried_by=tuple((names[k], float(shares[k])) for k in strongest),
        column=names[best],
        column_share=float(columns[best]),
        even_share=1.0 / len(Z),
        low_pass=passed,
        n_permutations=len(totals),
    )


def shuffled(Z: Array, blocks: list[Array], observed: Array, random: np.random.Generator) -> Array:
    """Return signals with the answers to each question shuffled among the nodes that answered it."""
    result = np.zeros_like(Z)
    single = np.array([block[0] for block in blocks if len(block) == 1], dtype=np.int64)
    full = single[observed[single].all(axis=1)]
    result[full] = random.permuted(Z[full], axis=1)
    # A question with gaps: nodes that answered, in random order, give their answers to those nodes in their own order.
    gaps = single[~observed[single].all(axis=1)]
    draws = np.where(observed[gaps], random.random((len(gaps), Z.shape[1])), np.inf)
    answered = np.argsort(~observed[gaps], axis=1, kind="stable")
    answers = np.take_along_axis(Z[gaps], np.argsort(draws, axis=1), axis=1)
    rows = result[gaps]
    np.put_along_axis(rows, answered, answers, axis=1)
    result[gaps] = rows
    for block in blocks:
        if len(block) > 1:
            nodes = np.flatnonzero(observed[block].all(axis=0))
            partly = np.flatnonzero(~observed[block].all(axis=0))
            result[np.ix_(block, nodes)] = Z[np.ix_(block, random.permutation(nodes))]
            result[np.ix_(block, partly)] = Z[np.ix_(block, partly)]  # answered in part: left as they are
    return result


def low_pass(values: Array) -> bool:
    """Return whether the leading eigenvector of the covariance between nodes is the most one-signed of all."""
    centred = values - values.mean(axis=0)
    vectors = np.linalg.svd(centred, full_matrices=False)[2][: max(1, len(values) - 1)]
    return int(np.argmax(np.abs(vectors.sum(axis=1)) / np.abs(vectors).sum(axis=1))) == 0
