"""From a snapshot to a cluster: every object read once, problems collected, nothing lost in silence."""

from collections.abc import Iterable, Mapping

from ksolver_cli.domain.cluster import CaveatKind, Cluster, Gap
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import Pod, VolumeKind
from ksolver_cli.normalise.caveats import note_caveats
from ksolver_cli.normalise.devices import normalise_devices
from ksolver_cli.normalise.fields import Field, FieldError, Problems, Raw, object_name, read_each
from ksolver_cli.normalise.objects.nodes import read_node
from ksolver_cli.normalise.objects.policies import read_budgets, read_namespace, read_priority_class, read_service
from ksolver_cli.normalise.objects.workloads import read_workloads
from ksolver_cli.normalise.pods.owners import Owners, parents_of
from ksolver_cli.normalise.pods.pod import PodReader
from ksolver_cli.normalise.pods.spec import Specs
from ksolver_cli.normalise.storage import normalise_storage
from ksolver_cli.normalise.version import parse_version
from ksolver_cli.normalise.visibility import affinity_terms
from ksolver_cli.snapshot.model import Snapshot

DEFAULT_VERSION = (1, 36)
"""The version that verdicts are for where neither the caller nor the input names one."""

Objects = Mapping[str, tuple[Raw, ...]]


def normalise(snapshot: Snapshot, *, complete: bool = False, kubernetes_version: str | None = None) -> Cluster:
    """The cluster that a snapshot shows. Nodes come sorted by name, pods by namespace and name.

    `kubernetes_version` overrides the server's (`v1.29.3-eks-…` and the like). Nothing here raises: what cannot be read
    becomes a caveat.
    """
    objects: Objects = snapshot.objects
    problems = Problems()
    priorities = dict(read_each("PriorityClass", objects.get("priorityclasses", ()), problems, read_priority_class))
    specs = Specs(priorities)
    workloads = read_workloads(objects, specs, problems)
    nodes = _nodes(objects.get("nodes", ()), problems)
    version = _version(kubernetes_version, snapshot.server_version)
    reader = PodReader(specs, Owners(parents_of((w.ref, w.owner) for w in workloads)), version)
    pods, unreadable = _pods(objects.get("pods", ()), reader, problems)
    note_caveats(nodes, pods, problems)
    services = read_each("Service", objects.get("services", ()), problems, read_service)
    return Cluster(
        nodes=nodes,
        pods=pods,
        namespaces=dict(read_each("Namespace", objects.get("namespaces", ()), problems, read_namespace)),
        budgets=read_budgets(objects.get("poddisruptionbudgets", ()), problems),
        workloads=workloads,
        services=tuple(service for service in services if service is not None),
        priority_classes=priorities,
        storage=normalise_storage(objects, problems),
        devices=normalise_devices(objects, problems),
        gaps=snapshot.gaps if complete else _gaps(snapshot, pods),
        caveats=problems.caveats(),
        unreadable_nodes=unreadable if complete else unreadable | _half_seen(snapshot, nodes),
        kinds_present=frozenset(objects),
        kubernetes_version=version,
        name=snapshot.cluster_name,
        collected_at=snapshot.collected_at,
        complete=complete,
    )


def _half_seen(snapshot: Snapshot, nodes: Iterable[Node]) -> frozenset[str]:
    """All nodes where pods were not read, or not of every namespace: any of them may hold pods that nobody saw."""
    whole = "pods" in snapshot.objects and all(gap.kind != "pods" for gap in snapshot.gaps)
    return frozenset() if whole else frozenset(node.name for node in nodes)


def _version(asked: str | None, served: str) -> tuple[int, int]:
    return parse_version(asked or "") or parse_version(served) or DEFAULT_VERSION


def _nodes(raws: Iterable[Raw], problems: Problems) -> tuple[Node, ...]:
    kept: dict[str, Node] = {}
    for node in read_each("Node", raws, problems, read_node):
        if node.name in kept:
            problems.note(CaveatKind.OTHER, "more than one node of this name; the first is kept", node.name)
        else:
            kept[node.name] = node
    return tuple(sorted(kept.values(), key=lambda node: node.name))


def _pods(raws: Iterable[Raw], reader: PodReader, problems: Problems) -> tuple[tuple[Pod, ...], frozenset[str]]:
    """The pods that can be read, and the nodes that hold one which cannot."""
    kept: dict[str, Pod] = {}
    unreadable: set[str] = set()
    for index, raw in enumerate(raws):
        try:
            pod = reader.read(Field(raw))
        except FieldError as error:
            held = _node_held_by(raw)
            problems.bad_object("Pod", object_name(raw, index), error, *held)
            unreadable.update(held)
            continue
        if pod.key in kept:
            unreadable.update(_note_duplicate(kept[pod.key], pod, problems))
        else:
            kept[pod.key] = pod
    return tuple(sorted(kept.values(), key=lambda pod: (pod.namespace, pod.name))), frozenset(unreadable)


def _note_duplicate(kept: Pod, dropped: Pod, problems: Problems) -> tuple[str, ...]:
    """Two pods of one name cannot both be judged: the first is kept. Returns the node that the second one held."""
    held = (dropped.node_name,) if dropped.is_bound and dropped.node_name != kept.node_name else ()
    problems.note(CaveatKind.OTHER, "more than one pod of this name; the first is kept", dropped.key, *held)
    return held


def _node_held_by(raw: object) -> tuple[str, ...]:
    """The node on which a pod that cannot be read takes room, where that much can be read."""
    parts = raw if isinstance(raw, dict) else {}
    spec, status = parts.get("spec"), parts.get("status")
    name = spec.get("nodeName") if isinstance(spec, dict) else None
    finished = isinstance(status, dict) and status.get("phase") in ("Succeeded", "Failed")
    return (name,) if isinstance(name, str) and name and not finished else ()


def _gaps(snapshot: Snapshot, pods: Iterable[Pod]) -> tuple[Gap, ...]:
    """The snapshot's gaps, and kinds that answers rest on but that the input does not hold at all."""
    known = {gap.kind for gap in snapshot.gaps} | set(snapshot.objects)
    missing = [kind for kind in _needed_kinds(pods) if kind not in known]
    return (*snapshot.gaps, *(Gap(kind, "not in the input") for kind in missing))


def _needed_kinds(pods: Iterable[Pod]) -> Iterable[str]:
    specs = {id(pod.spec): pod.spec for pod in pods if not pod.is_finished}.values()
    yield "nodes"
    yield "pods"
    yield "poddisruptionbudgets"
    if any(volume.kind in (VolumeKind.CLAIM, VolumeKind.EPHEMERAL) for spec in specs for volume in spec.volumes):
        yield from ("persistentvolumeclaims", "persistentvolumes", "storageclasses", "csinodes")
    if any(spec.claims for spec in specs):
        yield from ("resourceclaims", "resourceclaimtemplates", "resourceslices", "deviceclasses")
    if any(term.namespace_selector is not None for spec in specs for term in affinity_terms(spec)):
        yield "namespaces"
    if any(pod.is_daemon for pod in pods):
        yield "daemonsets"
