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
    distinct: bool
    """`distinctAttribute` is known; 1.35 calls it an unsupported constraint."""
    keeps_all_distinct: bool
    """Before 1.37, `distinctAttribute` remembers one device a request."""
    permutes: bool
    """Before 1.36, devices of one request are tried in every order, which only a forgetful constraint can tell."""
    fails_on_invalid: bool
    """1.34 fails on the way past an invalid pool; later versions look for devices elsewhere."""
    all_in_use_too: bool
    """Since 1.37, a request for all devices fails where one of them has no room left; before, it was passed over."""
    names_devices: bool
    """Since 1.37, an error of a selector names the device, with advice."""


def gates(version: tuple[int, int]) -> Gates:
    """The gates of a Kubernetes version (major, minor)."""
    beta = version >= (1, 36)
    last = version >= (1, 37)
    return Gates(
        partitions=beta,
        taints=beta,
        extended_resources=beta,
        shared_capacity=beta,
        binding_conditions=beta,
        whole_pools=version >= (1, 35),
        taint_rules=last,
        distinct=version != (1, 35),
        keeps_all_distinct=last,
        permutes=not beta,
        fails_on_invalid=version < (1, 35),
        all_in_use_too=last,
        names_devices=last,
    )
