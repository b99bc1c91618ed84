"""
A game of your own
==================

The prior is a game: ``interaction`` says how much a neighbour's action moves a node, ``welfare`` what everybody's
actions are worth. Both can be your own, and what you learn then is a network that is good *in your sense*.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from nashgraph import GLGP, CustomInteraction, CustomWelfare, GamePrior
from nashgraph.datasets import small_world, smooth_signals

network = small_world(60, degree=6, random_state=0)
X = smooth_signals(network, n_signals=30, filter="tikhonov", noise=0.1, random_state=0)
benefit = np.random.default_rng(0).lognormal(sigma=1.0, size=60)

# %%
# An interaction is a function f with its first two derivatives. f must meet the paper's assumption H1: zero at zero,
# rising, concave, with slope and curvature of at most 1. ``CustomInteraction`` checks that when it is made and says
# which clause fails and where. The arctangent levels off at about 1.6:

arctangent = CustomInteraction(
    value=np.arctan,
    slope=lambda x: 1.0 / (1.0 + x**2),
)
try:
    CustomInteraction(np.sqrt, lambda x: 0.5 / np.sqrt(x))
except ValueError as error:
    print(error)

# %%
# A welfare is a function g of all actions with its gradient. The paper's is the sum. Here is one that cares for those
# who do least: the soft minimum, which is near the least action when it is sharp.

SHARPNESS = 3.0


def soft_minimum(y):
    """Return a smooth stand-in for the least action, times the number of people."""
    low = y.min()
    return len(y) * (low - np.log(np.mean(np.exp(-SHARPNESS * (y - low)))) / SHARPNESS)


def soft_minimum_gradient(y):
    """Return its gradient: everybody's weight, the larger the less they do."""
    weights = np.exp(-SHARPNESS * (y - y.min()))
    return len(y) * weights / weights.sum()


fair = CustomWelfare(soft_minimum, soft_minimum_gradient)

# %%
# A wrong gradient misleads the solver without an error, so check yours against finite differences.

y = np.linspace(0.5, 2.0, 60)
step = 1e-6
numeric = [(soft_minimum(y + step * e) - soft_minimum(y - step * e)) / (2 * step) for e in np.eye(60)]
print(f"largest error of the gradient: {np.abs(numeric - soft_minimum_gradient(y)).max():.1e}")

# %%
# Two models that differ in the welfare alone, and a third with no prior at all.

# A benefit given to the prior is used as it is; one given to GLGP would be scaled to sum 1.

game = GamePrior(benefit, arctangent)
models = {
    "no prior": GLGP(lam=0.0, degree=6, prior=game),
    "the sum": GLGP(lam=0.3, degree=6, prior=game),
    "the soft minimum": GLGP(lam=0.3, degree=6, prior=GamePrior(benefit, arctangent, welfare=fair)),
}
actions = pd.DataFrame({name: model.fit(X).equilibrium_ for name, model in models.items()})
summary = actions.agg(["sum", "min", "max"]).T
summary["converged"] = [model.converged_ for model in models.values()]
print(summary.round(3))

# %%
# Each welfare gets what it asks for: the sum is largest in the network learned for the sum, the least action in the one
# learned for the soft minimum. They get it by different networks. For the sum nearly all influence goes to a few; for
# the soft minimum, who does little and listens to whom matters, and influence stays spread.

assert summary["sum"].idxmax() == "the sum"
assert summary["min"].idxmax() == "the soft minimum"

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
styles = {"no prior": ("#8c8c8c", ":"), "the sum": ("#0072b2", "-"), "the soft minimum": ("#d55e00", "--")}
for name, (color, style) in styles.items():
    left.plot(np.sort(actions[name]), style, color=color, label=name)
    influence = np.sort(models[name].adjacency_.sum(axis=0))[::-1]
    right.plot(np.cumsum(influence) / influence.sum(), style, color=color, label=name)
left.set_xlabel("people, those who do least first")
left.set_ylabel("action at equilibrium")
left.legend(frameon=False, title="welfare")
right.set_xlabel("people, the most influential first")
right.set_ylabel("share of all influence, summed")
plt.show()
