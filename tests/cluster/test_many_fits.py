"""Many fits at once over one cluster, through joblib's dask backend."""

import joblib
import numpy as np
import pytest

pytest.importorskip("distributed", reason="dask is not installed: pip install 'nashgraph[distributed]'")

from nashgraph import GLGP, BestResponse, ConsensusGL, SmoothGL, compare


def fitted(X, engine):
    return GLGP(engine=engine, lam=0.5, solver=BestResponse(storage="sparse")).fit(X).adjacency_.toarray()


def path(X):
    return GLGP().path(X, lams=[0.1, 1.0]).welfares


def test_members_methods_paths_and_villages(processes, random):
    villages = [random.normal(size=(8, 25)) for _ in range(2)]
    X = villages[0]
    model = ConsensusGL(estimator=SmoothGL(), n_replicates=1, n_degrees=2, random_state=0)
    plain = model.fit(X).adjacency_.toarray().copy(), compare(X, methods=["smooth", "linear"])
    with joblib.parallel_config(backend="dask"):
        spread = model.fit(X, n_jobs=2).adjacency_.toarray(), compare(X, methods=["smooth", "linear"], n_jobs=2)
        # A fit within a worker is not spread further.
        graphs = joblib.Parallel()(joblib.delayed(fitted)(village, "dask") for village in villages)
        paths = joblib.Parallel()(joblib.delayed(path)(village) for village in villages)
    np.testing.assert_allclose(spread[0], plain[0], rtol=1e-12)
    assert spread[1].welfare.tolist() == pytest.approx(plain[1].welfare.tolist())
    for village, graph, welfares in zip(villages, graphs, paths, strict=True):
        np.testing.assert_allclose(graph, fitted(village, "threads"), rtol=1e-9)
        np.testing.assert_allclose(welfares, path(village), rtol=1e-9)
