"""The consensus of member networks: members, their mean, replicates, stability."""
