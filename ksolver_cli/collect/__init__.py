"""Reading the API server, Prometheus and other servers; never writing to them."""
