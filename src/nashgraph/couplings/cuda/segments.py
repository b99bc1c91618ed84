"""Rows of different lengths, one after the other: sums, orders and projections of each, on any device."""

from __future__ import annotations

from typing import NamedTuple

from .device import torch


def row_sums(values: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Return the sum of each row, the same bits every time.

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> row_sums(torch.tensor([1.0, 2.0, 4.0]), torch.tensor([1, 0, 2]))
    tensor([1., 0., 6.])
    """
    return torch.segment_reduce(values, "sum", lengths=lengths, unsafe=True, initial=0.0)


def pointers_of(lengths: torch.Tensor) -> torch.Tensor:
    """Return where each row begins, and where the last one ends."""
    return torch.nn.functional.pad(torch.cumsum(lengths, 0), (1, 0))


def row_numbers(lengths: torch.Tensor) -> torch.Tensor:
    """Return the row of each entry."""
    return torch.repeat_interleave(torch.arange(len(lengths), dtype=torch.int32, device=lengths.device), lengths)


def order_in_rows(values: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Return the order that sorts the entries of each row upward and leaves the rows where they are."""
    order = torch.argsort(values, stable=True)
    return order[torch.argsort(rows[order], stable=True)]


class Ragged(NamedTuple):
    """Columns of some rows: how many each row has, and all of them in order."""

    lengths: torch.Tensor
    columns: torch.Tensor

    @classmethod
    def joined(cls, n_rows: int, parts: list[tuple[torch.Tensor, Ragged]]) -> Ragged:
        """Return one of parts, each with the rows that it has; together they have every row once."""
        if sum(len(rows) for rows, _ in parts[:-1]) == 0:
            return parts[-1][1]
        lengths = torch.empty(n_rows, dtype=torch.int64, device=parts[0][0].device)
        for rows, part in parts:
            lengths[rows] = part.lengths
        starts = pointers_of(lengths)
        columns = torch.empty(int(starts[-1]), dtype=torch.int32, device=lengths.device)
        for rows, part in parts:
            columns[part.places(starts[rows])] = part.columns
        return cls(lengths, columns)

    def places(self, starts: torch.Tensor) -> torch.Tensor:
        """Return where the entries come to lie in something larger, given where each row begins there."""
        within = torch.arange(len(self.columns), device=starts.device)
        return within + (starts - pointers_of(self.lengths)[:-1])[row_numbers(self.lengths)]


class Projection(NamedTuple):
    """The simplex projection of each row: which entries are positive, their weights, and each row's two thresholds.

    Those are the best score and the weight above it, as the kernels on the CPU have them.
    """

    edges: torch.Tensor
    weights: torch.Tensor
    lengths: torch.Tensor
    top: torch.Tensor
    above: torch.Tensor


def project(scores: torch.Tensor, rows: torch.Tensor, lengths: torch.Tensor, gain: float, total: float) -> Projection:
    """Project ``gain`` times the scores of each row onto the simplex of sum ``total``: Michelot's algorithm, all rows.

    Every round takes the threshold at which the entries left sum to the total and drops those below it, until none
    is; no tolerance is involved.
    """
    top = torch.segment_reduce(scores, "max", lengths=lengths, unsafe=True)
    values = gain * (scores - top[rows])
    edges: torch.Tensor | None = None
    while True:
        above = (total - row_sums(values, lengths)) / lengths
        kept = torch.nonzero(values + above[rows] > 0.0).ravel()
        if len(kept) == len(values):
            break
        values, rows, edges = values[kept], rows[kept], kept if edges is None else edges[kept]
        lengths = torch.bincount(rows, minlength=len(top))
    found = torch.arange(len(values), device=values.device) if edges is None else edges
    return Projection(found, values + above[rows], lengths, top, above)
