"""PyTorch, where it is wanted: found when first used, with a word on what to do where it or a GPU is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from ...validation import Array, InputError

if TYPE_CHECKING:
    import torch
else:

    class Later:
        """PyTorch, imported when something of it is first asked for.

        It is not put among the modules before, as lazy-loader would: SciPy takes what is there for imported.
        """

        def __getattr__(self, name: str) -> Any:
            """Return what PyTorch has of that name."""
            return getattr(import_module("torch"), name)

    torch = Later()

__all__ = ["FIRST_NODES", "as_tensor", "gpu", "has_gpu", "memory_said", "to_device", "to_numpy", "torch"]

FIRST_NODES = 20_000  # below, two cores are done before a GPU has compiled its kernel


def has_gpu() -> bool:
    """Tell whether PyTorch is here and sees a GPU; without PyTorch nothing is imported."""
    return find_spec("torch") is not None and bool(torch.cuda.is_available())


def gpu() -> torch.device:
    """Return the GPU, or say what is missing."""
    if find_spec("torch") is None:
        raise InputError(
            "engine='cuda' needs PyTorch, which is not installed: pip install 'nashgraph[gpu]', or take "
            "engine='threads'"
        )
    if not torch.cuda.is_available():
        raise InputError(
            f"engine='cuda' needs an NVIDIA GPU, and PyTorch {torch.__version__} sees none: check nvidia-smi and that "
            "this PyTorch is built for CUDA (https://pytorch.org), or take engine='threads'"
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
    """Return an array as a tensor in memory; what must not be written to is copied, for PyTorch knows no such thing."""
    return torch.from_numpy(np.require(array, requirements=["C", "W"]))


@contextmanager
def memory_said() -> Iterator[None]:
    """Say what to do where the GPU's memory does not do."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise InputError(
            "the GPU has too little memory for this problem: ask for a smaller degree (or beta), join nodes with equal "
            "signals, or take engine='threads', which can do without storing graphs"
        ) from error
