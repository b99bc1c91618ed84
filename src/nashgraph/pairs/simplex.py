r"""The admissible graphs S and the row best response.

S = { W >= 0, diag W = 0, W 1 = c 1 }. A row of W is a point of a simplex, and every graph this library learns is
a Euclidean projection onto S, row by row (facts 2 and 3 of docs/mathematics.md).
"""

from __future__ import annotations

import numpy as np

from ..validation import Array, InputError, check_number, check_square
from . import _kernels


def project_rows(scores: Array, total: float = 1.0, *, skip: Array | None = None) -> tuple[Array, Array]:
    r"""Project each row of a square matrix of scores onto a simplex that leaves out the diagonal.

    .. math:: w_i = \arg\min_w \|w - s_i\|^2 \quad\text{s.t.}\quad w \ge 0,\; w_{ii} = 0,\; \textstyle\sum_j w_j = c

    The optimality condition is :math:`w_{ij} = \max(0, s_{ij} + \eta_i)` for :math:`j \ne i` with the one
    :math:`\eta_i` that makes the row sum to c. The active set is found exactly, so no tolerance is involved.

    ``total`` is c, and ``skip`` the column that each row leaves out, for rows that are not those of a square matrix.
    Returned are a new array of weights and the thresholds :math:`\eta_i`.

    References
    ----------
    Michelot, *A finite algorithm for finding the projection of a point onto the canonical simplex* (1986);
    Condat, *Fast projection onto the simplex and the l1 ball* (2016).

    Examples
    --------
    >>> import numpy as np
    >>> weights, threshold = project_rows(np.array([[9.0, 0.0, 0.0], [1.0, 9.0, 0.0], [0.5, 0.0, 9.0]]))
    >>> weights
    array([[0.  , 0.5 , 0.5 ],
           [1.  , 0.  , 0.  ],
           [0.75, 0.25, 0.  ]])
    >>> threshold
    array([0.5 , 0.  , 0.25])
    """
    if skip is None:
        scores = check_square("scores", scores, "pass one row of scores per node")
    rows = np.array(scores, order="C")
    if rows.shape[1] < 2:
        raise InputError(f"scores has {rows.shape[1]} node(s) and a graph needs at least 2")
    total = check_number("total", total, low=0, open_low=True, remedy="it is the sum of each row, for example 0.95")
    eta = np.empty(len(rows), rows.dtype)
    _kernels.project_rows_inplace(rows, np.arange(len(rows)) if skip is None else skip, total, eta)
    return rows, eta
