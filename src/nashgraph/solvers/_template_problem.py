r"""What the solvers of spectral templates are given, and what they return.

Nodes with the same entry in every template are taken as one (see :class:`._node_classes.Classes`). The problem is
convex, so averaging a solution over all exchanges of such nodes gives a solution in which they are alike; the
templates are constant on classes, and what S does to vectors that are not pairs no template with anything. So S
may be replaced by :math:`\bar S` in the distance. The anchor is a class of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..validation import Array
from ._node_classes import Classes

# Entries of unit vectors that agree to this many decimals are equal: eigenvectors are not known better.
DECIMALS = 10


class Merged(NamedTuple):
    """Templates on classes of nodes.

    Attributes
    ----------
    vectors : array of shape (n_classes, n_templates), orthonormal columns
    classes : Classes
    anchor : int, the class of the anchor

    Examples
    --------
    >>> import numpy as np
    >>> merged = Merged.of(np.full((4, 1), 0.5), anchor=1)
    >>> merged.classes.labels, merged.vectors.round(2)
    (array([0, 1, 0, 0]), array([[0.87],
           [0.5 ]]))
    """

    vectors: Array
    classes: Classes
    anchor: int

    @classmethod
    def of(cls, templates: Array, anchor: int) -> Merged:
        """Merge the nodes with equal entries, all but the anchor."""
        alone = np.arange(len(templates)) == anchor
        classes = Classes.of(np.column_stack([templates.round(DECIMALS), alone]))
        vectors = templates[classes.members] * classes.roots[:, None]
        return cls(vectors, classes, int(classes.labels[anchor]))

    @property
    def n_rows(self) -> int:
        """The number of entries that the distance is made of."""
        n, known = self.vectors.shape
        return known * (2 * n - known - 1) // 2


class Nearest(NamedTuple):
    """The smallest distance of any admissible graph, its accuracy, and the weights of that graph.

    Examples
    --------
    >>> import numpy as np
    >>> Nearest(distance=0.0, error=1e-11, weights=np.zeros((2, 2)), iterations=12).iterations
    12
    """

    distance: float
    error: float
    weights: Array
    iterations: int


class Sparsest(NamedTuple):
    """The weights of the edges within and between classes, with their certificate.

    Examples
    --------
    >>> import numpy as np
    >>> Sparsest(np.zeros((2, 2)), distance=0.1, gap=1e-8, iterations=12, feasible=True).gap
    1e-08
    """

    weights: Array
    distance: float
    gap: float
    iterations: int
    feasible: bool
