"""Answers about ties: counts, numbers of ties, names and known ties, as one log-linear model."""
