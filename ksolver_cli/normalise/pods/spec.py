"""Pod specs, read once and shared: one `PodSpec` object for all pods whose placement-relevant spec says the same."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace

from ksolver_cli.domain.labels import NodeSelector
from ksolver_cli.domain.pod import PodSpec, Resources
from ksolver_cli.normalise.fields import Field, raw_key
from ksolver_cli.normalise.pods import affinity, features, requests, volumes
from ksolver_cli.normalise.selectors import read_node_selector

SYSTEM_PRIORITIES: Mapping[str, int] = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""Priority classes that every cluster has (Kubernetes docs, "Guaranteed scheduling for critical add-on pods")."""

_SPEC_KEYS = (
    "affinity",
    "hostNetwork",
    "hostUsers",
    "nodeSelector",
    "os",
    "overhead",
    "preemptionPolicy",
    "priority",
    "priorityClassName",
    "resourceClaims",
    "resources",
    "restartPolicy",
    "runtimeClassName",
    "schedulerName",
    "schedulingGates",
    "terminationGracePeriodSeconds",
    "tolerations",
    "topologySpreadConstraints",
)
_CONTAINER_KEYS = ("name", "image", "resources", "ports", "restartPolicy", "restartPolicyRules")
_NAMED_AFTER_POD = frozenset({"ephemeral"})
_MADE_ANEW = frozenset({"configMap", "secret", "projected", "downwardAPI"})


@dataclass(frozen=True, slots=True)
class SpecOf:
    """A spec as read: the shared object, and what in-place resize needs of it."""

    spec: PodSpec
    resources: requests.PodResources


@dataclass
class Specs:
    """Interns specs: raw text seen before is not read again, and equal readings share one object."""

    priorities: Mapping[str, int] = field(default_factory=dict)
    _by_raw: dict[object, SpecOf] = field(default_factory=dict)
    _by_meaning: dict[object, SpecOf] = field(default_factory=dict)
    _selectors: dict[object, NodeSelector | None] = field(default_factory=dict)

    def read(self, spec: Field, namespace: str, pod_name: str) -> SpecOf:
        """The shared spec of a pod. Raises FieldError when a part that placement looks at cannot be read."""
        required = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        raw = _relevant(spec, namespace, pod_name)
        key = raw_key(raw)
        base = self._by_raw.get(key) if key is not None else None
        if base is None:
            base = self._shared(_read(spec, namespace, pod_name, self.priorities))
            if key is not None:
                self._by_raw[key] = base
        if required.absent:
            return base
        return self._with_node_affinity(base, required)

    def _with_node_affinity(self, base: SpecOf, required: Field) -> SpecOf:
        """Node affinity is read apart: DaemonSet pods differ in nothing else, and there are very many of them."""
        raw = raw_key(required.value)
        if raw is not None and (found := self._by_raw.get((id(base), raw))) is not None:
            return found
        selector = read_node_selector(required)
        found = self._by_meaning.get((id(base), selector))
        if found is None:
            found = SpecOf(replace(base.spec, node_affinity=selector), base.resources)
            self._by_meaning[id(base), selector] = found
        if raw is not None:
            self._by_raw[id(base), raw] = found
        return found

    def _shared(self, read: SpecOf) -> SpecOf:
        return self._by_meaning.setdefault(_meaning(read), read)


def _relevant(spec: Field, namespace: str, pod_name: str) -> list[object]:
    """The raw parts that placement looks at, without what is generated anew for each pod."""
    raw = spec.mapping()
    parts: list[object] = [[key, raw[key]] for key in _SPEC_KEYS if raw.get(key) is not None]
    parts += (
        [_container_key(container) for container in spec[key].items()] for key in ("containers", "initContainers")
    )
    named_after_pod = False
    for volume in spec["volumes"].items():
        kinds = volume.mapping()
        if not _MADE_ANEW & kinds.keys():
            parts.append(kinds)
        named_after_pod = named_after_pod or bool(_NAMED_AFTER_POD & kinds.keys())
    own = spec["affinity"].mapping()
    if own.get("podAffinity") is not None or own.get("podAntiAffinity") is not None:
        parts.append(namespace)
    if named_after_pod:
        parts.append([pod_name])
    return parts


def _container_key(container: Field) -> list[object]:
    raw = container.mapping()
    return [[key, raw[key]] for key in _CONTAINER_KEYS if raw.get(key) is not None]


def _read(spec: Field, namespace: str, pod_name: str, priorities: Mapping[str, int]) -> SpecOf:
    """A spec without its required node affinity."""
    resources = requests.read_resources(spec)
    main, init = spec["containers"].items(), spec["initContainers"].items()
    containers = [*main, *init]
    # Host ports count while a container keeps running: main containers and sidecars.
    running = [*main, *(c for c in init if c["restartPolicy"].text() == "Always")]
    own = spec["affinity"]
    pods, anti = own["podAffinity"], own["podAntiAffinity"]
    priority_class = spec["priorityClassName"].text()
    made = PodSpec(
        requests=requests.bounded(resources.requests()),
        limits=requests.bounded(resources.limits()),
        node_selector=tuple(sorted(spec["nodeSelector"].text_map().items())),
        preferred_node_affinity=affinity.preferred_node_terms(own["nodeAffinity"]),
        affinity=affinity.required_terms(pods, namespace),
        anti_affinity=affinity.required_terms(anti, namespace),
        preferred_affinity=affinity.preferred_terms(pods, namespace),
        preferred_anti_affinity=affinity.preferred_terms(anti, namespace),
        spread=tuple(affinity.spread_constraint(c) for c in spec["topologySpreadConstraints"].items()),
        tolerations=tuple(affinity.toleration(t) for t in spec["tolerations"].items()),
        host_ports=tuple(dict.fromkeys(port for c in running for port in affinity.host_ports(c))),
        volumes=volumes.read_volumes(spec, pod_name),
        claims=volumes.read_claims(spec),
        container_claims=tuple(claim for c in containers for claim in volumes.container_claims(c)),
        priority=spec["priority"].whole(_class_priority(priority_class, priorities)),
        priority_class=priority_class,
        preemption_policy=spec["preemptionPolicy"].text("PreemptLowerPriority"),
        scheduler_name=spec["schedulerName"].text() or "default-scheduler",
        scheduling_gates=tuple(gate["name"].text() for gate in spec["schedulingGates"].items()),
        runtime_class=spec["runtimeClassName"].text(),
        os_name=spec["os"]["name"].text(),
        host_network=spec["hostNetwork"].flag(),
        images=tuple(c["image"].text() for c in containers),
        restart_policy=spec["restartPolicy"].text() or "Always",
        termination_grace_seconds=spec["terminationGracePeriodSeconds"].whole(30),
        container_requests=_by_container(resources.containers, running_only=True),
        required_features=features.required_features(spec),
        extended_requests_by_container=_extended(resources.containers),
        has_pod_level_resources=resources.has_pod_level,
    )
    return SpecOf(made, resources)


def _class_priority(name: str, priorities: Mapping[str, int]) -> int:
    return priorities.get(name, SYSTEM_PRIORITIES.get(name, 0))


def _by_container(
    containers: Iterable[requests.ContainerResources], *, running_only: bool
) -> tuple[tuple[str, Resources], ...]:
    return tuple(
        (c.name, requests.rounded(c.requests)) for c in containers if not running_only or c.is_sidecar or not c.is_init
    )


def _extended(containers: Iterable[requests.ContainerResources]) -> tuple[tuple[str, Resources], ...]:
    """Extended resources by container, init steps too, where there are any."""
    found = []
    for name, amounts in _by_container(containers, running_only=False):
        extended = {resource: amount for resource, amount in amounts.items() if is_extended(resource)}
        if extended:
            found.append((name, extended))
    return tuple(found)


def is_extended(resource: str) -> bool:
    """Whether a resource name is an extended one: it has a domain, outside of kubernetes.io, and is no quota name.

    Source: `IsExtendedResourceName` of the scheduler's API helpers.
    """
    return "/" in resource and "kubernetes.io/" not in resource and not resource.startswith("requests.")


def _meaning(read: SpecOf) -> object:
    """A hashable value that is equal for specs that say the same."""
    named = [_hashable(getattr(read.spec, item.name)) for item in fields(PodSpec)]
    own = read.resources
    exact = [(c.name, _hashable(c.requests), _hashable(c.limits), c.is_init, c.is_sidecar) for c in own.containers]
    return (*named, *exact, *map(_hashable, (own.overhead, own.pod_requests, own.pod_limits)))


def _hashable(value: object) -> object:
    if isinstance(value, Mapping):
        return frozenset(value.items())
    if isinstance(value, tuple):
        return tuple(_hashable(element) for element in value)
    return value
