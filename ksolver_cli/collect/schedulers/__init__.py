"""Schedulers that can be asked for a verdict: the simulator over HTTP, and a disposable control plane."""
