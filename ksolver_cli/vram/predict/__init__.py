"""Predictions: four tiers, the first that answers, each with its source and its confidence."""
