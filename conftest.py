"""What pytest must leave alone: the GPU's modules where PyTorch is not installed, and its kernels without Triton."""

from importlib.util import find_spec

CUDA = "src/nashgraph/pairs/cuda"
collect_ignore_glob = [] if find_spec("torch") else [f"{CUDA}/*.py"]
collect_ignore = [] if find_spec("triton") else [f"{CUDA}/_kernels.py"]
