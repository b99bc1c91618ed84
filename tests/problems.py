"""Makers of small random problems, and slow oracles to check fast code against."""

import numpy as np


def random_graph(n, c, random, density=0.6):
    """A random W in S: about density * n neighbours per row, at least one."""
    weights = random.random((n, n)) * (random.random((n, n)) < density)
    np.fill_diagonal(weights, 0.0)
    weights[np.arange(n), (np.arange(n) + 1) % n] += 0.1
    return c * weights / weights.sum(axis=1, keepdims=True)


def simplex_oracle(scores, skip, total):
    """Project by trying every number of positive entries on the sorted row: slow, and plainly right."""
    others = np.delete(np.asarray(scores, dtype=np.longdouble), skip)
    ordered = np.sort(others)[::-1]
    best = None
    for k in range(1, len(ordered) + 1):
        # Differences from the largest, so that huge scores do not swallow the total.
        eta = (np.longdouble(total) - (ordered[:k] - ordered[0]).sum()) / k
        weights = np.maximum((others - ordered[0]) + eta, 0)
        gap = abs(weights.sum() - total)
        if best is None or gap < best[0]:
            best = (gap, weights)
    return np.insert(best[1].astype(float), skip, 0.0)
