"""Measured and predicted GPU memory: the store, the fingerprint, the predictor."""
