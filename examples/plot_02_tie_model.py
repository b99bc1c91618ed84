"""
A few questions about ties: the tie model
=========================================

Ask people how many ties they have and how many of them have some trait. Nobody has to name anybody, and much of the
network can be found.

The village is drawn here: 100 households, some with many ties. Ten traits have nothing to do with the network, so their
likeness cannot help. What helps is that households count their ties.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd

from nashgraph import TieModel, best_seeds, edge_average_precision, expected_reach
from nashgraph.datasets import preferential_attachment

village = preferential_attachment(100, edges_per_node=3, random_state=0)
A = nx.to_numpy_array(village, weight=None)
random = np.random.default_rng(0)
traits = pd.DataFrame(random.random((100, 10)) < 0.35, columns=[f"trait {k}" for k in range(1, 11)]).astype(float)

# %%
# The survey asks each household: "How many households do you visit?" and "How many of them have trait 1? Trait 2?" and
# so on. Here the answers are counted from the true ties, and 20% of ties are forgotten.

remembered = A * (random.random(A.shape) > 0.2)
n_ties = pd.Series(remembered.sum(axis=1))
counts = pd.DataFrame(remembered @ traits.to_numpy(), columns=traits.columns)

# %%
# Each pair gets a probability. ``recall`` says how much people remember.

model = TieModel(recall=0.8).fit(traits=traits, counts=counts, n_ties=n_ties)
print(model.graph_.edges().head().round(2))

# %%
# More questions find more. The first point asks for the number of ties only; chance and the likeness of traits are the
# controls.

asked = [0, 2, 5, 10]
found = []
for k in asked:
    answers = {"counts": counts.iloc[:, :k], "traits": traits.iloc[:, :k]} if k else {"traits": traits}
    found.append(edge_average_precision(village, TieModel(recall=0.8).fit(n_ties=n_ties, **answers)))
scaled = ((traits - traits.mean()) / traits.std()).to_numpy()
likeness = edge_average_precision(village, scaled @ scaled.T)
chance = village.number_of_edges() / (100 * 99 / 2)
print(pd.Series(found, index=[f"{k} counts" for k in asked]).round(3))
assert found[-1] > found[0]

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(asked, found, "o-", color="#0072b2", label="tie model")
ax.axhline(likeness, color="#d55e00", ls="--", label="control: likeness of traits")
ax.axhline(chance, color="#8c8c8c", ls=":", label="control: chance")
ax.set_xlabel("questions 'how many of them ...', asked in addition to the number of ties")
ax.set_ylabel("average precision")
ax.legend(frameon=False)
plt.show()

# %%
# Who should be told first, so that news reaches many? Seeds chosen on the model are judged on the true village.

reach = {
    "chosen on the tie model": expected_reach(A, best_seeds(model, 5, scale=0.1)["name"], scale=0.1),
    "chosen on the true network": expected_reach(A, best_seeds(A, 5, scale=0.1)["name"], scale=0.1),
    "random, mean of 20 draws": np.mean(
        [expected_reach(A, random.choice(100, 5, replace=False), scale=0.1) for _ in range(20)]
    ),
}
print(pd.Series(reach, name="households reached").round(1))

# %%
# The questionnaire, the command line and measurements on real villages are on the page "What to ask".
