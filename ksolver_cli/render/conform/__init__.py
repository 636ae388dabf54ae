"""The comparison with a scheduler as text, JSON and JUnit."""
