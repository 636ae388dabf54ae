"""Makes the sample clusters of `snapshots/`: `python -m tools.samples`."""
