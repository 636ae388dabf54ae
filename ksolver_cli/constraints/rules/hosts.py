"""Rules of what pods on one node cannot share, or cannot part with: host ports, disks, ReadWriteOnce volumes."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import TypeVar

from ksolver_cli.constraints.core import node_ports
from ksolver_cli.constraints.matching.holders import owner_ref
from ksolver_cli.constraints.volumes import restrictions
from ksolver_cli.constraints.volumes.claims import claim_uses
from ksolver_cli.domain.classes import Classes, PodClass
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.pod import HostPort, Volume
from ksolver_cli.domain.rules import CapPerDomain, Exclude, Gang, Rule, RuleSource
from ksolver_cli.domain.verdict import Family, ObjectRef

HOST = "kubernetes.io/hostname"

_ONE_NODE = frozenset({"ReadWriteOnce", "ReadWriteOncePod"})
Thing = TypeVar("Thing")
Things = dict[tuple[ObjectRef, tuple[Thing, ...]], set[int]]
"""Classes by the object they belong to and by what they hold of the node."""


def port_rules(classes: Classes) -> Iterator[Rule]:
    """One pod a node for each set of host ports, and none beside a pod with a port in conflict."""
    things: Things[HostPort] = {}
    for cls in classes.pods:
        ports = cls.sample.spec.host_ports
        if ports:
            things.setdefault((_owner(cls, ports[0]), ports), set()).add(cls.index)
    yield from _rules(things, node_ports.conflicts, Family.NODE_PORTS)


def disk_rules(classes: Classes) -> Iterator[Rule]:
    """One pod a node for each disk that may not be shared."""
    things: Things[Volume] = {}
    for cls in classes.pods:
        # A disk that this pod only reads is still one that another may write.
        disks = tuple(v for v in cls.sample.spec.volumes if restrictions.conflicts(v, replace(v, read_only=False)))
        if disks:
            things.setdefault((owner_ref(cls.sample, disks[0].source), disks), set()).add(cls.index)
    yield from _rules(things, restrictions.conflicts, Family.VOLUME_RESTRICTIONS)


def gang_rules(cluster: Cluster, classes: Classes) -> Iterator[Gang]:
    """Pods that mount one volume which only one node may mount.

    Filter does not look at it, yet the kubelet of a second node waits for the volume for ever.
    """
    users: dict[str, list[PodClass]] = {}
    for cls in classes.pods:
        for member in cls.members:
            for use in claim_uses(member):
                users.setdefault(use.key, []).append(cls)
    for key, found in users.items():
        claim = cluster.storage.claims.get(key)
        if claim is not None and len(found) > 1 and claim.access_modes and _ONE_NODE.issuperset(claim.access_modes):
            source = RuleSource(Family.VOLUME_BINDING, ObjectRef("PersistentVolumeClaim", key, HOST))
            yield Gang(source, HOST, frozenset(cls.index for cls in found))


def _owner(cls: PodClass, port: HostPort) -> ObjectRef:
    return owner_ref(cls.sample, f"{port.port}/{port.protocol}")


def _rules(things: Things[Thing], conflicts: Callable[[Thing, Thing], bool], family: Family) -> Iterator[Rule]:
    for (owner, held), members in things.items():
        if _meet(held, held, conflicts):
            yield CapPerDomain(RuleSource(family, owner), HOST, frozenset(members))
    for ((owner, held), left), ((_, other), right) in combinations(things.items(), 2):
        if _meet(held, other, conflicts):
            yield Exclude(RuleSource(family, owner), HOST, frozenset(left), frozenset(right))


def _meet(held: tuple[Thing, ...], other: tuple[Thing, ...], conflicts: Callable[[Thing, Thing], bool]) -> bool:
    return any(conflicts(one, two) for one in held for two in other)
