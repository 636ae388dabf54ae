"""ksolver: what a Kubernetes cluster overpays for compute, what stops it from paying less, and how to get there."""

__version__ = "0.1.0"
