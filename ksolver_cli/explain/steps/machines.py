"""What ends the machines behind deleted nodes: they cost until they are gone.

Deleting a Node object ends a machine only where Karpenter runs it (its finalizer sees to that: Karpenter's page on
disruption). A node group ends the machines that it is told to end and lowers its size with them; told only a smaller
size, it picks some by itself.
"""

from collections.abc import Sequence

from ksolver_cli.domain.node import Node
from ksolver_cli.explain.places import pool_of

_KARPENTER = ("karpenter.sh/nodepool", "karpenter.sh/provisioner-name")


def machine_notes(nodes: Sequence[Node]) -> tuple[str, ...]:
    """One sentence for each way in which these machines end, with their names; none for no nodes."""
    kept = [node for node in nodes if not is_karpenter(node)]
    notes = [] if len(kept) == len(nodes) else ["Karpenter ends its machines as their nodes are deleted"]
    for provider, tell in (("aws", _aws), ("gce", _gce), ("azure", _azure)):
        mine = [node for node in kept if node.provider_id.startswith(f"{provider}://")]
        kept = [node for node in kept if node not in mine]
        notes += tell(mine)
    if kept:
        notes.append("afterwards end the machines themselves: without its node a machine runs on, and is charged")
    return tuple(notes)


def is_karpenter(node: Node) -> bool:
    """Whether Karpenter made the node: its pool has no size that a person sets."""
    return any(key in node.labels for key in _KARPENTER)


def _aws(nodes: Sequence[Node]) -> list[str]:
    if not nodes:
        return []
    instances = " ".join(node.provider_id.rsplit("/", 1)[-1] for node in nodes)
    command = "aws autoscaling terminate-instance-in-auto-scaling-group --should-decrement-desired-capacity"
    return [f"afterwards, for each INSTANCE of {instances}: {command} --instance-id INSTANCE"]


def _gce(nodes: Sequence[Node]) -> list[str]:
    found: dict[str, list[str]] = {}
    for node in nodes:
        zone, name = node.provider_id.split("/")[-2:]
        found.setdefault(zone, []).append(name)
    command = "gcloud compute instance-groups managed delete-instances GROUP"
    return [
        f"afterwards, GROUP being their instance group: {command} --zone={zone} --instances={','.join(names)}"
        for zone, names in sorted(found.items())
    ]


def _azure(nodes: Sequence[Node]) -> list[str]:
    found: dict[str, list[str]] = {}
    for node in nodes:
        found.setdefault(pool_of(node), []).append(node.name)
    command = "az aks nodepool delete-machines --resource-group GROUP --cluster-name CLUSTER"
    return [
        f"afterwards: {command} --nodepool-name {pool or 'POOL'} --machine-names {' '.join(names)}"
        for pool, names in sorted(found.items())
    ]
