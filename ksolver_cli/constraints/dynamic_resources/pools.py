"""Pools of devices that a node can reach."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ksolver_cli.constraints.dynamic_resources.gates import Gates
from ksolver_cli.constraints.matching.selectors import node_matcher
from ksolver_cli.domain.devices import Device, Devices, DeviceTaint, Reach, ResourceSlice
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.quantity import Quantity

PoolId = tuple[str, str]
DeviceId = tuple[str, str, str]
Counters = Mapping[tuple[str, str], Quantity]


@dataclass(frozen=True, eq=False, slots=True)
class Candidate:
    """A device that may be given out: its id (driver, pool, name), and the slice that publishes it."""

    id: DeviceId
    device: Device
    slice: ResourceSlice


@dataclass(frozen=True, eq=False, slots=True)
class Pool:
    """A pool as seen from one node. Nothing is given out from an incomplete or invalid one.

    `candidates` are in the allocator's order; `others` are devices out of the node's reach that share its counters.
    """

    id: PoolId
    candidates: tuple[Candidate, ...] = ()
    others: tuple[Candidate, ...] = ()
    counters: Counters | None = None
    is_incomplete: bool = False
    invalid: str = ""


class Slices:
    """The slices of a cluster, found by node and by pool. Built once for many nodes."""

    def __init__(self, devices: Devices, gates: Gates) -> None:
        self._gates = gates
        self._on_node: dict[str, list[ResourceSlice]] = {}
        self._anywhere: list[ResourceSlice] = []
        self._by_pool: dict[PoolId, list[ResourceSlice]] = {}
        self._seen: dict[str, tuple[Pool, ...]] = {}
        for published in devices.slices:
            part = _tainted(published, devices) if gates.taint_rules and devices.taint_rules else published
            self._by_pool.setdefault((part.driver, part.pool), []).append(part)
            if part.reach.node_name and not part.counter_sets:
                self._on_node.setdefault(part.reach.node_name, []).append(part)
            else:
                self._anywhere.append(part)

    def pools(self, node: Node) -> tuple[Pool, ...]:
        """The pools with devices for the node, by driver and name; those that bind late come last."""
        if node.name not in self._seen:
            self._seen[node.name] = self._find(node)
        return self._seen[node.name]

    def _find(self, node: Node) -> tuple[Pool, ...]:
        found: dict[PoolId, list[ResourceSlice]] = {}
        for part in (*self._on_node.get(node.name, ()), *self._anywhere):
            if self._is_relevant(part, node):
                _add(found.setdefault((part.driver, part.pool), []), part)
        pools = [self._pool(pool_id, parts) for pool_id, parts in found.items()]
        return tuple(sorted((pool for pool in pools if pool is not None), key=self._order))

    def _is_relevant(self, part: ResourceSlice, node: Node) -> bool:
        if not self._gates.partitions and part.per_device:
            return False
        if self._gates.partitions and part.counter_sets:
            return True
        if part.per_device and part.reach == Reach():
            return any(reaches(device.reach, node) for device in part.devices)
        return reaches(part.reach, node)

    def _pool(self, pool_id: PoolId, parts: list[ResourceSlice]) -> Pool | None:
        """The pool of these slices; None when a newer generation exists that the node does not see."""
        generation, size = parts[0].generation, parts[0].size
        everything = parts
        if len(parts) != size and self._gates.whole_pools:
            known = self._by_pool[pool_id]
            if any(part.generation > generation for part in known):
                return None
            everything = [part for part in known if part.generation == generation]
        if len(everything) != size and self._gates.whole_pools:
            return Pool(pool_id, is_incomplete=True)
        return self._complete(pool_id, parts, everything, len(everything) != size)

    def _complete(
        self, pool_id: PoolId, parts: list[ResourceSlice], everything: list[ResourceSlice], is_incomplete: bool
    ) -> Pool:
        names = {part.name for part in parts}
        hidden = [part for part in everything if part.name not in names]
        candidates = _candidates(sorted(parts, key=lambda part: part.name))
        others = _candidates(hidden)
        counters, fault = _counters(everything)
        fault = _duplicate(candidates) or fault or _unknown_counter(counters, (*candidates, *others))
        if fault and (self._gates.partitions or fault.startswith("duplicate device")):
            return Pool(pool_id, invalid=fault, is_incomplete=is_incomplete)
        return Pool(pool_id, candidates, others, counters, is_incomplete)

    def _order(self, pool: Pool) -> tuple[bool, PoolId]:
        late = self._gates.binding_conditions and any(c.device.has_binding_conditions for c in pool.candidates)
        return late, pool.id


def reaches(reach: Reach, node: Node) -> bool:
    """Whether something can be used from the node."""
    if reach.node_name:
        return reach.node_name == node.name
    if reach.all_nodes:
        return True
    return reach.selector is not None and node_matcher(reach.selector)(node.labels, node.name)


def _add(parts: list[ResourceSlice], part: ResourceSlice) -> None:
    """Keep only slices of the newest generation."""
    if parts and part.generation > parts[0].generation:
        parts.clear()
    if not parts or part.generation == parts[0].generation:
        parts.append(part)


def _candidates(parts: Iterable[ResourceSlice]) -> tuple[Candidate, ...]:
    return tuple(
        Candidate((part.driver, part.pool, device.name), device, part) for part in parts for device in part.devices
    )


def _counters(parts: Iterable[ResourceSlice]) -> tuple[Counters, str]:
    """All counters of a pool, and what is wrong with them."""
    counters: dict[tuple[str, str], Quantity] = {}
    seen: set[str] = set()
    for part in parts:
        for name, amounts in part.counter_sets:
            if name in seen:
                return {}, f"duplicate counter set name {name}"
            seen.add(name)
            counters |= {(name, counter): amount for counter, amount in amounts.items()}
    return counters, ""


def _duplicate(candidates: Iterable[Candidate]) -> str:
    seen: set[str] = set()
    for candidate in candidates:
        if candidate.device.name in seen:
            return f"duplicate device name {candidate.device.name}"
        seen.add(candidate.device.name)
    return ""


def _unknown_counter(counters: Counters, candidates: Iterable[Candidate]) -> str:
    for candidate in candidates:
        for counter_set, counter in candidate.device.counters:
            if (counter_set, counter) not in counters:
                return f"counter {counter} not found in counter set {counter_set}"
    return ""


def _tainted(part: ResourceSlice, devices: Devices) -> ResourceSlice:
    """The slice with the taints that DeviceTaintRules put on its devices."""
    return replace(part, devices=tuple(_with_taints(device, part, devices) for device in part.devices))


def _with_taints(device: Device, part: ResourceSlice, devices: Devices) -> Device:
    added: tuple[DeviceTaint, ...] = tuple(
        rule.taint
        for rule in devices.taint_rules
        if rule.driver in ("", part.driver) and rule.pool in ("", part.pool) and rule.device in ("", device.name)
    )
    return replace(device, taints=device.taints + added) if added else device
