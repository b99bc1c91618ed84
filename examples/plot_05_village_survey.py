"""
A village from its survey, with an honest control
=================================================

Households answer a questionnaire; we want to know who is linked to whom. The data is drawn here, in the shape of the
village surveys of Banerjee, Chandrasekhar, Duflo and Jackson (*Science*, 2013): categorical answers, and links that
were asked of only half of the households.

That last point matters more than it looks. A link is on record only if at least one of its ends was asked. The flag
"was asked" is a natural benefit for the prior, and it is also, by itself, a good guess of the recorded network: two
households of which neither was asked cannot have a link. A score means something only compared with that control.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from nashgraph import GLGP, LinearGLGP, SmoothGL, edge_auc, plot_adjacency
from nashgraph.datasets import stochastic_block_model

random = np.random.default_rng(7)
n_households = 150

# %%
# The village: five hamlets, most links inside them. Half of the households are asked about their links; the others'
# links to each other are lost.

village = stochastic_block_model(n_households, n_blocks=5, degree=8, mixing=0.25, random_state=7)
hamlet = np.array([block for _, block in village.nodes(data="block")])
asked = random.random(n_households) < 0.5
recorded = nx.Graph()
recorded.add_nodes_from(village)
recorded.add_edges_from((i, j) for i, j in village.edges if asked[i] or asked[j])
print(f"{village.number_of_edges()} links, {recorded.number_of_edges()} of them on record")

# %%
# The answers: roof, water, electricity, latrine and caste are words; rooms and land are numbers. Each hamlet has its
# own habits, and each household departs from them now and then.

choices = {
    "roof": ["thatch", "tile", "stone", "sheet"],
    "water": ["well", "pump", "tap"],
    "electricity": ["private", "government", "none"],
    "latrine": ["owned", "common", "none"],
    "caste": ["A", "B", "C"],
}


def answers_to(question):
    """Draw an answer for each household: its hamlet's habit three times in four, any answer otherwise."""
    options = choices[question]
    habit = random.integers(len(options), size=5)[hamlet]
    drawn = np.where(random.random(n_households) < 0.75, habit, random.integers(len(options), size=n_households))
    return pd.Categorical.from_codes(drawn, options)


survey = pd.DataFrame({question: answers_to(question) for question in choices})
survey["rooms"] = random.poisson(2 + hamlet % 3) + 1
survey["land"] = random.lognormal(0.3 * hamlet, 0.6).round(2)
survey.index = [f"h{k}" for k in range(n_households)]
print(survey.head())

# %%
# From answers to signals: words become 0/1 columns, numbers are scaled, and the table is turned over, because here
# *columns are nodes*. The benefit is 1, and 2 for households that were asked, as in the paper.

signals = pd.get_dummies(survey, dtype=float)
for number in ("rooms", "land"):
    signals[number] = (survey[number] - survey[number].mean()) / survey[number].std()
X = signals.T
benefit = 1.0 + asked
print(X.shape)

# %%
# Everybody may be everybody's neighbour here (``degree`` is all others), so that the weights rank all pairs. The
# control ignores the answers: it scores a pair by how many of the two households were asked.

everybody = n_households - 1
models = {
    "SmoothGL": SmoothGL(degree=everybody),
    "LinearGLGP": LinearGLGP(lam=3, degree=everybody, benefit=benefit),
    "GLGP": GLGP(lam=3, degree=everybody, benefit=benefit),
}
graphs = {name: model.fit(X).adjacency_.toarray() for name, model in models.items()}
graphs["flag alone"] = np.add.outer(asked, asked) * (1.0 - np.eye(n_households))

# %%
# Two scores. The first is over all pairs, as papers report it. The second is over pairs of which *both* were asked:
# there the flag says nothing, and whatever is left was read from the answers.

truth = nx.to_numpy_array(recorded) > 0
both = np.outer(asked, asked) & ~np.eye(n_households, dtype=bool)
scores = pd.DataFrame(
    {
        "all pairs": {name: edge_auc(recorded, graph) for name, graph in graphs.items()},
        "both asked": {name: roc_auc_score(truth[both], graph[both]) for name, graph in graphs.items()},
    }
)
print(scores.round(3))

# %%
# Over all pairs GLGP scores higher than the method without prior; the flag alone, which reads no answer, is not far
# behind either. Over pairs where the flag says nothing GLGP is not ahead: the gain of the prior came from the flag.

gain = scores.loc["GLGP"] - scores.loc["SmoothGL"]
print("what the prior adds to the AUC:", gain.round(3).to_dict())

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
scores.plot.barh(ax=left, color=["#0072b2", "#e69f00"], width=0.7)
left.invert_yaxis()
left.axvline(0.5, color="#8c8c8c", linewidth=1)
left.set_xlim(0.4, 0.8)
left.set_xlabel("AUC (0.5 is guessing)")
left.legend(frameon=False, fontsize=8, loc="lower right")
order = np.lexsort((~asked, hamlet))
for ax, graph, title in ((middle, recorded, "on record"), (right, graphs["GLGP"], "learned by GLGP")):
    plot_adjacency(graph, ax, order=order)
    ax.set_title(title, fontsize=10)
right.images[0].set_clim(*np.quantile(graphs["GLGP"][both], [0.02, 0.98]))  # all weights are alike: show what differs
plt.show()

# %%
# The matrices are ordered by hamlet, and in each hamlet the households that were asked come first. In the record the
# blocks are the hamlets, and the corner missing from each is the flag. In the learned graph the darker blocks come from
# the answers, and the darker left part of each hamlet's columns comes from the flag. Both score; only the first was
# learned from what people said. Whenever your benefit has to do with how the data was collected, score this way.
