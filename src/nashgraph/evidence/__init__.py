"""What people can tell about ties: counted answers, numbers of ties, names and known ties, as one log-linear model."""
