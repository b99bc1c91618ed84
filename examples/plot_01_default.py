"""
A network from answers: the default
===================================

Signals in, a network out, how stable each tie is, and how close the network comes to the truth.

The truth is Zachary's karate club: 34 members and 78 friendships. We pretend not to know it. We only look at fifty
signals on the members, which the club itself made: friends have similar values.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd

from nashgraph import ConsensusGL, edge_auc, edge_average_precision, plot_graph
from nashgraph.datasets import load_karate, smooth_signals

club = load_karate().graph

# %%
# Rows are signals and columns are nodes. The columns of a DataFrame name the nodes, and every output has these names.

X = pd.DataFrame(smooth_signals(club, n_signals=50, filter="gmrf", random_state=0))
X.columns = [f"m{member + 1}" for member in club]

# %%
# :class:`~nashgraph.ConsensusGL` needs no settings. It averages many networks that differ in choices that the signals
# cannot settle. ``evidence`` ranks the ties, ``frequency`` is the share of member networks that have the tie, and
# ``low`` and ``high`` are a 90% interval for the value that the same number of new signals would give.

model = ConsensusGL(random_state=0).fit(X)
print(model.edges().head().round(2))

# %%
# How good is it? Here we know the truth, so we can score it. Two controls stand next to it: the correlation of two
# members' signals, and chance. A method that does not beat the controls has found nothing.

correlation = np.corrcoef(X.T)
n_pairs = len(club) * (len(club) - 1) / 2
rows = {
    "the default": (edge_auc(club, model), edge_average_precision(club, model)),
    "control: correlation": (edge_auc(club, correlation), edge_average_precision(club, correlation)),
    "control: chance": (0.5, club.number_of_edges() / n_pairs),
}
scores = pd.DataFrame(rows, index=["AUC", "average precision"]).T
print(scores.round(3))

# %%
# One draw of signals can mislead. Over ten draws the default is above the control on average:

gains = []
for seed in range(10):
    signals = smooth_signals(club, n_signals=50, filter="gmrf", random_state=seed)
    learned = ConsensusGL(n_replicates=0, random_state=0).fit(signals)
    gains.append(edge_average_precision(club, learned) - edge_average_precision(club, np.corrcoef(signals.T)))
print(f"gain in average precision: {np.mean(gains):+.3f}, standard error {np.std(gains) / 3:.3f}")
assert np.mean(gains) > np.std(gains) / 3

# %%
# The picture draws as many ties as there are friendships, those with most evidence. Solid lines are true, dashed ones
# are not, dotted ones were missed.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
places = dict(zip(X.columns, nx.kamada_kawai_layout(club).values(), strict=True))
plot_graph(nx.relabel_nodes(club, dict(zip(club, X.columns, strict=True))), left, positions=places)
plot_graph(model, right, truth=club, positions=places)
left.set_title("the true club", fontsize=10)
right.set_title("learned from fifty signals", fontsize=10)
plt.show()

# %%
# These signals come from the network itself, which is the favourable case. Answers to a survey need not: people who
# answer alike need not be friends. :ref:`sphx_glr_gallery_plot_02_tie_model.py` shows what to ask instead.
