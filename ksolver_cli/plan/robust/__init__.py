"""One drain plan for several snapshots of a cluster: what may go is what may go in all of them."""
