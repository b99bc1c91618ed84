"""
Choosing lam by the Pareto front
================================

``lam`` trades smooth signals against welfare. The lambda-path shows the whole trade, so that you choose a point on it
and not a number in the dark.

:meth:`GLGP.path <nashgraph.GLGP.path>` finds the range in which ``lam`` matters by itself: from where the prior first
changes an edge to where it outweighs the signals. Each solution starts from its neighbours', upward and downward, and
the better is kept.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd

from nashgraph import GLGP, BestResponse, edge_auc, plot_path
from nashgraph.datasets import preferential_attachment, smooth_signals

club = nx.karate_club_graph()
X = smooth_signals(club, n_signals=50, filter="gmrf", random_state=1)
path = GLGP(degree=10).path(X, n_lams=25)

# %%
# Along the path the welfare rises and the signals fit worse. We also look at how concentrated influence becomes (the
# share of the three most influential nodes), which needs no truth, and at the AUC, which does.


def share_of_three(graph):
    """Return the share of all influence that the three most influential nodes have."""
    return graph.influence[graph.by_influence[:3]].sum() / graph.influence.sum()


table = pd.DataFrame(
    {
        "lam": path.lams,
        "J": path.smoothness_costs,
        "welfare": path.welfares,
        "top three": [share_of_three(model.graph_) for model in path.models],
        "auc": [edge_auc(club, model.adjacency_) for model in path.models],
        "stationarity": path.table()["stationarity"],
    }
)
print(table.iloc[::3].to_string(index=False, float_format="{:.3g}".format))

# %%
# Where on the front? Two rules that need no truth:
#
# - *the bend*: the point farthest from the straight line between the ends of the front, the elbow that one's eye picks;
# - *a thousandth*: the largest ``lam`` at which J has risen by 0.1 % at most, so that the signals hardly notice it;
#   ``path.affordable()`` finds it.


def bend(path):
    """Return the point of the front farthest from the line between its ends."""
    x = (path.smoothness_costs - path.smoothness_costs[0]) / np.ptp(path.smoothness_costs)
    y = (path.welfares - path.welfares[0]) / np.ptp(path.welfares)
    return int(np.argmax(y - x))


figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
chosen = {"a thousandth": path.affordable(), "bend": bend(path)}
plot_path(path, left, marked=path.lams[[*chosen.values(), -1]])
left.set_title("the front", fontsize=10)
right.semilogx(table.lam, table["top three"], color="#d55e00", label="share of influence of the top three")
right.semilogx(table.lam, table.auc, color="#0072b2", label="AUC against the true club")
for name, k in chosen.items():
    right.axvline(path.lams[k], color="#8c8c8c", linestyle="dashed", linewidth=1)
    right.text(path.lams[k], 0.02, f" {name}", transform=right.get_xaxis_transform(), fontsize=8)
right.set_xlabel("lam")
right.set_ylim(0, 1)
right.legend(frameon=False, fontsize=8)
right.set_title("what changes on the way", fontsize=10)
plt.show()

# %%
# The elbow looks like the natural choice, and is a bad one here: by then influence has gone to a few nodes. Is that so
# elsewhere? Three kinds of problem, three draws of each, each followed from ``lam=0``. ``best`` is what one would take
# if one knew the truth.


def draw(kind, seed):
    """Return a graph, signals on it and how its path is computed."""
    if kind == "karate, Gaussian-Markov":
        return club, smooth_signals(club, 50, "gmrf", random_state=seed), {"degree": 10}
    tree = preferential_attachment(50, random_state=seed)
    if kind == "tree, Gaussian-Markov":
        return tree, smooth_signals(tree, 10, "gmrf", random_state=seed), {"degree": 10}
    return tree, smooth_signals(tree, 10, "lowpass", noise=0.2, random_state=seed), {"beta": 200}


rows = []
for kind in ("karate, Gaussian-Markov", "tree, Gaussian-Markov", "tree, low-pass, dense"):
    for seed in range(3):
        truth, signals, options = draw(kind, seed)
        front = GLGP(**options, solver=BestResponse(max_iter=500)).path(signals, [0, *np.geomspace(0.01, 30, 14)])
        auc = np.array([edge_auc(truth, model.adjacency_) for model in front.models])
        rules = {"no prior": 0, "a thousandth": front.affordable(), "bend": bend(front), "best": auc.argmax()}
        rows.append({"problem": kind} | {name: auc[k] for name, k in rules.items()})
scores = pd.DataFrame(rows).groupby("problem", sort=False).mean()
print(scores.round(3))

# %%
# On the two sparse problems the elbow is worse than no prior at all; on the dense one it gains more than the cautious
# rule. It also moves when the path is made longer, because it depends on where the front ends. The thousandth gains
# something on all three.
#
# So: take the largest ``lam`` that costs the signals about a thousandth. It is a rule of thumb from runs like these and
# those of :ref:`sphx_glr_gallery_plot_10_which_networks.py`, not a theorem: nothing in the signals alone says which
# ``lam`` recovers the network best.

assert (scores["bend"] < scores["no prior"]).tolist() == [True, True, False]
gain = scores["a thousandth"] - scores["no prior"]
print(f"a thousandth against no prior: from {gain.min():+.3f} to {gain.max():+.3f}")

# %%
# One caution. The range that ``path`` finds by itself starts where the first edge changes. In a graph in which
# everybody is everybody's neighbour no edge changes for long, and the range starts too late: pass ``lams`` yourself, as
# above, with 0 among them.
