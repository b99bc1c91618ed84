"""Covariates of pairs as terms: every pair is in one cell of a term, and features are functions of the cell.

Categories and binned numbers give a table of cells (code of one end × code of the other), places give bins of
distance, and a table of pairs (kinship) gives a cell for every listed value. A linear predictor is then a sum of one
number for each term, whatever the number of features, and a gradient is a sum by cell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..compiled import kernel
from ..validation import Array
from .report_kernels import CODES, DISTANCE, LISTED, SAME_CODE, SAME_GROUP, PairData, fill_cells

ROWS_FOR_SPREAD = 400  # people whose pairs estimate how often a cell occurs
SAME_SPREAD = 1e-9  # below it, a feature is the same for all pairs


class Use(NamedTuple):
    """The use of a term. ``by_group``: it is equal for all members of a group, so it can explain the class."""

    by_group: bool = False
    in_class: bool = False
    in_tie: bool = True
    in_report: bool = False


PLAIN = Use()


@dataclass(frozen=True)
class PairTerm:
    """One covariate of pairs.

    ``features`` has a row for every cell and a named column for every feature. ``natural`` has the weights of the
    features in the likeness that all questions share (its own weight is estimated), in units of the raw features.
    """

    label: str
    kind: int
    features: Array
    names: list[str]
    codes: Array | None = None
    points: Array | None = None
    edges: Array | None = None
    listed: tuple[Array, Array, Array] | None = None
    use: Use = PLAIN
    natural: Array | None = None

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.features)

    def reordered(self, order: Array, place: Array) -> PairTerm:
        """Return the term with people in another order: entry k is person ``order[k]``."""
        codes = None if self.codes is None else self.codes[order]
        points = None if self.points is None else self.points[order]
        listed = self.listed
        if listed is not None:
            listed = (place[listed[0]], place[listed[1]], listed[2])
        return replace(self, codes=codes, points=points, listed=listed)


def everything() -> PairTerm:
    """Return the term of the intercepts: all pairs are in its one cell."""
    return PairTerm("level", CODES, np.ones((1, 1)), ["level"], use=Use(by_group=True))


def category_term(label: str, codes: Array, use: Use = PLAIN, likeness: float = 0.0) -> PairTerm:
    """Return a term of a category: likeness, whether both have the same, and how sociable each category is.

    Likeness is the inner product of the standardised indicators, so a shared rare answer says most. ``likeness`` is
    its natural weight. A missing category (−1) is a code of its own that is like nothing.
    """
    codes = np.asarray(codes, dtype=np.int64)
    n_known = int(codes.max()) + 1
    missing = codes < 0
    share = np.bincount(codes[~missing], minlength=n_known) / max(1, int((~missing).sum()))
    n_codes = n_known + bool(missing.any())
    codes = np.where(missing, n_codes - 1, codes)
    one, other = _code_pairs(n_codes)
    same = ((one == other) & (one < n_known)).astype(float)
    indicators = np.zeros((n_codes, n_known))
    indicators[:n_known] = (np.eye(n_known) - share) / np.sqrt(np.maximum(share * (1.0 - share), 1e-12))
    columns = [(indicators[one] * indicators[other]).sum(axis=1)]
    names = [f"likeness in {label}"]
    if n_known > 2:
        columns.append(same)
        names.append(f"same {label}")
    for code in range(1, n_codes):
        columns.append((one == code).astype(float) + (other == code))
        names.append(f"{label} {code}")
    natural = np.zeros(len(names))
    natural[0] = likeness
    return PairTerm(label, CODES, np.column_stack(columns), names, codes=codes, use=use, natural=natural)


def number_term(label: str, values: Array, use: Use = PLAIN, likeness: float = 0.0, n_bins: int = 10) -> PairTerm:
    """Return a term of a number: likeness (product of the standardised numbers), closeness, and their sum.

    ``n_bins`` bins of equal numbers of people: 10 keep 97% of the variance of a normal number.
    """
    values = np.asarray(values, dtype=float)
    missing = np.isnan(values)
    levels = np.unique(values[~missing])
    if len(levels) > n_bins:
        cuts = np.unique(np.quantile(values[~missing], np.arange(1, n_bins) / n_bins))
        codes = np.searchsorted(cuts, values, side="left")
    else:
        codes = np.searchsorted(levels, values)
    codes = np.where(missing, 0, codes)
    used, codes = np.unique(codes, return_inverse=True)
    means = np.array([values[(codes == code) & ~missing].mean() for code in range(len(used))])
    means = (means - np.mean(values[~missing])) / max(float(np.std(values[~missing])), 1e-12)
    if missing.any():
        codes = np.where(missing, len(used), codes)
        means = np.append(means, 0.0)
    one, other = _code_pairs(len(means))
    columns = [means[one] * means[other]]
    names = [f"likeness in {label}"]
    if len(used) > 2:
        columns.append(-np.abs(means[one] - means[other]))
        names.append(f"closeness of {label}")
    columns.append(means[one] + means[other])
    names.append(f"sum of {label}")
    natural = np.zeros(len(names))
    natural[0] = likeness
    return PairTerm(label, CODES, np.column_stack(columns), names, codes=codes, use=use, natural=natural)


def membership_term(label: str, codes: Array, use: Use = PLAIN) -> PairTerm:
    """Return the term that says whether two people are in one group; −1 is in none. Any number of groups."""
    return PairTerm(label, SAME_CODE, np.array([[0.0], [1.0]]), [f"same {label}"], codes=np.asarray(codes), use=use)


def place_term(label: str, points: Array, use: Use = PLAIN, seed: int = 0) -> PairTerm:
    """Return a term of the distance between two places: a step at every doubling of the people within it, and its log.

    The edges are the distances within which a person has 1, √2, 2, 2√2, … others on average, so no unit is assumed.
    Pairs with an unknown place have a cell of their own, with the mean features.
    """
    points = np.asarray(points, dtype=float)
    points = points.reshape(len(points), -1)
    n_people = len(points)
    sample = np.random.default_rng(seed).permutation(n_people)[:ROWS_FOR_SPREAD]
    gaps = np.sqrt(((points[sample, None, :] - points[None, :, :]) ** 2).sum(axis=2))
    gaps[np.arange(len(sample)), sample] = np.nan
    gaps = np.sort(gaps[np.isfinite(gaps)])
    within = 2.0 ** np.arange(0.0, np.log2(max(2.0, n_people / 1.5)), 0.5) / max(1, n_people - 1)
    edges = np.unique(gaps[np.minimum((within * len(gaps)).astype(np.int64), len(gaps) - 1)])
    place = np.searchsorted(edges, gaps, side="left")
    middle = np.append(edges, edges[-1])
    for k in range(len(middle)):
        if (place == k).any():
            middle[k] = gaps[place == k].mean()
    unit = max(float(edges[edges > 0][0]) if (edges > 0).any() else 1.0, 1e-12)
    columns = [-np.log1p(middle / unit)]
    names = [f"nearness of {label}"]
    for step in range(0, len(edges), 2):
        columns.append((np.arange(len(edges) + 1) <= step).astype(float))
        names.append(f"{label} within {edges[step]:.3g}")
    features = np.column_stack(columns)
    share = np.bincount(place, minlength=len(features)) / max(1, len(place))
    features = np.vstack([features, share @ features])
    return PairTerm(label, DISTANCE, features, names, points=points, edges=edges**2, use=use)


def listed_term(label: str, one: Array, other: Array, values: Array, use: Use = PLAIN, n_bins: int = 12) -> PairTerm:
    """Return a term of a table of pairs: cell 0 for pairs that are not in it, else their value, binned if need be."""
    values = np.asarray(values, dtype=float)
    levels = np.unique(values)
    if len(levels) > n_bins:
        cuts = np.unique(np.quantile(values, np.arange(1, n_bins) / n_bins))
        codes = np.searchsorted(cuts, values, side="left")
        levels = np.array([values[codes == k].mean() if (codes == k).any() else 0.0 for k in range(len(cuts) + 1)])
    else:
        codes = np.searchsorted(levels, values)
    features = np.concatenate([[0.0], levels])[:, None]
    return PairTerm(label, LISTED, features, [label], listed=(one, other, codes + 1), use=use)


def group_term(label: str = "same group", use: Use = PLAIN) -> PairTerm:
    """Return the term that says whether two people are of one group (the unit that shares ties)."""
    return PairTerm(label, SAME_GROUP, np.array([[0.0], [1.0]]), [label], use=use)


def _code_pairs(n_codes: int) -> tuple[Array, Array]:
    cells = np.arange(n_codes * n_codes)
    return cells // n_codes, cells % n_codes


@dataclass(frozen=True)
class TermLayout:
    """Terms side by side: arrays for the kernels, and the standardised features of all cells.

    ``basis`` (cells × features) is standardised over pairs except for the level, its first column; ``spread`` has the
    standard deviations that it was divided by. ``likeness`` has the likeness that all questions share, by cell.
    """

    terms: list[PairTerm]
    kernel_arrays: dict[str, Any]
    basis: Array
    spread: Array
    likeness: Array
    names: list[str]
    term_of: Array
    first_cell: Array


def layout(terms: list[PairTerm], n_people: int) -> TermLayout:
    """Put the terms side by side, those that are equal within groups first."""
    terms = [everything(), *sorted(terms, key=lambda term: not term.use.by_group)]
    n_terms = len(terms)
    first_cell = np.concatenate([[0], np.cumsum([term.n_cells for term in terms])]).astype(np.int64)
    codes = np.zeros((n_terms, n_people), dtype=np.int64)
    n_codes = np.ones(n_terms, dtype=np.int64)
    for k, term in enumerate(terms):
        if term.codes is not None:
            codes[k] = term.codes
        if term.kind == CODES:
            n_codes[k] = round(np.sqrt(term.n_cells))
    kernel_arrays: dict[str, Any] = {
        "n_group_terms": sum(term.use.by_group for term in terms),
        "kinds": np.array([term.kind for term in terms], dtype=np.int64),
        "first_cell": first_cell,
        "n_codes": n_codes,
        "codes": codes,
        **_places(terms, n_people),
        **_listed_pairs(terms, n_people),
    }
    n_names = [len(term.names) for term in terms]
    ends = np.cumsum([0, *n_names])
    basis = np.zeros((first_cell[-1], ends[-1]))
    for k, term in enumerate(terms):
        basis[first_cell[k] : first_cell[k + 1], ends[k] : ends[k + 1]] = term.features
    names = [name for term in terms for name in term.names]
    term_of = np.repeat(np.arange(n_terms), n_names)
    return TermLayout(
        terms, kernel_arrays, basis, np.ones(len(names)), np.zeros(len(basis)), names, term_of, first_cell
    )


def _places(terms: list[PairTerm], n_people: int) -> dict[str, Any]:
    """Return the coordinates of all terms of distance in one array, and their edges."""
    most_edges = max([len(term.edges) for term in terms if term.edges is not None], default=1)
    edges = np.zeros((len(terms), most_edges))
    n_edges = np.zeros(len(terms), dtype=np.int64)
    columns = np.zeros((len(terms), 2), dtype=np.int64)
    points = [np.zeros((n_people, 0))]
    width = 0
    for k, term in enumerate(terms):
        if term.points is None or term.edges is None:
            continue
        points.append(term.points)
        columns[k] = width, width + term.points.shape[1]
        width += term.points.shape[1]
        edges[k, : len(term.edges)] = term.edges
        n_edges[k] = len(term.edges)
    return {"points": np.hstack(points), "point_columns": columns, "edges": edges, "n_edges": n_edges}


def _listed_pairs(terms: list[PairTerm], n_people: int) -> dict[str, Any]:
    """Return all tables of pairs as one CSR, a block of rows for each term."""
    start = np.zeros((len(terms), n_people + 1), dtype=np.int64)
    others = [np.zeros(0, dtype=np.int64)]
    cells = [np.zeros(0, dtype=np.int64)]
    count = 0
    for k, term in enumerate(terms):
        if term.listed is None:
            continue
        one, other, cell = term.listed
        rows = np.concatenate([one, other])
        ends = np.concatenate([other, one])
        order = np.lexsort((ends, rows))
        start[k] = count + np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_people))])
        others.append(ends[order].astype(np.int64))
        cells.append(np.tile(cell, 2)[order].astype(np.int64))
        count += len(rows)
    return {"listed_start": start, "listed_other": np.concatenate(others), "listed_cell": np.concatenate(cells)}


def standardised(terms: TermLayout, data: PairData, seed: int = 0) -> TermLayout:
    """Return the layout with features of mean 0 and spread 1 over the pairs of a sample of people."""
    n_people = len(data.group)
    sample = np.random.default_rng(seed).permutation(n_people)[:ROWS_FOR_SPREAD]
    counts = cell_counts(data, sample)
    basis = terms.basis.copy()
    spread = terms.spread.copy()
    likeness = np.zeros(len(basis))
    natural = [np.zeros(len(term.names)) if term.natural is None else term.natural for term in terms.terms]
    weights = np.concatenate(natural)
    for column in range(1, basis.shape[1]):
        term = terms.term_of[column]
        part = slice(terms.first_cell[term], terms.first_cell[term + 1])
        share = counts[part] / max(1.0, counts[part].sum())
        centred = basis[part, column] - share @ basis[part, column]
        deviation = np.sqrt(share @ centred**2)
        spread[column] = deviation
        likeness[part] += weights[column] * centred
        basis[part, column] = centred / deviation if deviation > SAME_SPREAD else 0.0
    return replace(terms, basis=basis, spread=spread, likeness=likeness)


@kernel()
def cell_counts(data: PairData, people: Array) -> Array:
    """Count in how many pairs of some people with all others each cell occurs."""
    counts = np.zeros(data.first_cell[-1])
    cells = np.zeros(len(data.group), dtype=np.int32)
    everybody = np.int64(0)  # the literal 0 would compile the function a second time
    for i in people:
        for term in range(len(data.kinds)):
            fill_cells(data, term, i, everybody, cells)
            for j in range(len(cells)):
                if i != j and (data.within or data.group[i] != data.group[j]):
                    counts[cells[j]] += 1.0
    return counts
