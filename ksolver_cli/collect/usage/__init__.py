"""Usage history per workload and container, out of Prometheus or of the metrics API."""
