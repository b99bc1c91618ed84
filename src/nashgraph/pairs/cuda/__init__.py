r"""The engine "cuda": signals, candidates and graphs on a GPU (the extra ``gpu``: PyTorch and its Triton).

All that is quadratic is one search: for every row i the pairs (i, j) of score :math:`\langle L_i, R_j \rangle - D_{ij}`
above a cut. For bonuses of rank one it is done in float32 with its error taken off, so that it may find too many pairs
and never too few. All else is computed on the candidates it finds, in float64; they prove their best responses as
:mod:`nashgraph.pairs.candidates` says.
"""
