"""Pod specs, read once and shared: one `PodSpec` object for all pods whose placement-relevant spec says the same."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace

from ksolver_cli.domain.devices import CLASS_RESOURCE_PREFIX
from ksolver_cli.domain.labels import NodeSelector
from ksolver_cli.domain.pod import PodSpec, Resources
from ksolver_cli.normalise.fields import Field, raw_key
from ksolver_cli.normalise.pods import affinity, features, requests, volumes
from ksolver_cli.normalise.selectors import read_node_selector

SYSTEM_PRIORITIES: Mapping[str, int] = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""Priority classes that every cluster has (Kubernetes docs, "Guaranteed scheduling for critical add-on pods")."""

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_SPEC_KEYS = (
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
_NAMED_AFTER_POD = "ephemeral"
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
        key = raw_key(_relevant(spec.mapping(), namespace, pod_name))
        base = self._by_raw.get(key) if key is not None else None
        if base is None:
            read = _read(spec, namespace, pod_name, self.priorities)
            base = self._by_meaning.setdefault(_meaning(read), read)
            if key is not None:
                self._by_raw[key] = base
        if spec.mapping().get("affinity") is None:
            return base
        required = spec["affinity"]["nodeAffinity"][_REQUIRED]
        return base if required.absent else self._with_node_affinity(base, required)

    def _with_node_affinity(self, base: SpecOf, required: Field) -> SpecOf:
        """Node affinity is read apart: DaemonSet pods differ in nothing else, and there are very many of them."""
        selector = self._selector(required)
        found = self._by_meaning.get((id(base), id(selector)))
        if found is None:
            found = SpecOf(replace(base.spec, node_affinity=selector), base.resources)
            self._by_meaning[id(base), id(selector)] = found
        return found

    def _selector(self, required: Field) -> NodeSelector | None:
        """Equal selectors as one object, so that specs which differ in nothing else can be told by it."""
        raw = raw_key(required.value)
        if raw is not None and raw in self._selectors:
            return self._selectors[raw]
        read = read_node_selector(required)
        selector = self._selectors.setdefault(read, read)
        if raw is not None:
            self._selectors[raw] = selector
        return selector


def _relevant(raw: Mapping[str, object], namespace: str, pod_name: str) -> list[object]:
    """The raw parts that placement looks at, without what is generated anew for each pod, and without the required
    node affinity. What is not of the right shape stays whole: it is for the reader to refuse it.
    """
    parts: list[object] = [[key, raw[key]] for key in _SPEC_KEYS if raw.get(key) is not None]
    parts += (_containers_key(raw.get(key)) for key in ("containers", "initContainers"))
    volumes = raw.get("volumes")
    for volume in volumes if isinstance(volumes, list) else (volumes,):
        kinds = volume.keys() if isinstance(volume, dict) else frozenset[str]()
        if not _MADE_ANEW & kinds:
            parts.append(volume)
        if _NAMED_AFTER_POD in kinds:
            parts.append([pod_name])
    if (affinity := raw.get("affinity")) is not None:
        parts.append([_affinity_key(affinity), namespace])
    return parts


def _containers_key(containers: object) -> object:
    if not isinstance(containers, list) or not all(isinstance(container, dict) for container in containers):
        return containers
    return [[[key, c[key]] for key in _CONTAINER_KEYS if c.get(key) is not None] for c in containers]


def _affinity_key(affinity: object) -> object:
    nodes = affinity.get("nodeAffinity") if isinstance(affinity, dict) else None
    if not isinstance(affinity, dict) or not isinstance(nodes, dict):
        return affinity
    pods = [affinity.get("podAffinity"), affinity.get("podAntiAffinity")]
    return [pods, {key: value for key, value in nodes.items() if key != _REQUIRED}]


def _read(spec: Field, namespace: str, pod_name: str, priorities: Mapping[str, int]) -> SpecOf:
    """A spec without its required node affinity."""
    resources = requests.read_resources(spec)
    bare = PodSpec(
        requests=requests.bounded(resources.requests()),
        limits=requests.bounded(resources.limits()),
        container_requests=_by_container(resources.containers),
        extended_requests_by_container=_extended(resources.containers),
        has_pod_level_resources=resources.has_pod_level,
        volumes=volumes.read_volumes(spec, pod_name),
        claims=volumes.read_claims(spec),
        required_features=features.required_features(spec),
    )
    return SpecOf(
        _with_settings(_with_rules(_with_containers(bare, spec), spec, namespace), spec, priorities), resources
    )


def _with_containers(made: PodSpec, spec: Field) -> PodSpec:
    main, init = spec["containers"].items(), spec["initContainers"].items()
    # Host ports count while a container keeps running: main containers and sidecars.
    running = [*main, *(c for c in init if c["restartPolicy"].text() == "Always")]
    return replace(
        made,
        host_ports=tuple(dict.fromkeys(port for c in running for port in affinity.host_ports(c))),
        container_claims=tuple(claim for c in (*main, *init) for claim in volumes.container_claims(c)),
        images=tuple(c["image"].text() for c in (*main, *init)),
    )


def _with_rules(made: PodSpec, spec: Field, namespace: str) -> PodSpec:
    """What decides where the pod may and would rather run."""
    own = spec["affinity"]
    pods, anti = own["podAffinity"], own["podAntiAffinity"]
    return replace(
        made,
        node_selector=tuple(sorted(spec["nodeSelector"].text_map().items())),
        preferred_node_affinity=affinity.preferred_node_terms(own["nodeAffinity"]),
        affinity=affinity.required_terms(pods, namespace),
        anti_affinity=affinity.required_terms(anti, namespace),
        preferred_affinity=affinity.preferred_terms(pods, namespace),
        preferred_anti_affinity=affinity.preferred_terms(anti, namespace),
        spread=tuple(affinity.spread_constraint(c) for c in spec["topologySpreadConstraints"].items()),
        tolerations=tuple(affinity.toleration(t) for t in spec["tolerations"].items()),
    )


def _with_settings(made: PodSpec, spec: Field, priorities: Mapping[str, int]) -> PodSpec:
    priority_class = spec["priorityClassName"].text()
    return replace(
        made,
        priority=spec["priority"].whole(_class_priority(priority_class, priorities)),
        priority_class=priority_class,
        preemption_policy=spec["preemptionPolicy"].text("PreemptLowerPriority"),
        scheduler_name=spec["schedulerName"].text() or "default-scheduler",
        scheduling_gates=tuple(gate["name"].text() for gate in spec["schedulingGates"].items()),
        runtime_class=spec["runtimeClassName"].text(),
        os_name=spec["os"]["name"].text(),
        host_network=spec["hostNetwork"].flag(),
        restart_policy=spec["restartPolicy"].text() or "Always",
        termination_grace_seconds=spec["terminationGracePeriodSeconds"].whole(30),
    )


def _class_priority(name: str, priorities: Mapping[str, int]) -> int:
    return priorities.get(name, SYSTEM_PRIORITIES.get(name, 0))


def _by_container(containers: Iterable[requests.ContainerResources]) -> tuple[tuple[str, Resources], ...]:
    """Requests of the containers that keep running, by name."""
    return tuple((c.name, requests.rounded(c.requests)) for c in containers if c.is_sidecar or not c.is_init)


def _extended(containers: Iterable[requests.ContainerResources]) -> tuple[tuple[str, Resources, bool], ...]:
    """Extended resources by container, init steps too, where there are any."""
    found = []
    for container in containers:
        amounts = requests.rounded(container.requests).items()
        extended = {name: amount for name, amount in amounts if amount and may_be_served(name)}
        found.append((container.name, extended, container.is_init and not container.is_sidecar))
    return tuple(found) if any(extended for _, extended, _ in found) else ()


def may_be_served(resource: str) -> bool:
    """Whether device classes may serve a resource: extended resources, and a class's own name behind its prefix."""
    return resource.startswith(CLASS_RESOURCE_PREFIX) or is_extended(resource)


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
