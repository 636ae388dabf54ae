"""Small clusters with devices, as API objects."""

from collections.abc import Iterable, Mapping

Json = dict[str, object]
DRIVER = "gpu.example.com"


def device(name: str, *, counters: Mapping[str, int] | None = None, **more: object) -> Json:
    """A device of model m, which takes what `counters` says of the pool's set."""
    found: Json = {"name": name, "attributes": {"model": {"string": "m"}}, "capacity": {"memory": {"value": "40Gi"}}}
    if counters:
        used = {key: {"value": str(amount)} for key, amount in counters.items()}
        found["consumesCounters"] = [{"counterSet": "set", "counters": used}]
    return found | more


def pool(node: str, devices: Iterable[Json], *, counters: Mapping[str, int] | None = None) -> list[Json]:
    """The slices of a node's pool; its counters in a slice of their own."""
    specs: list[Json] = [{"devices": list(devices)}]
    if counters:
        amounts = {key: {"value": str(amount)} for key, amount in counters.items()}
        specs.append({"sharedCounters": [{"name": "set", "counters": amounts}]})
    common = {
        "driver": DRIVER,
        "nodeName": node,
        "pool": {"name": node, "generation": 1, "resourceSliceCount": len(specs)},
    }
    return [
        {"metadata": {"name": f"{node}-{index}"}, "spec": common | spec, "apiVersion": "resource.k8s.io/v1"}
        for index, spec in enumerate(specs)
    ]


def device_class(name: str = "gpu", **spec: object) -> Json:
    return {"metadata": {"name": name}, "spec": spec}


def request(name: str = "r", **more: object) -> Json:
    return {"name": name, "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1} | more}


def claim(name: str, *requests: Json, allocated: str = "", user: str = "", constraints: Iterable[Json] = ()) -> Json:
    """A claim; `allocated` is a device as `node/device`, `user` the pod it is reserved for."""
    found: Json = {
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
        "spec": {"devices": {"requests": list(requests or [request()]), "constraints": list(constraints)}},
    }
    if allocated:
        node, _, held = allocated.partition("/")
        result = {"request": "r", "driver": DRIVER, "pool": node, "device": held}
        field = {"key": "metadata.name", "operator": "In", "values": [node]}
        status: Json = {
            "allocation": {
                "devices": {"results": [result]},
                "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]},
            }
        }
        if user:
            status["reservedFor"] = [{"resource": "pods", "name": user, "uid": f"uid-{user}"}]
        found["status"] = status
    return found


def pod(
    name: str, *claims: str, template: str = "", node_name: str = "", requests: Mapping[str, str] | None = None
) -> Json:
    """A pod with claims, or one that has a claim `<name>-made` from a template."""
    entries: list[Json] = [{"name": key, "resourceClaimName": key} for key in claims]
    status: Json = {}
    if template:
        entries.append({"name": "t", "resourceClaimTemplateName": template})
        status = {"resourceClaimStatuses": [{"name": "t", "resourceClaimName": f"{name}-made"}]}
    resources = {"requests": dict(requests or {}), "limits": dict(requests or {})}
    spec: Json = {"containers": [{"name": "c", "resources": resources}], "resourceClaims": entries}
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    return {"metadata": metadata, "spec": spec | ({"nodeName": node_name} if node_name else {}), "status": status}
