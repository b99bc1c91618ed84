"""The engine "dask": scans over all pairs by the workers of a dask.distributed cluster, in tasks that are pure."""
