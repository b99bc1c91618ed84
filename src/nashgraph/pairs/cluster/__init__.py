"""The engine "dask": scans over all pairs by the workers of a dask.distributed cluster.

``client`` finds the cluster, or starts one on this machine, and says in a sentence what is wrong with it; ``search``
sends the signals once and every scan in tasks of many rows; ``whole`` shares out many small fits, each as one task.
Tasks are pure, so that the scheduler makes again what a lost worker had.
"""
