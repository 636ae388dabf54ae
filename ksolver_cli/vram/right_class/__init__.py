"""Workloads that hold a larger GPU than they have ever used, and which smaller one would do."""
