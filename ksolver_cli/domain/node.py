"""Nodes as pods see them."""

from dataclasses import dataclass, field

from ksolver_cli.domain.labels import Labels
from ksolver_cli.domain.pod import Effect, Resources


@dataclass(frozen=True, slots=True)
class Taint:
    """A `v1.Taint`."""

    key: str
    value: str
    effect: Effect


@dataclass(frozen=True, eq=False)
class Node:
    """A node object; equal only to itself. `taints` are exactly those in the spec (the scheduler adds none of its
    own).
    """

    name: str
    allocatable: Resources
    capacity: Resources = field(default_factory=dict)
    labels: Labels = field(default_factory=dict)
    annotations: Labels = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    provider_id: str = ""
    ready: bool = True
    """False when the Ready condition is False or Unknown; True when it is True or absent."""
    deleting: bool = False
    images: tuple[tuple[tuple[str, ...], int], ...] = ()
    """(names, size in bytes) of images present, for ImageLocality."""
    declared_features: tuple[str, ...] = ()
    is_virtual: bool = False
    """virtual-kubelet, Fargate and the like: no machine to remove, left out of packing."""
    is_control_plane: bool = False
    created: str = ""
