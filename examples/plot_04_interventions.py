"""
What to do about a network
==========================

People learn a network to act on it: who to tell first, whose leaving would hurt, which tie to build. Each answer comes
with how stable it is, and with what you would get without any network.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd

from nashgraph import ConsensusGL, best_seeds, best_support, best_ties, expected_reach, key_players
from nashgraph.datasets import preferential_attachment, smooth_signals

network = preferential_attachment(80, edges_per_node=2, random_state=0)
X = smooth_signals(network, n_signals=50, filter="lowpass", random_state=0)
model = ConsensusGL(random_state=0).fit(X)

# %%
# **Whose leaving would hurt?** ``loss`` is what the welfare of the game on the network loses without the node.
# ``times_typical`` compares it with the median node, and ``among_best`` is the share of replicates that agree.

players = key_players(model, best=5)
print(players[["name", "loss", "times_typical", "low", "high", "among_best"]].head(5).round(2))

# %%
# **Whom to support?** Compare the gain with the same budget spread evenly: if that is nearly as good, you need no
# network to spend your money.

support = best_support(model, budget=8, cost="units")
print(", ".join(str(name) for name in support["name"][:8]))
print({name: round(support.attrs[name], 2) for name in ("gain", "gain_even")})

# %%
# **Which tie to build?**

print(best_ties(model, 3)[["source", "target", "gain", "among_best"]].round(2))

# %%
# **Who should be told first?** Seeds are chosen on the learned network and judged on the true one. ``random_seeds``
# estimates how many seeds, drawn at random, would reach as many.

seeds = best_seeds(model, 4)
print(seeds[["name", "reached", "random_seeds"]].round(1))

A = nx.to_numpy_array(network, weight=None)
random = np.random.default_rng(0)
numbers = [1, 2, 4, 8]
curves = {
    "chosen on the learned network": [
        expected_reach(A, best_seeds(model, k)["name"], scale=0.2, random_state=0) for k in numbers
    ],
    "chosen on the true network": [
        expected_reach(A, best_seeds(A, k, scale=0.2)["name"], scale=0.2, random_state=0) for k in numbers
    ],
    "drawn at random": [
        np.mean([
            expected_reach(A, random.choice(80, k, replace=False), scale=0.2, random_state=0) for _ in range(20)
        ])
        for k in numbers
    ],
}  # fmt: skip
print(pd.DataFrame(curves, index=numbers).round(1))

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, reached), style in zip(curves.items(), ("o-", "s--", "v:"), strict=True):
    ax.plot(numbers, reached, style, color={"o-": "#0072b2", "s--": "#d55e00", "v:": "#8c8c8c"}[style], label=name)
ax.set_xlabel("seeds")
ax.set_ylabel("nodes reached on the true network")
ax.legend(frameon=False)
plt.show()

# %%
# The network made these signals, which is the favourable case. On answers to a survey, seeds chosen on the learned
# network can be no better than random ones.
