"""
The karate club from fifty signals
==================================

A quick start: signals in, a network out, and how near it comes to the truth.

The truth is Zachary's karate club: 34 members, 78 friendships, two leaders who fell out. We pretend not to know it and
look only at fifty signals on the members, each smooth on the club: friends have similar values.
"""

import matplotlib.pyplot as plt
import networkx as nx
import pandas as pd

from nashgraph import GLGP, SmoothGL, edge_auc, edge_precision_recall, plot_graph
from nashgraph.datasets import load_karate, smooth_signals

club = load_karate().graph

# %%
# Rows are signals and columns are nodes. The columns of a DataFrame name the nodes, and the names come back everywhere.

X = pd.DataFrame(smooth_signals(club, n_signals=50, filter="gmrf", random_state=0))
X.columns = [f"m{member + 1}" for member in club]
print(X.shape)

# %%
# Two numbers say most of what you want: ``degree``, the neighbours that a member has on average before the prior
# speaks, and ``lam``, how strongly it speaks.

model = GLGP(lam=0.3, degree=10).fit(X)
print(model.edges().head())

# %%
# ``adjacency_[i, j]`` is the weight with which j influences i, so column sums are influence. Members 1, 33 and 34 are
# the ones with most friends in the true club.

influence = pd.Series(model.adjacency_.sum(axis=0), index=model.node_names_)
friends = pd.Series(dict(club.degree), name="friends").set_axis(X.columns)
print(pd.DataFrame({"influence": influence, "friends": friends}).nlargest(6, "influence").round(2))

# %%
# The fit certifies itself. ``stationarity_`` is zero exactly where no small change of the graph improves it.

print(f"converged: {model.converged_}, stationarity {model.stationarity_:.1e} after {model.n_iter_} iterations")

# %%
# How good is it? We know the truth here, so we can score and compare with no prior. The precision is
# that of as many of the heaviest edges as the truth has.

smooth = SmoothGL(degree=10).fit(X)
for name, fitted in (("SmoothGL", smooth), ("GLGP", model)):
    precision, _ = edge_precision_recall(club, fitted.adjacency_, symmetrize="mean")
    print(f"{name:9} AUC {edge_auc(club, fitted.adjacency_):.3f}   precision {precision:.3f}")

# %%
# The picture draws as many of the heaviest pairs as there are friendships. Solid lines are true, dashed ones are not,
# dotted ones were missed.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
places = dict(zip(X.columns, nx.kamada_kawai_layout(club).values(), strict=True))
plot_graph(nx.relabel_nodes(club, dict(zip(club, X.columns, strict=True))), left, positions=places)
plot_graph(model, right, truth=club, positions=places)
left.set_title("the true club", fontsize=10)
right.set_title("learned by GLGP", fontsize=10)
plt.show()

# %%
# One club, one draw of signals: this shows how the library is used, not that the prior helps. For that question see
# :ref:`sphx_glr_gallery_plot_04_when_the_prior_hurts.py`.
