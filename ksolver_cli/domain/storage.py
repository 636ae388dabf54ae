"""Volumes, claims and their limits, as the volume families look at them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Storage:
    """Claims, volumes, storage classes, CSI nodes, drivers, capacities and attachments of a cluster."""
