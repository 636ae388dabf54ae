"""Families of the Filter phase that look at nodes, resources, ports and other pods; one a file."""
