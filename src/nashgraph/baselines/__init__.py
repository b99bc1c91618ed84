"""Other people's methods: each learns a graph and returns it with the certificate of its problem."""
