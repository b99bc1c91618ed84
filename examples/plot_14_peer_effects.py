"""
From questions about ties to the people to support
==================================================

A village where nobody mapped the network: people say how many ties they have, and how many of these have a trait.
Savings are observed. The tie model gives draws of the network. The fitted game gives the peer effect, with what comes
from not knowing the network, and support goes to people who spread it. All is compared with the truth.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd

from nashgraph import GamePrior, TieModel, best_support, fit_game
from nashgraph.interventions import Game

random = np.random.default_rng(2)
people = [f"person {k}" for k in range(120)]
network = nx.stochastic_block_model([30] * 4, 0.02 + 0.13 * np.eye(4), seed=1)
A = nx.to_numpy_array(network)
castes = np.repeat(np.arange(4), 30)
W = A / np.maximum(A.sum(axis=1, keepdims=True), 1)

# %%
# **What is true.** Savings follow the game with a peer effect of 0.5: people save more if those around them do.

covariates = pd.DataFrame({"age": random.normal(size=120), "land": random.normal(size=120)}, index=people)
benefit = 2.0 + covariates.age + covariates.land
savings = pd.Series(np.linalg.solve(np.eye(120) - 0.5 * W, benefit) + 0.3 * random.normal(size=120), people)

# %%
# **What people say.** Everybody is asked ten questions: how many ties, and how many of these belong to each caste or
# have each of six other traits.

traits = pd.DataFrame({f"caste {k}": castes == k for k in range(4)}, index=people)
for k in range(6):
    traits[f"trait {k}"] = random.random(120) < 0.3 + 0.4 * (castes == k % 4)
traits = traits.astype(float)
counts = pd.DataFrame(A @ traits.to_numpy(), people, traits.columns)
model = TieModel(random_state=0).fit(traits=traits, counts=counts, n_ties=pd.Series(A.sum(axis=1), people))

# %%
# **The peer effect.** On one draw of the network, taken as the truth, it is biased. Averaged over draws, the interval
# has room for what is not known of the network.

data = covariates.assign(savings=savings)
fits = {
    "the true network": fit_game(pd.DataFrame(A, people, people), "savings ~ age + land", data=data),
    "one draw": fit_game(model.sample(1, random_state=0), "savings ~ age + land", data=data),
    "twenty draws": fit_game(model, "savings ~ age + land", data=data),
}
for name, fit in fits.items():
    low, high = fit.interval
    print(f"{name}: {fit.peer_effect:.2f} ({low:.2f} to {high:.2f})")
print(fits["twenty draws"].summary())

# %%
# **Whom to support.** Five people get one unit each. Gains are those of the true game.

chosen = best_support(model, 5, cost="units", unit=1.0, game=fits["twenty draws"])
print(chosen[["name", "worth", "among_best"]].head(5).round(2))

truth = Game.on(W, game=GamePrior(benefit.to_numpy(), "linear", share=0.5))


def gain(supported):
    """Return what one unit each for some people adds to all savings."""
    more = np.isin(people, supported).astype(float)
    return truth.with_benefit(truth.benefit + more).value - truth.value


best = best_support(truth, 5, cost="units", unit=1.0).name[:5]
print(f"gain of these five: {gain(chosen.name[:5]):.2f}")
print(f"of the best five, with the network and the game known: {gain(np.array(people)[list(best)]):.2f}")
print(f"of five people at random: {np.mean([gain(random.choice(people, 5, replace=False)) for _ in range(200)]):.2f}")

# %%
fits["twenty draws"].plot()
plt.tight_layout()
plt.show()
