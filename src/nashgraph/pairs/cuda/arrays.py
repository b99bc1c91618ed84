"""Vectors on a device that NumPy's operators and functions take, so that nothing above the engines knows PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ...validation import Array
from .tensors import as_tensor, to_numpy, torch


class DeviceArray(NDArrayOperatorsMixin):
    """A tensor behind NumPy's protocols.

    NumPy's functions of single numbers (``np.exp``, ``+``, ``@``) run on the device, under the name that PyTorch has
    for them as well. Any other function gets its arguments in memory, as ``np.asarray`` makes them.
    """

    __array_priority__ = 100

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(to_numpy(self.tensor), dtype=dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        function: Callable[..., torch.Tensor] | None = getattr(torch, ufunc.__name__, None)
        if method != "__call__" or function is None or options:
            return getattr(ufunc, method)(*(in_memory(value) for value in inputs), **options)
        arguments = [self._operand(value) for value in inputs]
        if out is None:
            return DeviceArray(function(*arguments))
        function(*arguments, out=out[0].tensor)
        return out[0]

    def __array_function__(self, function: Callable[..., Any], types: Any, arguments: Any, options: Any) -> Any:
        if function is np.partition:  # sorted: a device does that as fast
            return DeviceArray(torch.sort(arguments[0].tensor).values)
        return function(*(in_memory(value) for value in arguments), **options)

    def _operand(self, value: Any) -> Any:
        """Return an argument as PyTorch takes it: tensors are all in one place."""
        if isinstance(value, DeviceArray):
            return value.tensor
        if isinstance(value, np.ndarray) and value.ndim > 0:
            return as_tensor(value).to(self.tensor.device)
        return float(value)

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each axis."""
        return tuple(self.tensor.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.tensor.ndim

    @property
    def size(self) -> int:
        """The number of entries."""
        return self.tensor.numel()

    @property
    def dtype(self) -> Any:
        """The type of its entries, as NumPy names it."""
        return np.dtype(str(self.tensor.dtype).removeprefix("torch."))

    def __len__(self) -> int:
        return len(self.tensor)

    def __float__(self) -> float:
        return float(self.tensor)

    def __int__(self) -> int:
        return int(self.tensor)

    def __bool__(self) -> bool:
        return bool(self.tensor)

    def __getitem__(self, key: Any) -> DeviceArray:
        if isinstance(key, DeviceArray):
            key = key.tensor
        return DeviceArray(self.tensor[key])

    def ravel(self) -> DeviceArray:
        """Return all entries as one axis."""
        return DeviceArray(self.tensor.ravel())

    def clip(self, min: Any = None, max: Any = None) -> DeviceArray:
        """Return the entries, moved between two bounds."""
        bounds = []
        for bound in (min, max):
            if bound is None or np.ndim(bound) > 0 or isinstance(bound, DeviceArray):
                bounds.append(None if bound is None else self._operand(bound))
            else:
                bounds.append(None if np.isinf(bound) else float(bound))
        if bounds == [None, None]:
            return self
        return DeviceArray(torch.clamp(self.tensor, min=bounds[0], max=bounds[1]))

    def sum(self) -> DeviceArray:
        """Return the sum of all entries."""
        return DeviceArray(self.tensor.sum())

    def mean(self) -> DeviceArray:
        """Return the mean of all entries."""
        return DeviceArray(self.tensor.mean())

    def min(self) -> DeviceArray:
        """Return the least entry."""
        return DeviceArray(self.tensor.min())

    def cumsum(self, axis: int) -> DeviceArray:
        """Return the running sums along an axis."""
        return DeviceArray(torch.cumsum(self.tensor, axis))


def in_memory(value: Any) -> Any:
    """Return a value for a function that knows arrays in memory only."""
    return np.asarray(value) if isinstance(value, DeviceArray) else value
