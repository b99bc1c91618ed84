"""
Some ties are known
===================

Some people were asked for all their friends, the others were not. The consensus learns from the known ties which
signals matter, and gives every other pair a probability.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score

from nashgraph import ConsensusGL
from nashgraph.datasets import smooth_signals, stochastic_block_model

network = stochastic_block_model(60, n_blocks=3, degree=8, random_state=0)

# %%
# Twenty signals. The network made five of them; the others are noise, as in a survey where most questions have nothing
# to do with ties.

made = smooth_signals(network, n_signals=5, filter="heat", random_state=0)
made /= made.std(axis=1, keepdims=True)
X = np.vstack([made, np.random.default_rng(0).normal(size=(15, 60))])
plain = ConsensusGL(n_replicates=0, random_state=0).fit(X)

# %%
# More and more people, drawn at random, are asked for all their ties. Only pairs that nobody was asked about are
# scored. The control is the plain consensus on the same pairs.


def scores(asked):
    """Return the average precision with known ties, without them, and by chance."""
    ties = [pair for pair in network.edges() if set(pair) & set(asked)]
    table = ConsensusGL(n_replicates=0, random_state=0).fit(X, known={"ties": ties, "nodes": asked}).probabilities()
    table = table[table["known"] == ""]
    pairs = table["source"].to_numpy(), table["target"].to_numpy()
    true = [network.has_edge(*pair) for pair in zip(*pairs, strict=True)]
    evidence = np.asarray(plain.evidence_)[pairs]
    return {
        "with known ties": average_precision_score(true, table["probability"]),
        "without": average_precision_score(true, evidence),
        "chance": np.mean(true),
    }


rows = []
for count in (6, 12, 24):
    for seed in range(3):
        asked = [int(k) for k in np.random.default_rng(seed).permutation(60)[:count]]
        rows.append({"people asked": count, **scores(asked)})
found = pd.DataFrame(rows).groupby("people asked").mean()
print(found.round(3))

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, style, color in (
    ("with known ties", "o-", "#0072b2"),
    ("without", "s--", "#d55e00"),
    ("chance", "v:", "#8c8c8c"),
):
    ax.plot(found.index, found[name], style, color=color, label=name)
ax.set_xlabel("people asked for all their ties, of 60")
ax.set_ylabel("average precision on the other pairs")
ax.set_ylim(0)
ax.legend(frameon=False)
plt.show()

# %%
# With few people asked, the known ties mostly give the ranking probabilities. With more, they also show which signals
# matter. ``known_.sentence`` says which of the two happened, and compares with simpler models. If a simple pair
# regression is as good, use it:

asked = [int(k) for k in np.random.default_rng(0).permutation(60)[:24]]
ties = [pair for pair in network.edges() if set(pair) & set(asked)]
model = ConsensusGL(n_replicates=0, random_state=0).fit(X, known={"ties": ties, "nodes": asked})
print(model.known_.sentence)
