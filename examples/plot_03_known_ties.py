"""
Some ties are known
===================

Some people were asked for all their friends, the others were not. The tie model learns from the known ties how much
likeness of signals and traits say about ties, and gives every other pair a probability.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score

from nashgraph import ConsensusGL, TieModel
from nashgraph.datasets import smooth_signals, stochastic_block_model

network = stochastic_block_model(60, n_blocks=3, degree=8, random_state=0)
truth = nx.to_numpy_array(network, weight=None)

# %%
# Twenty signals. The network made five of them; the others are noise, as in a survey where most questions have nothing
# to do with ties. Everybody's neighbourhood is known as well: one trait for each block.

made = smooth_signals(network, n_signals=5, filter="heat", random_state=0)
made /= made.std(axis=1, keepdims=True)
X = np.vstack([made, np.random.default_rng(0).normal(size=(15, 60))])
traits = pd.get_dummies([network.nodes[node]["block"] for node in network], prefix="block", dtype=float)
plain = ConsensusGL(n_replicates=0, random_state=0).fit(X)

# %%
# More and more people, drawn at random, are asked for all their ties. Only pairs that nobody was asked about are
# scored. The control is the plain consensus on the same pairs.


def scores(asked):
    """Return the average precision with known ties, without them, and by chance, on pairs of those not asked."""
    known = {"ties": [pair for pair in network.edges() if set(pair) & set(asked)], "nodes": asked}
    others = np.setdiff1d(np.arange(60), asked)
    pairs = tuple(others[np.stack(np.triu_indices(len(others), 1))])
    found = {
        "known ties and signals": TieModel().fit(X, known=known).probabilities().to_numpy(),
        "known ties, signals and traits": TieModel().fit(X, traits=traits, known=known).probabilities().to_numpy(),
        "signals alone": plain.evidence_.toarray(),
    }
    rows = {name: average_precision_score(truth[pairs], score[pairs]) for name, score in found.items()}
    return rows | {"chance": truth[pairs].mean()}


rows = []
for count in (6, 12, 24):
    for seed in range(3):
        asked = [int(k) for k in np.random.default_rng(seed).permutation(60)[:count]]
        rows.append({"people asked": count, **scores(asked)})
found = pd.DataFrame(rows).groupby("people asked").mean()
print(found.round(3).T)

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, style, color in (
    ("known ties, signals and traits", "o-", "#0072b2"),
    ("known ties and signals", "^-", "#009e73"),
    ("signals alone", "s--", "#d55e00"),
    ("chance", "v:", "#8c8c8c"),
):
    ax.plot(found.index, found[name], style, color=color, label=name)
ax.set_xlabel("people asked for all their ties, of 60")
ax.set_ylabel("average precision on the other pairs")
ax.set_ylim(0)
ax.legend(frameon=False)
plt.show()

# %%
# Known ties give probabilities. They improve the order of the pairs here only if traits are given too, from twelve
# people on: the model then learns how much each trait counts. The weights of the traits, in log-odds:

asked = [int(k) for k in np.random.default_rng(0).permutation(60)[:24]]
ties = [pair for pair in network.edges() if set(pair) & set(asked)]
model = TieModel().fit(X, traits=traits, known={"ties": ties, "nodes": asked})
weights = model.weights_.sort_values("share", ascending=False)
print(weights[["name", "weight", "standard_error", "share"]].head(6).round(2).to_string(index=False))
