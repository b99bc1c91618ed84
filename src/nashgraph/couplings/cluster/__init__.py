"""The engine "dask": passes over all pairs by the workers of a dask.distributed cluster.

``client`` finds the cluster, or starts one on this machine, and says in a sentence what is wrong with it; ``points``
sends the points once and every pass in tasks of many rows; ``smoothness`` and ``coupling`` hold the rows of very large
graphs where they are made; ``whole`` shares out many small fits, each as one task. Tasks are pure, so that the
scheduler makes again what a lost worker had.
"""
