"""Bound, search, fleet choice and GPU placement; the only home of ortools and highspy."""
