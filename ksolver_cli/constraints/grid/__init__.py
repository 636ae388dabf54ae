"""All nodes of a state side by side, so that a family judges them in a few array operations."""
