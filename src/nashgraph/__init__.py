"""nashgraph learns a network's topology from signals on its nodes, when the network is one that people built.

>>> import networkx as nx
>>> from nashgraph import GLGP, edge_auc
>>> from nashgraph.datasets import smooth_signals
>>> club = nx.karate_club_graph()
>>> X = smooth_signals(club, n_signals=50, filter="gmrf", random_state=0)
>>> model = GLGP(lam=0.3, degree=10).fit(X)
>>> edge_auc(club, model.adjacency_) > 0.75
True
"""

import lazy_loader

__version__ = "0.2.0"

# Public names are in __init__.pyi; each is imported when first used, so that the command line starts at once.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
