"""
Missing answers
===============

People skip questions. There are three ways to go on: leave out whoever skipped anything, fill the gaps in, or compare
two nodes over the answers that both of them gave. ``missing="pairwise"`` does the last: where either has a gap they
count as typically different, so that few answers make nobody a hub, and nobody is dropped.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.impute import KNNImputer, SimpleImputer

from nashgraph import SmoothGL, edge_auc
from nashgraph.datasets import random_geometric, smooth_signals

places = random_geometric(100, degree=6, random_state=0)
complete = smooth_signals(places, n_signals=60, filter="tikhonov", noise=0.1, random_state=0)

# %%
# By default a gap is an error that says where the first one is. Nothing is filled in silently.

random = np.random.default_rng(0)
X = complete.copy()
X[random.random(X.shape) < 0.2] = np.nan
try:
    SmoothGL().fit(X)
except ValueError as error:
    print(error)

# %%
# With 20 % missing at random, hardly a signal is complete and no node is, so dropping is out of the question.

print(f"complete signals: {(~np.isnan(X)).all(axis=1).sum()} of {X.shape[0]}; ", end="")
print(f"complete nodes: {(~np.isnan(X)).all(axis=0).sum()} of {X.shape[1]}")
model = SmoothGL(degree=6, missing="pairwise").fit(X)
print(f"AUC with gaps {edge_auc(places, model.adjacency_):.3f}, ", end="")
print(f"without {edge_auc(places, SmoothGL(degree=6).fit(complete).adjacency_):.3f}")

# %%
# How do the ways compare as more is missing? An imputer of scikit-learn fills a feature from its other samples, so the
# table is turned over: nodes as samples. A mean pulls nodes with gaps toward each other; nearest nodes do not. Five
# draws of the gaps each.


def ways(X):
    """Return the graph learned from signals with gaps, in three ways."""
    return {
        "pairwise": SmoothGL(degree=6, missing="pairwise").fit(X),
        "filled with the mean": SmoothGL(degree=6).fit(SimpleImputer().fit_transform(X.T).T),
        "filled from 5 nearest": SmoothGL(degree=6).fit(KNNImputer(n_neighbors=5).fit_transform(X.T).T),
    }


rows = []
shares = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
for share in shares:
    for seed in range(5):
        gaps = np.random.default_rng(seed).random(complete.shape) < share
        for name, fitted in ways(np.where(gaps, np.nan, complete)).items():
            rows.append((share, name, edge_auc(places, fitted.adjacency_)))
scores = pd.DataFrame(rows, columns=["missing", "way", "auc"]).groupby(["missing", "way"], sort=False).auc.mean()
scores = scores.unstack()
print(scores.round(3))

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, style in zip(scores, ("o-", "v:", "s--"), strict=True):
    color = {"o-": "#0072b2", "v:": "#8c8c8c", "s--": "#d55e00"}[style]
    ax.plot(100 * scores.index, scores[name], style, color=color, label=name)
ax.set_xlabel("per cent of answers missing, at random")
ax.set_ylabel("AUC")
ax.legend(frameon=False)
plt.show()

# %%
# Filling from the nearest nodes does best on these signals: they are smooth, so a node's nearest know what it would
# have answered. Pairwise distances assume nothing of the kind, and get noisier as two nodes share fewer answers. The
# mean is as good or a little better while little is missing, and the worst when much is.

assert scores.idxmax(axis=1)[1:].eq("filled from 5 nearest").all()
assert scores.loc[0.5].idxmin() == "filled with the mean"

# %%
# Two nodes that share no answer at all have no distance, and the library says which they are instead of guessing.

X[: len(X) // 2, 0] = np.nan
X[len(X) // 2 :, 1] = np.nan
try:
    SmoothGL(missing="pairwise").fit(X)
except ValueError as error:
    print(error)

# %%
# All of this is for answers missing *at random*. If people skip a question *because* of what they would have said, none
# of the three is right, and the gap itself may be the best signal: code "did not answer" as a category of its own.
