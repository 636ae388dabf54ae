"""The report as text, one section a file."""
