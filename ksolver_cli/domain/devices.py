"""Devices of dynamic resource allocation: slices, claims and classes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Devices:
    """Resource slices, claims, templates and device classes of a cluster."""
