"""
Ten methods on the same signals
===============================

:func:`~nashgraph.compare` fits several methods on the same signals and puts what they found in one table: scores where
the truth is known, and welfare, edges, seconds and warnings in any case.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from nashgraph import GLGP, GamePrior, LinearGLGP, SmoothGL, compare
from nashgraph.datasets import preferential_attachment, smooth_signals, stochastic_block_model

# %%
# All with their defaults, on a network with communities, and below them the controls: what they score without learning
# anything has to be beaten. If one method fails or warns, its row says why, and the others still run. The network
# has no directions, so weights are made symmetric before they are scored; ``precision`` is over as many of the heaviest
# pairs as there are true ones, for all methods alike.

blocks = stochastic_block_model(40, n_blocks=4, degree=6, random_state=0)
X = smooth_signals(blocks, n_signals=60, filter="tikhonov", noise=0.1, random_state=0)
table = compare(X, blocks)
shown = ["method", "auc", "average_precision", "precision", "welfare", "edges", "seconds", "converged"]
print(table[shown].round(3).to_string(index=False))

# %%
# ``smooth`` is ``glgp`` with ``lam=0``, so the two rows say what the prior did at its default, which lets it cost a
# thousandth of the smoothness. See :ref:`sphx_glr_gallery_plot_08_choosing_lam.py` before you judge it.
#
# What each method warned of or failed of, if anything:

for _, row in table.iterrows():
    if row.warnings or row.error:
        print(f"{row.method}: {row.warnings or row.error}")
print("that is all")

# %%
# ``seconds`` includes the compilation of a method's kernels the first time it runs. Estimators of your own choice go in
# as pairs of a label and an estimator. Here the methods of this library, dense, on the kind of network that the prior
# was made for: a tree with hubs, few signals, low-pass.

tree = preferential_attachment(50, random_state=2)
signals = smooth_signals(tree, n_signals=10, filter="lowpass", noise=0.2, random_state=2)
chosen = [
    ("SmoothGL", SmoothGL(beta=200)),
    ("LinearGLGP, lam=5", LinearGLGP(lam=5, beta=200)),
    ("GLGP, lam=5, log1p", GLGP(lam=5, beta=200)),
    ("GLGP, lam=5, linear", GLGP(lam=5, beta=200, prior=GamePrior(interaction="linear"))),
    "sigrep",
    "logdegree",
    "glasso",
]
second = compare(signals, tree, chosen)
print(second[shown].round(3).to_string(index=False))

# %%
# No method is best everywhere. The order of the bars is not the same in the two problems, and one draw of each is not a
# study: average over draws before you conclude.

figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
titles = ("communities, 60 signals", "a tree with hubs, 10 signals")
for ax, scores, title in zip(axes, (table, second), titles, strict=True):
    places = np.arange(len(scores))
    ax.barh(places - 0.2, scores.auc, 0.4, color="#0072b2", label="AUC")
    ax.barh(places + 0.2, scores.average_precision, 0.4, color="#e69f00", label="average precision")
    ax.set_yticks(places, scores.method)
    ax.invert_yaxis()
    ax.set_xlim(0, 1)
    ax.axvline(0.5, color="#8c8c8c", linewidth=1)
    ax.set_title(title, fontsize=10)
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
plt.show()

# %%
# The table is a DataFrame like any other.

print(pd.concat([table, second], keys=titles).groupby(level=0).auc.agg(["min", "max"]).round(3))
