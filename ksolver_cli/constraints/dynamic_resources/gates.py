"""What DynamicResources does in which Kubernetes version, with feature gates at their defaults."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gates:
    """Features of the allocator by version (`pkg/features/kube_features.go`).

    A cluster older than 1.34 that has claims switched the feature on itself; it is judged as 1.34.
    """

    partitions: bool
    taints: bool
    extended_resources: bool
    shared_capacity: bool
    binding_conditions: bool
    whole_pools: bool
    """Pools whose slices are not all there are left alone; before 1.35 only requests for all devices minded."""
    taint_rules: bool
    keeps_all_distinct: bool
    """Before 1.37, `distinctAttribute` remembers one device a request."""


def gates(version: tuple[int, int]) -> Gates:
    """The gates of a Kubernetes version (major, minor)."""
    beta = version >= (1, 36)
    return Gates(
        partitions=beta,
        taints=beta,
        extended_resources=beta,
        shared_capacity=beta,
        binding_conditions=beta,
        whole_pools=version >= (1, 35),
        taint_rules=version >= (1, 37),
        keeps_all_distinct=version >= (1, 37),
    )
