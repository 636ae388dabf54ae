"""What the API server fills in when a pod is created: needed for manifests and templates, already there in served pods.

Sources: SetDefaults_Pod, and the admission plugins LimitRanger, RuntimeClass, Priority and DefaultTolerationSeconds.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ksolver_cli.normalise.fields import Field, FieldError, Raw
from ksolver_cli.normalise.pods.requests import is_pod_level, read_amounts, read_resources

Spec = dict[str, object]
Limits = tuple[Raw, Raw]
"""Default limits and default requests of a container, by resource."""

_NODE_TROUBLE = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_GRACE_SECONDS = 300
_AFFINITIES = ("podAffinity", "podAntiAffinity")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True)
class Admission:
    """Fills in pod specs with what the cluster's own objects add to them."""

    runtime_classes: Mapping[str, Raw] = field(default_factory=dict)
    limit_ranges: Mapping[str, tuple[Limits, ...]] = field(default_factory=dict)
    """What LimitRanges say of containers, by namespace."""
    default_priority_class: str = ""
    priorities: Mapping[str, int] = field(default_factory=dict)

    def admit(self, spec: Field, labels: Mapping[str, str], namespace: str) -> Spec:
        """The spec as the API server would store it; the input is left as it is. Raises FieldError."""
        made: Spec = dict(spec.mapping())
        ranges = self.limit_ranges.get(namespace, ())
        host_network = spec["hostNetwork"].flag()
        for key in ("initContainers", "containers"):
            if not spec[key].absent:
                made[key] = [_container(c, ranges, host_network) for c in spec[key].items()]
        self._add_runtime_class(made, spec)
        self._add_priority(made)
        _add_tolerations(made)
        _add_pod_level_requests(made)
        _merge_label_keys(made, labels)
        return made

    def _add_runtime_class(self, made: Spec, spec: Field) -> None:
        found = self.runtime_classes.get(spec["runtimeClassName"].text())
        if found is None:
            return
        runtime = Field(found)
        overhead = runtime["overhead"]["podFixed"]
        if not overhead.absent and spec["overhead"].absent:
            made["overhead"] = overhead.value
        scheduling = runtime["scheduling"]
        made["nodeSelector"] = scheduling["nodeSelector"].text_map() | spec["nodeSelector"].text_map()
        made["tolerations"] = [t.value for where in (spec, scheduling) for t in where["tolerations"].items()]

    def _add_priority(self, made: Spec) -> None:
        if not made.get("priorityClassName") and made.get("priority") is None and self.default_priority_class:
            made["priorityClassName"] = self.default_priority_class


def admission_of(objects: Mapping[str, tuple[Raw, ...]]) -> Admission:
    """What a snapshot's RuntimeClasses, LimitRanges and PriorityClasses add; broken ones add nothing."""
    limits: dict[str, list[Limits]] = {}
    for raw in objects.get("limitranges", ()):
        limits.setdefault(_text(raw, "namespace") or "default", []).extend(_limits(raw))
    classes = [(raw, _text(raw, "name")) for raw in objects.get("priorityclasses", ()) if isinstance(raw, dict)]
    defaults = [name for raw, name in classes if raw.get("globalDefault") is True]
    return Admission(
        runtime_classes={_text(raw, "name"): raw for raw in objects.get("runtimeclasses", ()) if _is_sound(raw)},
        limit_ranges={namespace: tuple(found) for namespace, found in limits.items()},
        default_priority_class=defaults[0] if defaults else "",
        priorities={name: value for raw, name in classes if isinstance(value := raw.get("value"), int)},
    )


def _limits(raw: Raw) -> list[Limits]:
    try:
        items = [item for item in Field(raw)["spec"]["limits"].items() if item["type"].text() == "Container"]
        return [(_amounts(item["default"]), _amounts(item["defaultRequest"])) for item in items]
    except FieldError:
        return []


def _amounts(resources: Field) -> Raw:
    """A resource list as it stands, once it has proved readable."""
    resources.quantities()
    return resources.mapping()


def _is_sound(raw: Raw) -> bool:
    """Whether what a RuntimeClass adds to pods can be read."""
    try:
        runtime = Field(raw)
        runtime["overhead"]["podFixed"].quantities()
        runtime["scheduling"]["nodeSelector"].text_map()
        return all(toleration.mapping() for toleration in runtime["scheduling"]["tolerations"].items())
    except FieldError:
        return False


def _text(raw: Raw, key: str) -> str:
    try:
        return Field(raw)["metadata"][key].text()
    except FieldError:
        return ""


def _container(container: Field, ranges: Iterable[Limits], host_network: bool) -> Spec:
    """A container with requests taken from its limits, then from LimitRanges, and host ports where it has the host's
    network.
    """
    made: Spec = dict(container.mapping())
    resources: Spec = dict(container["resources"].mapping())
    limits, asked = container["resources"]["limits"].mapping(), container["resources"]["requests"].mapping()
    requests: Spec = {**limits, **asked}
    for default_limits, default_requests in ranges:
        requests = {**default_requests, **requests}
        limits = {**default_limits, **limits}
    resources.update({key: value for key, value in (("requests", requests), ("limits", limits)) if value})
    made["resources"] = resources
    if host_network:
        made["ports"] = [{"hostPort": p["containerPort"].value} | _without_zero(p) for p in container["ports"].items()]
    return made


def _without_zero(port: Field) -> Spec:
    return {key: value for key, value in port.mapping().items() if key != "hostPort" or value}


def _add_tolerations(made: Spec) -> None:
    """Every pod tolerates for five minutes a node that is not ready or out of reach."""
    field_ = Field(made)["tolerations"].items()
    covered = {t["key"].text() for t in field_ if t["effect"].text() in ("", "NoExecute")}
    missing = [key for key in _NODE_TROUBLE if key not in covered and "" not in covered]
    made["tolerations"] = [t.value for t in field_] + [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _GRACE_SECONDS}
        for key in missing
    ]


def _add_pod_level_requests(made: Spec) -> None:
    """Requests of the whole pod where only its limits are set: from its containers, else from those limits."""
    spec = Field(made)
    limits = spec["resources"]["limits"]
    if not read_amounts(limits):
        return
    requests = dict(spec["resources"]["requests"].mapping())
    for name, nanos in read_resources(spec).requests(pod_level=False, with_overhead=False).items():
        if name in ("cpu", "memory"):
            requests.setdefault(name, f"{nanos}n")
    for name, amount in limits.mapping().items():
        if is_pod_level(name):
            requests.setdefault(name, amount)
    made["resources"] = dict(spec["resources"].mapping()) | {"requests": requests}


def _merge_label_keys(made: Spec, labels: Mapping[str, str]) -> None:
    """MatchLabelKeys and mismatchLabelKeys of pod (anti-)affinity, written into the selectors (KEP-3633)."""
    affinity = Field(made)["affinity"]
    own: Spec = dict(affinity.mapping())
    for kind in _AFFINITIES:
        if affinity[kind].absent:
            continue
        side: Spec = dict(affinity[kind].mapping())
        side[_REQUIRED] = [_merged(term, labels) for term in affinity[kind][_REQUIRED].items()]
        side[_PREFERRED] = [
            dict(preferred.mapping()) | {"podAffinityTerm": _merged(preferred["podAffinityTerm"], labels)}
            for preferred in affinity[kind][_PREFERRED].items()
        ]
        own[kind] = side
    if own:
        made["affinity"] = own


def _merged(term: Field, labels: Mapping[str, str]) -> Spec:
    selector = term["labelSelector"]
    if selector.absent:
        return dict(term.mapping())
    expressions = [expression.value for expression in selector["matchExpressions"].items()]
    for keys, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
        named = (key for key in term[keys].texts() if key in labels)
        expressions += ({"key": key, "operator": operator, "values": [labels[key]]} for key in named)
    return dict(term.mapping()) | {"labelSelector": dict(selector.mapping()) | {"matchExpressions": expressions}}
