r"""The engine "cuda": signals, candidates and graphs on a GPU (the extra ``gpu``: PyTorch and its Triton)."""
