"""PyTorch, found when first used, and rows of different lengths as tensors: sums, orders and projections of each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...decisions import Remedy
from ...validation import Array, InputError

if TYPE_CHECKING:
    import torch as torch  # noqa: PLC0414 (other modules import it from here)
else:

    class Later:
        """PyTorch, imported when first used. With lazy-loader, SciPy would take it for imported."""

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module("torch"), name)

    torch = Later()

TABLE = 1 << 25  # entries sorted at a time


def has_gpu() -> bool:
    """Tell whether PyTorch is here and sees a GPU; without PyTorch nothing is imported."""
    return find_spec("torch") is not None and bool(torch.cuda.is_available())


def gpu() -> torch.device:
    """Return the GPU, or say what is missing."""
    if find_spec("torch") is None:
        raise InputError(
            "the engine cuda needs PyTorch, which is not installed: pip install 'nashgraph[gpu]'",
            parameter="engine",
            remedy=Remedy("engine", "threads"),
        )
    if not torch.cuda.is_available():
        raise InputError(
            f"the engine cuda needs an NVIDIA GPU, and PyTorch {torch.__version__} sees none: check nvidia-smi and "
            "that this PyTorch is built for CUDA (https://pytorch.org)",
            parameter="engine",
            remedy=Remedy("engine", "threads"),
        )
    return torch.device("cuda")


def to_numpy(tensor: torch.Tensor) -> Array:
    """Return a tensor as an array in memory."""
    found: Array = tensor.cpu().numpy()
    return found


def to_device(array: Any, like: torch.Tensor) -> torch.Tensor:
    """Return an array as a tensor of the same kind and in the same place as another."""
    return as_tensor(array).to(like.device, like.dtype)


def as_tensor(array: Any) -> torch.Tensor:
    """Return an array as a tensor in memory; a copy if it must not be written to or runs backward."""
    array = np.require(array, requirements=["C", "W"])
    return torch.from_numpy(array if min(array.strides, default=0) >= 0 else array.copy())


@contextmanager
def memory_said() -> Iterator[None]:
    """Say what to do where the GPU's memory does not do."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise InputError(
            "the GPU has too little memory for this problem: ask for a smaller degree (or beta), join nodes with equal "
            "signals, or use the processor, which can do without storing graphs",
            remedy=Remedy("engine", "threads"),
        ) from error


def row_sums(values: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Return the sum of each row, the same bits every time."""
    return torch.segment_reduce(values, "sum", lengths=lengths, unsafe=True, initial=0.0)


def pointers_of(lengths: torch.Tensor) -> torch.Tensor:
    """Return where each row begins, and where the last one ends."""
    return torch.nn.functional.pad(torch.cumsum(lengths, 0), (1, 0))


def row_numbers(lengths: torch.Tensor) -> torch.Tensor:
    """Return the row of each entry."""
    return torch.repeat_interleave(torch.arange(len(lengths), dtype=torch.int32, device=lengths.device), lengths)


def places_of(lengths: torch.Tensor, starts: torch.Tensor) -> torch.Tensor:
    """Return where the entries of rows lie in something larger, given where each row begins there."""
    shifts = starts[: len(lengths)] - pointers_of(lengths)[:-1]
    spread = torch.repeat_interleave(shifts, lengths)
    return spread.add_(torch.arange(len(spread), device=starts.device))


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
            columns[places_of(part.lengths, starts[rows])] = part.columns
        return cls(lengths, columns)

    def with_also(self, other: Ragged, n_columns: int) -> Ragged:
        """Return the union with other columns of the same rows, upward in each row."""
        # Row and column as one number: sorted, equal pairs stand together.
        keys = torch.cat([part.keys(n_columns) for part in (self, other)])
        keys = torch.unique_consecutive(torch.sort(keys).values)
        rows = torch.div(keys, n_columns, rounding_mode="floor")
        return Ragged(torch.bincount(rows, minlength=len(self.lengths)), (keys - rows * n_columns).int())

    def keys(self, n_columns: int) -> torch.Tensor:
        """Return row and column of each entry as one number."""
        return row_numbers(self.lengths).long() * n_columns + self.columns


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
    """Project ``gain`` times the scores of each row onto the simplex of sum ``total``, by Michelot's algorithm."""
    top = torch.segment_reduce(scores, "max", lengths=lengths, unsafe=True)
    values = gain * (scores - top[rows])
    edges: torch.Tensor | None = None
    # Michelot's algorithm: the threshold of those that are left, then only those above it, until none is dropped.
    while True:
        above = (total - row_sums(values, lengths)) / lengths
        kept = torch.nonzero(values + above[rows] > 0.0).ravel()
        if len(kept) == len(values):
            break
        values = values[kept]
        rows = rows[kept]
        edges = kept if edges is None else edges[kept]
        lengths = torch.bincount(rows, minlength=len(top))
    if edges is None:
        found = torch.arange(len(values), device=values.device)
    else:
        found = edges
    return Projection(found, values + above[rows], lengths, top, above)


def project_in_place(
    starts: torch.Tensor,
    lengths: torch.Tensor,
    columns: torch.Tensor,
    costs: torch.Tensor,
    sides: tuple[torch.Tensor, torch.Tensor],
    gain: float,
    total: float,
) -> Projection:
    """Do what :func:`project` does to the scores ``left_i * right_j - cost`` of candidate pairs, by the Triton kernel.

    Rows may begin anywhere; what lies between them is not looked at.
    """
    from ._kernels import project_candidates  # noqa: PLC0415 (Triton comes with PyTorch for CUDA only)

    numbers = torch.tensor([gain, total], dtype=torch.float64, device=costs.device)
    edges = torch.empty_like(columns)
    counts = torch.empty_like(lengths)
    weights = torch.empty(len(columns), dtype=torch.float64, device=costs.device)
    top, above = torch.empty((2, len(lengths)), dtype=torch.float64, device=costs.device)
    project_candidates((starts, lengths, columns, costs), sides, numbers, (edges, weights, counts, top, above))
    places = places_of(counts, starts)
    return Projection(edges[places] + torch.repeat_interleave(starts, counts), weights[places], counts, top, above)


def smallest(
    values: torch.Tensor, chances: torch.Tensor, starts: torch.Tensor, lengths: torch.Tensor, count: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the ``count`` smallest entries of some rows, sorted upward, and where they are; no row is shorter.

    Among equal entries those of least chance come first. Rows of like length are sorted together, as a table.
    """
    least = values.new_empty((len(lengths), count))
    places = starts.new_empty((len(lengths), count))
    order = torch.argsort(lengths, descending=True)
    while len(order):
        within = torch.arange(int(lengths[order[0]]), device=values.device)
        some, order = order.tensor_split([max(1, TABLE // len(within))])
        entries = (starts[some, None] + within).clamp_(max=len(values) - 1)
        by_chance = torch.argsort(chances[entries], dim=1)
        table = values[entries]
        table[within >= lengths[some, None]] = torch.inf
        ordered, ranks = torch.sort(torch.take_along_dim(table, by_chance, dim=1), dim=1, stable=True)
        least[some] = ordered[:, :count]
        places[some] = starts[some, None] + torch.take_along_dim(by_chance, ranks[:, :count], dim=1)
    return least, places
