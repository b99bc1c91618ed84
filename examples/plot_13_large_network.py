"""
Thousands of nodes
==================

Nothing changes in how the library is used. Above 3,000 nodes, or when memory is short, graphs are no longer held as
N x N arrays: ``storage="auto"`` uses sparse storage, and ``adjacency_`` is always a SciPy CSR array.
"""

import logging
import sys
import time

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from nashgraph import GLGP, edge_precision_recall, plot_adjacency, plot_graph
from nashgraph.datasets import random_geometric, smooth_signals

places = random_geometric(4000, degree=8, random_state=0)
X = smooth_signals(places, n_signals=60, filter="tikhonov", strength=3, noise=0.05, random_state=0)
print(X.shape, places.number_of_edges(), "edges")

# %%
# Think of sensors on a map: neighbours measure similar things. The library prints nothing; what it decides, such as
# which storage it takes and why, it logs.

logging.basicConfig(stream=sys.stdout, format="%(message)s")
logging.getLogger("nashgraph").setLevel(logging.INFO)
start = time.perf_counter()
model = GLGP(lam=0.01, degree=8).fit(X)
print(model.certificate_.sentence)
print(f"{time.perf_counter() - start:.1f} s, including the compilation of kernels if this is their first use")

# %%
# The result is sparse, and everything downstream takes it as it is.

W = model.adjacency_
print(f"{type(W).__name__} with {W.nnz} edges, {(W.data.nbytes + W.indices.nbytes + W.indptr.nbytes) / 1e6:.1f} MB")
print(f"as a dense array it would take {W.shape[0] ** 2 * 8 / 1e6:.0f} MB")
precision, recall = edge_precision_recall(places, W, symmetrize="mean")
print(f"of as many of the heaviest pairs as the truth has, {precision:.0%} are true")

# %%
# A look at one corner of the map, and at the whole matrix with the nodes ordered from left to right. Above 400 nodes a
# cell of the matrix stands for a block.

positions = np.array([position for _, position in places.nodes(data="pos")])
corner = np.flatnonzero((positions < 0.25).all(axis=1))
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.5), layout="constrained")
part = W[corner][:, corner]
truth = nx.convert_node_labels_to_integers(places.subgraph(corner.tolist()), ordering="sorted")
truth = nx.to_scipy_sparse_array(truth, nodelist=range(len(corner)))
plot_graph(part, left, truth=truth, positions=positions[corner], n_labels=0)
left.set_title(f"{len(corner)} of the nodes", fontsize=10)
plot_adjacency(model, right, order=np.argsort(positions[:, 0]))
right.set_title("all nodes, from left to right", fontsize=10)
plt.show()

# %%
# For timings at 20,000 and 50,000 nodes, measured side by side with a nearest-neighbour search, see
# :doc:`/generated/benchmarks/RESULTS`.
