"""Signals with missing entries, for the tests of methods that accept them."""

import numpy as np


def with_gaps(X, random, share=0.1):
    """The signals with a share of their entries missing, but none of the first, so that all nodes share one."""
    gaps = random.random(X.shape) < share
    gaps[0] = False
    return np.where(gaps, np.nan, X)
