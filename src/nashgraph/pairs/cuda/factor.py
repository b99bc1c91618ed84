"""A sparse matrix of rows on a device, and its products with vectors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .device import to_device, to_numpy, torch
from .segments import pointers_of, row_sums

LONG = 512  # entries beyond which a row has a program of its own


@dataclass(frozen=True, eq=False)
class Factor:
    """Columns and weights of rows of some lengths, one after the other.

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> weights = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
    >>> Factor(torch.tensor([1, 2]), torch.tensor([1, 0, 1], dtype=torch.int32), weights).product(np.array([1.0, 10.0]))
    array([10., 42.])
    """

    lengths: torch.Tensor
    columns: torch.Tensor
    weights: torch.Tensor

    @cached_property
    def starts(self) -> torch.Tensor:
        """Where each row begins, and where the last one ends."""
        return pointers_of(self.lengths)

    @cached_property
    def classes(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The short rows, and the long ones."""
        long = self.lengths > LONG
        return torch.nonzero(~long).ravel(), torch.nonzero(long).ravel()

    def product(self, vector: Any) -> Any:
        """Return the product with a vector; a tensor where that is one."""
        if isinstance(vector, np.ndarray):
            return to_numpy(self.product(to_device(vector, self.weights)))
        if self.weights.is_cuda:
            return self.by_kernel(vector)
        return row_sums(self.weights * vector[self.columns], self.lengths)

    def by_kernel(self, vector: torch.Tensor) -> torch.Tensor:
        """Return the product with a tensor, by the Triton kernel."""
        from ._rows import multiply_rows  # noqa: PLC0415 (Triton comes with PyTorch for CUDA only)

        product = torch.empty(len(self.lengths), dtype=self.weights.dtype, device=self.weights.device)
        multiply_rows((self.starts, self.columns, self.weights), self.classes, vector.contiguous(), product)
        return product
