"""Measurements, each run as ``python -m benchmarks.<name>``."""
