"""
How good is the answer? Certificate, solvers and starts
=======================================================

A fitted model carries its own ``certificate_``: what is measured, its value, the tolerance, how the run ended. GLGP's
measure is the stationarity ``||W - best_response(W)|| / ||W||``, ``stationarity_`` for short: how far the graph is from
the one that everybody would answer it with. It is zero exactly at the stationary points of the problem, it has no
units, and anybody can recompute it from the graph alone.
"""

import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from nashgraph import (
    GLGP,
    TTGD,
    BestResponse,
    GamePrior,
    adjoint,
    equilibrium,
    plot_convergence,
    project_rows,
    squared_distances,
)
from nashgraph.datasets import preferential_attachment, smooth_signals

tree = preferential_attachment(100, random_state=0)
X = smooth_signals(tree, n_signals=20, filter="lowpass", noise=0.2, random_state=0)
options = {"lam": 3.0, "degree": 30, "prior": GamePrior(interaction="linear")}

# %%
# The default solver goes down by best responses; ``ttgd`` is the two-timescale gradient descent of the paper. Both run
# from the same start to the same tolerance, TTGD with a step that suits this problem better than the published one.

runs = {
    "best response": GLGP(**options),
    "TTGD, step 0.02": GLGP(**options, solver=TTGD(gamma=0.02)),
    "TTGD, step 0.003, as published": GLGP(**options, solver="ttgd"),
}
# A first fit, so that the seconds below are those of learning, not of compiling.
GLGP(lam=0.1, solver=BestResponse(max_iter=1, tol=1)).fit(X)
for name, model in runs.items():
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # its sentence is printed below
        model.fit(X)
    seconds = time.perf_counter() - start
    print(f"{name:31} {seconds:6.2f} s  {model.n_iter_:5} iterations  stationarity {model.stationarity_:.1e}  ", end="")
    print(f"objective {model.objective_:.9f}\n{'':31} {model.certificate_.sentence}")

# %%
# A run that does not reach its tolerance reports it, in ``converged_``, in ``certificate_`` and in a warning.
# An iteration of the two solvers is not the same work, so compare the seconds, not the axis. The two TTGD
# runs head for different stationary points: the one with the larger step reaches its tolerance at a higher objective.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
for name, model in runs.items():
    plot_convergence(model, left, label=name)
left.set_xscale("symlog", linthresh=10)
least = min(model.objective_ for model in runs.values())
for model, color in zip(runs.values(), ("#0072b2", "#d55e00", "#009e73"), strict=True):
    history = pd.DataFrame(model.certificate_.history)
    right.semilogy(history.iteration, np.maximum(history.objective - least, 1e-12), color=color)
right.set_xscale("symlog", linthresh=10)
right.set_xlabel("iteration")
right.set_ylabel("objective above the least found")
assert runs["TTGD, step 0.02"].objective_ > runs["best response"].objective_ + 0.1
plt.show()

# %%
# Do not trust us: here is the certificate from the graph alone, by the formulas of :doc:`/mathematics`. Play the game
# on W, differentiate its welfare, and let every row answer.

model = runs["best response"]
W = model.adjacency_.toarray()
y = equilibrium(W, model.benefit_, "linear")
u = adjoint(W, y, "linear")
scores = (model.lam * np.outer(u, y) - squared_distances(X)) / (2 * model.beta_)
answer, _ = project_rows(scores, model.c)
print(f"recomputed {np.linalg.norm(W - answer) / np.linalg.norm(W):.1e}, reported {model.stationarity_:.1e}")

# %%
# A certificate does not say that there is no better graph. The problem is not convex, and a strong prior has
# several stationary points, as we just saw. If that matters to you, use several starts and compare objectives.

for lam in (0.3, 3.0, 30.0):
    objectives = [
        GLGP(**options | {"lam": lam}, random_state=0, solver=BestResponse(n_starts=starts)).fit(X).objective_
        for starts in (1, 8)
    ]
    gain = (objectives[0] - objectives[1]) / abs(objectives[0])
    print(f"lam = {lam:4}: one start {objectives[0]:.6f}, the best of eight {objectives[1]:.6f}, lower by {gain:.1e}")
