"""Checks of user input, with their messages.

Each check names the argument, the value it got and what to do about it, and raises before anything is
computed, so that nothing is ever half-fitted.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy  # whose submodules come when first used
from numpy.typing import NDArray

from .decisions import DataWarning as DataWarning  # noqa: PLC0414 (the library gets the three from here)
from .decisions import InputError as InputError  # noqa: PLC0414
from .decisions import InputTypeError as InputTypeError  # noqa: PLC0414
from .decisions import Remedy

Array = NDArray[Any]


def warn(
    message: str, category: type[Warning] = DataWarning, *, parameter: str | None = None, remedy: Remedy | None = None
) -> None:
    """Warn at the user's line that called the library, not at the line that found the problem."""
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(__package__ or ""):
        level = level + 1
        frame = frame.f_back
    if issubclass(category, DataWarning):
        warnings.warn(category(message, parameter=parameter, remedy=remedy), stacklevel=level)
    else:
        warnings.warn(message, category, stacklevel=level)


def listing(items: Iterable[object], limit: int = 5) -> str:
    """Write the first few items and how many more there are."""
    items = list(items)
    shown = ", ".join(str(item) for item in items[:limit])
    if len(items) <= limit:
        return shown
    return f"{shown} and {len(items) - limit} more"


# ---------------------------------------------------------------------------------------------- numbers


def check_number(
    name: str,
    value: object,
    *,
    low: float = -np.inf,
    high: float = np.inf,
    open_low: bool = False,
    open_high: bool = False,
    remedy: str,
    example: object = None,
) -> float:
    """Return ``value`` as a float inside the interval, or say what is wrong with it; ``example`` is one to try."""
    fields: dict[str, Any] = {
        "parameter": name,
        "value": value,
        "remedy": None if example is None else Remedy(name, example),
    }
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputTypeError(f"{name} must be a number, got {value!r} ({type(value).__name__}): {remedy}", **fields)
    number = float(value)
    below = number <= low if open_low else number < low
    above = number >= high if open_high else number > high
    if below or above or not np.isfinite(number):
        interval = f"{'(' if open_low else '['}{low:g}, {high:g}{')' if open_high or high == np.inf else ']'}"
        raise InputError(f"{name} must be a finite number in {interval}, got {value!r}: {remedy}", **fields)
    return number


def check_integer(name: str, value: object, *, low: int, high: int = 10**9, remedy: str) -> int:
    """Return ``value`` as an int from ``low`` to ``high``: what is counted must end, and fit a C integer."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        what = f"{value!r} ({type(value).__name__})"
        raise InputTypeError(f"{name} must be an integer, got {what}: {remedy}", parameter=name, value=value)
    number = int(value)
    if number < low:
        raise InputError(f"{name} must be at least {low}, got {value!r}: {remedy}", parameter=name, value=value)
    if number > high:
        raise InputError(f"{name} must be at most {high:,}, got {value!r}: {remedy}", parameter=name, value=value)
    return number


def check_random_state(seed: Any) -> np.random.RandomState:
    """Return the generator of a seed, as scikit-learn takes seeds."""
    from sklearn.utils import check_random_state as generator_of  # noqa: PLC0415 (help and completion stay fast)

    try:
        return generator_of(seed)
    except ValueError as error:
        raise InputError(f"random_state must be a whole number from 0 to {2**32 - 1:,}, got {seed!r}: try 0") from error


def check_flag(name: str, value: object) -> bool:
    """Return ``value`` if it is True or False: a word such as "no" would count as true."""
    if not isinstance(value, bool | np.bool_):
        raise InputTypeError(f"{name} must be True or False, got {value!r} ({type(value).__name__})")
    return bool(value)


def check_c(c: object) -> float:
    """Check the row sum of the adjacency matrix."""
    remedy = "c is the total influence on a node, and the game has one equilibrium only below 1"
    # Less than 1e-9 is too small to compute with.
    return check_number("c", c, low=1e-9, high=1, open_high=True, remedy=remedy, example=0.95)


def check_lam(lam: object) -> float:
    """Check the strength of the prior."""
    remedy = "lam weighs the welfare against the signals, and 0 turns the prior off"
    return check_number("lam", lam, low=0, high=1e100, remedy=remedy)


def check_n_lams(n_lams: object) -> int:
    """Check how many strengths of the prior are to be found."""
    return check_integer("n_lams", n_lams, low=2, high=1000, remedy="try 20")


def check_strength(lam: object) -> float | None:
    """Check the strength of the prior where it may also be found: None stands for "auto"."""
    if isinstance(lam, str):
        check_choice("lam", lam, ("auto",), ", or a number")
        return None
    return check_lam(lam)


def check_beta(beta: object) -> float:
    """Check the weight of the squared norm, which is of the size of squared signals."""
    remedy = "a larger beta spreads each row over more neighbours; without it, degree sets it"
    return check_number("beta", beta, low=1.0 / LARGEST**2, high=LARGEST**2, remedy=remedy)


def check_degree(degree: object, n_nodes: int) -> float:
    """Check the number of neighbours asked for; more than there are means all of them, and is said unless small."""
    if degree is None:
        raise InputError(
            "beta and degree are both None: give one of them", parameter="degree", remedy=Remedy("degree", 10)
        )
    remedy = "degree is the mean number of neighbours wanted"
    wanted = check_number("degree", degree, low=1, remedy=remedy, example=10)
    if wanted > max(n_nodes - 1, 10):  # the estimators' default is 10, which few nodes need not meet
        warn(
            f"the degree {wanted:g} is more than the {n_nodes - 1} others that a node has: everybody becomes a "
            "neighbour of everybody",
            remedy=Remedy("degree", min(10, max(1, n_nodes // 5))),
        )
    return min(wanted, n_nodes - 1.0)


def check_choice(name: str, value: object, choices: Mapping[str, Any] | Iterable[str], hint: str = "") -> str:
    """Check a name against those known."""
    known = list(choices)
    if not isinstance(value, str) or value not in known:
        options = ", ".join(repr(option) for option in known)
        raise InputError(f"{name}={value!r} is not known: choose one of {options}{hint}", parameter=name, value=value)
    return value


# ----------------------------------------------------------------------------------------------- arrays


def check_finite(
    name: str, values: Array, axes: tuple[str, ...], remedy: str, *, setting: Remedy | None = None
) -> None:
    """Say where the first NaN or infinity is and how many there are; ``setting`` is one that takes them in."""
    with np.errstate(all="ignore"):
        if np.isfinite(np.sum(values)):
            return
    bad = ~np.isfinite(values)
    count = int(bad.sum())
    if not count:  # finite numbers whose sum overflows
        return
    place = np.unravel_index(int(np.argmax(bad)), values.shape)
    where = ", ".join(f"{axis} {index}" for axis, index in zip(axes, place, strict=True))
    kind = "NaN" if np.isnan(values[place]) else "inf"
    raise InputError(
        f"{name} contains NaN or inf: {count} in all, the first ({kind}) at {where}; {remedy}", remedy=setting
    )


def check_vector(name: str, values: object, length: int, remedy: str) -> Array:
    """Return ``values`` as a finite float vector of the given length."""
    try:
        vector = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputTypeError(f"{name} must be an array of {length} numbers, got {values!r}: {remedy}") from error
    if vector.shape != (length,):
        raise InputError(f"{name} must have shape ({length},), one entry per node, got {vector.shape}: {remedy}")
    check_finite(name, vector, ("node",), remedy)
    return vector


def check_benefit(benefit: object, n_nodes: int, *, normalize: bool) -> Array:
    """Check a user's marginal benefits: one per node, none negative, not all zero."""
    remedy = "pass one non-negative number per node, or benefit='spectral'"
    vector = check_vector("benefit", benefit, n_nodes, remedy)
    if (vector < 0).any():
        worst = int(np.argmin(vector))
        raise InputError(f"benefit must not be negative, got {vector[worst]:g} at node {worst}: {remedy}")
    if (largest := float(vector.max())) > 1e100:  # sums and squares of it must stay finite
        raise InputError(
            f"benefit is too large to compute with, {largest:g} at node {int(vector.argmax())}: divide all "
            "benefits by the same number"
        )
    if not vector.any():
        raise InputError(f"benefit is zero at every node, so nobody acts and the game says nothing: {remedy}")
    return vector / vector.sum() if normalize else vector


def warn_vacuous_benefit() -> None:
    """Warn that equal benefits switch the prior off (fact 6 of docs/mathematics.md)."""
    warn(
        "benefit is the same at every node: every row of the graph sums to c, so every graph then has the same "
        "welfare and the prior changes nothing. Give a benefit that differs between nodes, or leave the prior out",
    )


def check_square(name: str, matrix: Any, remedy: str) -> Any:
    """Return a square float matrix, dense or CSR, with finite entries."""
    axes: tuple[str, ...]
    if scipy.sparse.issparse(matrix):
        result = scipy.sparse.csr_array(matrix, dtype=float)
        entries = result.data
        axes = ("stored entry",)
    else:
        try:
            result = np.asarray(matrix, dtype=float)
        except (TypeError, ValueError) as error:
            kind = type(matrix).__name__
            raise InputTypeError(f"{name} must be a matrix of numbers, got {kind}: {remedy}") from error
        entries = result
        axes = ("row", "column")
    if result.ndim != 2 or result.shape[0] != result.shape[1]:
        raise InputError(f"{name} must be a square matrix, got shape {result.shape}: {remedy}")
    check_finite(name, entries, axes, remedy)
    return result


def check_weights(W: Any) -> Any:
    """Check an adjacency matrix for a game: square, finite, no negative weight."""
    remedy = "W[i, j] is the non-negative weight with which node j influences node i"
    weights = check_square("W", W, remedy)
    entries = weights.data if scipy.sparse.issparse(weights) else weights
    if entries.size and entries.min() < 0:
        raise InputError(f"W must not have negative entries, got {entries.min():g}: {remedy}")
    return weights


def check_initial_weights(init: object, n_nodes: int, c: float) -> Array:
    """Check a starting adjacency matrix: it must be a point of S."""
    remedy = "pass a non-negative matrix with zero diagonal whose rows sum to c, or init=None"
    weights = check_square("init", init, remedy)
    if scipy.sparse.issparse(weights):
        weights = weights.toarray()
    if weights.shape != (n_nodes, n_nodes):
        raise InputError(f"init must have shape {(n_nodes, n_nodes)}, got {weights.shape}: {remedy}")
    off = np.abs(weights.sum(axis=1) - c).max()
    if weights.min() < 0 or np.abs(np.diag(weights)).max() > 0 or off > 1e-8 * c:
        raise InputError(
            f"init is not an admissible graph (least entry {weights.min():g}, largest diagonal entry "
            f"{np.abs(np.diag(weights)).max():g}, largest error of a row sum {off:.3g}): {remedy}"
        )
    return weights


# ---------------------------------------------------------------------------------------------- signals


# Signals are squared, and the squares multiplied: beyond this, or below one over it, floats would run out of range.
LARGEST = 1e60  # squares of squares must be floats


def check_signals(X: Array, names: Array, *, min_signals: int = 1, missing: str | None = None) -> None:
    """Check the signals as values: finite everywhere, enough of them; warn of what carries no information.

    ``X`` is already a two-dimensional float array with at least two columns. ``missing`` is the user's choice about
    NaN, or None where there is none to make.
    """
    n_signals, _ = X.shape
    observed = check_gaps(X, names, missing)
    if n_signals < min_signals:
        raise InputError(
            f"{n_signals} sample(s), that is signals, are too few: at least {min_signals} are needed; add signals, and "
            "check that they are not taken for nodes"
        )
    if n_signals == 1:
        warn("there is one signal only, so all distances rest on a single number per node: add signals if you can")
    check_range(X)
    first = X[np.arange(n_signals), observed.argmax(axis=1), None]
    constant = np.flatnonzero(((first == X) | ~observed).all(axis=1))
    if 0 < constant.size < n_signals:
        warn(
            f"{constant.size} signal(s) are the same at every node (rows {listing(constant)}) and tell nothing of the "
            "graph: they are harmless, but drop them if they were not meant"
        )
    if constant.size == n_signals:
        warn(
            "every signal is constant over the nodes, so all nodes look alike and the graph is arbitrary: check the "
            "signals"
        )
    else:
        # Infinity stands for a gap, so that nodes with the same answers and the same gaps are equal.
        warn_duplicate_nodes(np.where(observed, X, np.inf), names)
        if (silent := silent_nodes(X)).any():
            warn(silent_sentence(names[silent]))


def silent_nodes(X: Array) -> Array:
    """Return which nodes say nothing: 0 in all signals, of which some are counts or amounts, as several others have.

    Where all signals are yes or no, 0 is an answer.
    """
    silent: Array = ((X == 0) | np.isnan(X)).all(axis=0)
    if silent.sum() < 3 or silent.all() or np.isin(X[~np.isnan(X)], (0.0, X[~np.isnan(X)].max())).all():
        return np.zeros_like(silent)
    return silent


def silent_sentence(names: Array) -> str:
    """Say that these nodes are silent, and what that means for a graph."""
    return (
        f"{len(names)} node(s) have 0 in every signal ({listing(names)}), so their ties cannot be learned: they are "
        "tied to each other or by the prior alone, and are not named as most influential; leave them out, or add "
        "signals"
    )


def check_range(X: Array) -> None:
    """Check that the signals, and what tells nodes apart in them, can be squared without leaving the floats."""
    with np.errstate(over="ignore"):
        spread = float(np.max(np.fmax.reduce(X, axis=1) - np.fmin.reduce(X, axis=1)))
    largest = float(np.fmax.reduce(np.abs(X), axis=None))
    most = LARGEST
    if largest > most or 0.0 < spread < 1.0 / most:
        if largest > most:
            size = f"values up to {largest:.3g}"
        else:
            size = f"differences of {spread:.3g} at most"
        raise InputError(
            f"X has {size}, and squares of squares must fit a float (from {1 / most:g} to {most:g}): bring it to "
            f"another scale, for example X / X.std(), after a look for cells that are not measurements"
        )


def check_gaps(X: Array, names: Array, missing: str | None) -> Array:
    """Return where X is observed; refuse infinities, and NaN unless ``missing="pairwise"``."""
    if missing is None or check_choice("missing", missing, ("error", "pairwise")) == "error":
        remedy = "drop these nodes or signals, or fill the gaps first"
        pairwise = Remedy("missing", "pairwise")
        check_finite("X", X, ("signal", "node"), remedy, setting=None if missing is None else pairwise)
    else:
        finite = np.where(np.isnan(X), 0.0, X)
        check_finite("X", finite, ("signal", "node"), "gaps are compared in pairs, infinite values cannot be")
        check_observed(X, names)
        warn_little_shared(~np.isnan(X), names)
    return ~np.isnan(X)


def check_observed(X: Array, names: Array) -> None:
    """Check that signals with gaps give every two nodes a distance: each pair has a signal observed at both."""
    observed = ~np.isnan(X)
    if observed.all():
        return
    label = [repr(name) for name in names.tolist()]
    unseen = np.flatnonzero(~observed.any(axis=0))
    if unseen.size:
        raise InputError(
            f"X has {unseen.size} node(s) without any observed signal: {listing(label[i] for i in unseen)}; "
            "drop these columns, because nothing is known about them"
        )
    empty = np.flatnonzero(~observed.any(axis=1))
    if empty.size:
        raise InputError(f"X has {empty.size} signal(s) missing at every node: rows {listing(empty)}; drop these rows")
    count, pairs = strangers(observed)
    if count:
        examples = ", ".join(f"nodes {label[i]} and {label[j]}" for i, j in pairs)
        raise InputError(
            f"{examples} share no observed signal, so they have no distance ({count} such pair(s) in all): drop one of "
            "each, or fill the gaps first",
            parameter="missing",
            value="pairwise",
        )


def warn_little_shared(observed: Array, names: Array) -> None:
    """Warn of pairs that are compared over so few signals that their distance is hardly theirs, and say what to do."""
    least = int(np.ceil(0.1 * len(observed)))
    count, pairs = strangers(observed, 1, least)
    if count:
        gaps = 1.0 - observed.mean(axis=0)
        order = np.argsort(-gaps, kind="stable")[:5]
        most = [f"{names[k]} ({gaps[k]:.0%})" for k in order if 2 * gaps[k] >= gaps.max()]
        warn(
            f"{count} pair(s) of nodes share fewer than {least} of {len(observed)} signals (for example "
            f"{names[pairs[0][0]]} and {names[pairs[0][1]]}): their distance is mostly the typical one, and a tie of "
            f"theirs says little; leave out the nodes with most gaps ({', '.join(most)}), or fill gaps"
        )


def strangers(
    observed: Array, limit: int = 3, least: int = 1, *, most_pairs: int = 1 << 22
) -> tuple[int, list[tuple[int, int]]]:
    """Return how many pairs of nodes share fewer than ``least`` observed signals, and the first few of them.

    Two nodes share at least as many signals as their numbers of observed ones exceed the number of all, so only nodes
    with many gaps are looked at, in blocks of ``most_pairs``: O(NM) where few are missing, O(N^2 M) time at most, and
    O(NM) memory.
    """
    counts = observed.sum(axis=0)
    suspects = np.flatnonzero(counts + counts.min() < len(observed) + least)
    seen = observed[:, suspects].astype(np.float32)
    size = max(1, most_pairs // max(1, suspects.size))
    total = 0
    examples = list[tuple[int, int]]()
    for first in range(0, suspects.size, size):
        rows, columns = np.nonzero(np.triu(seen[:, first : first + size].T @ seen[:, first:] < least, 1))
        total += rows.size
        one = suspects[first + rows[:limit]].tolist()
        other = suspects[first + columns[:limit]].tolist()
        examples += zip(one, other, strict=True)
    return total, examples[:limit]


def warn_duplicate_nodes(X: Array, names: Array) -> None:
    """Warn of nodes whose signals are all equal: the data cannot tell them apart."""
    # Equal nodes have equal sums, and only nodes whose sum is not alone are compared: sorting numbers is fast.
    with np.errstate(over="ignore", invalid="ignore"):
        sums = sum(weight * row for weight, row in zip(np.random.default_rng(0).random(len(X)), X, strict=True))
    _, inverse, alike = np.unique(sums, return_inverse=True, return_counts=True)
    suspects = np.flatnonzero(alike[inverse] > 1)
    _, first, counts = np.unique(X[:, suspects], axis=1, return_index=True, return_counts=True)
    groups = suspects[first[counts > 1]]
    if groups.size:
        example = np.flatnonzero((X[:, groups[:1]] == X).all(axis=0))[:2]
        warn(
            f"{int((counts - 1).sum())} node(s) have exactly the signals of another node (for example "
            f"{names[example[0]]} and {names[example[1]]}): they are taken as nearest neighbours of each other; "
            "add signals that tell them apart, or merge them"
        )


def check_node_names(names: Array) -> None:
    """Refuse two nodes with one name: the edge list would be ambiguous."""
    unique, counts = np.unique(names.astype(str), return_counts=True)
    if unique.size < names.size:
        doubled = unique[counts > 1]
        raise InputError(
            f"X has duplicate column names, and columns name the nodes: {listing(doubled)}; rename them, for example "
            "X.columns = range(X.shape[1])"
        )


# ---------------------------------------------------------------------------------------------- outliers


# spreads from the median at which a value is reported, and cannot be a measurement
FAR = 1e3
ABSURD = 1e5


def far_out(values: Array, least: float) -> Iterator[tuple[int, int, float]]:
    """Yield row, column and spreads of every column's furthest value, if it is more than ``least`` spreads out.

    A spread is the median of all differences from the median that are not zero, or, where a single one is not, the
    size of the median itself, at least 1.
    """
    with np.errstate(over="ignore"):  # what overflows is far out
        away = np.abs(values - np.nanmedian(values, axis=0))
        wide = np.nanmax(away, axis=0) > least * np.nanmedian(away, axis=0)  # cheap, and nearly all signals end here
    for place in np.flatnonzero(wide).tolist():
        column = np.nan_to_num(away[:, place], nan=0.0, posinf=np.inf)
        moved = np.sort(column[column > 0])
        row = int(np.argmax(column))
        # The lower median: of two differences one may be the outlier's.
        if moved.size > 1:
            spread = moved[(moved.size - 1) // 2]
        else:
            spread = max(abs(np.nanmedian(values[:, place])), 1.0)
        with np.errstate(over="ignore"):
            spreads = float(column[row] / spread)
        if spreads > least:
            yield row, place, spreads
