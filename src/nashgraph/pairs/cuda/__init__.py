r"""Signals and graphs on a GPU (the extra ``gpu``: PyTorch and its Triton), imported when the engine is asked for.

All that is quadratic is one search: for every row i the pairs (i, j) of score :math:`l_i r_j - D_{ij}` above a cut.
It is done in float32 with the error of a distance taken off, so that it may find too many pairs and never too few.
What it finds is a list of candidates, and everything else is computed on the list, in float64.

The list proves its own answers. With all pairs of a row listed whose score under a bonus :math:`(l^0, r^0)` is at least
``cut``, a pair that is not listed has a score below :math:`cut_i + \max_j (l_i r_j - l^0_i r^0_j)` under another bonus
(l, r). Where the row's threshold lies above that, its best response among the pairs listed is that among all pairs;
where not, the row is searched again. So most best responses need no pass over all pairs at all.
"""
