"""Random clusters with devices: partitions, shared capacity, taints, classes, claims, and pods that want them."""

from random import Random
from typing import Any

Json = dict[str, Any]

DRIVERS = ("gpu.example.com", "nic.example.com")
MODELS = ("a100", "h100", "l40s")
CLASSES = ("gpu", "nic", "big", "any", "odd")
SELECTORS = (
    "device.driver == 'gpu.example.com'",
    'device.attributes["gpu.example.com"].model == "a100"',
    "device.attributes['gpu.example.com'].model in ['h100', 'l40s']",
    "device.capacity['gpu.example.com'].memory.compareTo(quantity('40Gi')) >= 0",
    "device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('20Gi'))",
    "device.attributes['gpu.example.com'].version.compareTo(semver('2.0.0')) < 0",
    "has(device.attributes['gpu.example.com'].numa) && device.attributes['gpu.example.com'].numa == 0",
    "!has(device.attributes['gpu.example.com'].numa) || device.attributes['gpu.example.com'].numa > 0",
    "device.attributes['gpu.example.com'].model.startsWith('h') ? true : device.driver.endsWith('nic.example.com')",
    "cel.bind(dra, device.attributes['gpu.example.com'], has(dra.model) && dra.model.matches('^[ah][0-9]+$'))",
    "'numa' in device.attributes['gpu.example.com']",
    "device.attributes['gpu.example.com'].healthy",
    "['a100', 'h100'].exists(m, m == device.attributes['gpu.example.com'].model)",
    "device.attributes['gpu.example.com'].?numa.orValue(7) < 2",
    "device.attributes['elsewhere.example.com'].x == 'y'",
    "device.attributes['gpu.example.com'].numa + 1 <= 1",
    "device.attributes['gpu.example.com'].model.lowerAscii().contains('00') && size(device.driver) > 3",
    "device.attributes['gpu.example.com'].model < 'b'",
    "int(device.attributes['gpu.example.com'].numa) % 2 == 0",
    "device.attributes['gpu.example.com'].version == semver('1.5.0')",
)


def world(random: Random) -> Json:
    """A case: objects by kind, and `pod`."""
    nodes = [_node(random, f"n{index}") for index in range(random.randint(1, 3))]
    classes = [_class(random, name) for name in CLASSES if random.random() < 0.9]
    slices = [part for node in nodes for part in _node_slices(random, node["metadata"]["name"])]
    if random.random() < 0.4:
        slices += _network_slices(random)
    claims = [_claim(random, f"c{index}") for index in range(random.randint(1, 3))]
    _allocate(random, claims[1:], slices)
    if random.random() < 0.3:
        claims.append(_claim(random, "made", owner="uid-p"))
    return {
        "nodes": nodes,
        "pods": [],
        "deviceclasses": classes,
        "resourceslices": slices,
        "resourceclaims": claims,
        "pod": _pod(random, claims),
    }


def plain_world(random: Random) -> Json:
    """A case without what 1.34 has only in name: distinct attributes, and all devices as an alternative."""
    case = world(random)
    for claim in case["resourceclaims"]:
        devices = claim["spec"]["devices"]
        for constraint in devices.get("constraints", ()):
            if "distinctAttribute" in constraint:
                constraint["matchAttribute"] = constraint.pop("distinctAttribute")
        for option in (option for request in devices["requests"] for option in request.get("firstAvailable", ())):
            option |= {"allocationMode": "ExactCount", "count": option.get("count", 1)}
    return case


def _chance(random: Random, share: float, value: Json) -> Json:
    return value if random.random() < share else {}


def _node(random: Random, name: str) -> Json:
    room = {"cpu": "8", "memory": "32Gi", "pods": "110"} | _chance(random, 0.2, {"example.com/gpu": "2"})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "fabric": random.choice("fg")}},
        "spec": {},
        "status": {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def _class(random: Random, name: str) -> Json:
    by_name = {"gpu": [SELECTORS[0]], "nic": ["device.driver == 'nic.example.com'"], "big": [SELECTORS[3]], "any": []}
    selectors = by_name.get(name) or ([random.choice(SELECTORS)] if name == "odd" else [])
    spec: Json = {"selectors": [{"cel": {"expression": text}} for text in selectors]}
    if name == "gpu" and random.random() < 0.5:
        spec["extendedResourceName"] = "example.com/gpu"
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def _device(random: Random, name: str) -> Json:
    attributes: Json = {"model": {"string": random.choice(MODELS)}, "healthy": {"bool": random.random() < 0.8}}
    attributes["version"] = {"version": random.choice(("1.5.0", "2.0.0", "2.1.0-rc.1", "10.0.0"))}
    if random.random() < 0.7:
        attributes["numa"] = {"int": random.randint(0, 1)}
    if random.random() < 0.3:
        attributes["gpu.example.com/rail"] = {"string": random.choice("xy")}
    device: Json = {"name": name, "attributes": attributes}
    device["capacity"] = {"memory": {"value": random.choice(("20Gi", "40Gi", "80Gi"))}}
    if random.random() < 0.15:
        effect = random.choice(("NoSchedule", "NoExecute", "None"))
        device["taints"] = [{"key": "sick", "value": random.choice(("yes", "no")), "effect": effect}]
    if random.random() < 0.2:
        device["allowMultipleAllocations"] = True
        if random.random() < 0.6:
            device["capacity"]["memory"]["requestPolicy"] = _policy(random)
    return device


def _policy(random: Random) -> Json:
    if random.random() < 0.5:
        return {"default": "10Gi", "validRange": {"min": "5Gi"} | _chance(random, 0.5, {"step": "5Gi", "max": "60Gi"})}
    return {"default": "10Gi", "validValues": ["10Gi", "20Gi"]}


def _slice(name: str, driver: str, pool: str, spec: Json, size: int = 1, generation: int = 1) -> Json:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {
            "driver": driver,
            "pool": {"name": pool, "generation": generation, "resourceSliceCount": size},
        }
        | spec,
    }


def _node_slices(random: Random, node: str) -> list[Json]:
    driver = random.choice(DRIVERS)
    if random.random() < 0.3:
        return _partitioned(random, node)
    parts = random.randint(1, 2)
    size = parts + (1 if random.random() < 0.1 else 0)
    generations = [1 + (random.random() < 0.1) for _ in range(parts)]
    found = []
    for part in range(parts):
        devices = [_device(random, f"d{part}{index}") for index in range(random.randint(0, 3))]
        if devices and random.random() < 0.03:
            devices.append(devices[0])
        spec = {"nodeName": node, "devices": devices}
        found.append(_slice(f"{node}-{driver}-{part}", driver, node, spec, size, generations[part]))
    return found


def _partitioned(random: Random, node: str) -> list[Json]:
    driver = DRIVERS[0]
    counters = {"memory": {"value": "40Gi"}, "slots": {"value": "4"}}
    devices = []
    for index in range(random.randint(1, 4)):
        device = _device(random, f"p{index}")
        slots = random.randint(1, 4)
        used = {"memory": {"value": f"{slots * 10}Gi"}, "slots": {"value": str(slots)}}
        device["consumesCounters"] = [{"counterSet": "set", "counters": used}]
        devices.append(device)
    sets = _slice(
        f"{node}-sets", driver, node, {"nodeName": node, "sharedCounters": [{"name": "set", "counters": counters}]}, 2
    )
    return [sets, _slice(f"{node}-parts", driver, node, {"nodeName": node, "devices": devices}, 2)]


def _network_slices(random: Random) -> list[Json]:
    devices = [_device(random, f"net{index}") for index in range(random.randint(1, 3))]
    kind = random.choice(("all", "selector", "device"))
    term = {"matchExpressions": [{"key": "fabric", "operator": "In", "values": ["f"]}]}
    selector = {"nodeSelectorTerms": [term]}
    if kind == "device":
        for device in devices:
            device |= random.choice(({"allNodes": True}, {"nodeName": "n0"}, {"nodeSelector": selector}))
        spec: Json = {"perDeviceNodeSelection": True, "devices": devices}
    else:
        spec = {"allNodes": True} if kind == "all" else {"nodeSelector": selector}
        spec["devices"] = devices
    return [_slice("net", random.choice(DRIVERS), "net", spec)]


def _exact(random: Random) -> Json:
    body: Json = {"deviceClassName": random.choice(CLASSES)}
    if random.random() < 0.2:
        body["allocationMode"] = "All"
    else:
        body |= {"allocationMode": "ExactCount", "count": random.choice((1, 1, 1, 2, 3))}
    if random.random() < 0.4:
        body["selectors"] = [{"cel": {"expression": random.choice(SELECTORS)}} for _ in range(random.randint(1, 2))]
    if random.random() < 0.15:
        operator = random.choice(({"operator": "Exists"}, {"operator": "Equal", "value": "yes"}))
        body["tolerations"] = [{"key": random.choice(("sick", "other"))} | operator]
    if random.random() < 0.15:
        body["capacity"] = {"requests": {"memory": random.choice(("5Gi", "7Gi", "20Gi", "70Gi"))}}
    return body


def _claim(random: Random, name: str, owner: str = "") -> Json:
    requests: list[Json] = []
    for index in range(random.choice((1, 1, 2))):
        request: Json = {"name": f"r{index}"}
        if random.random() < 0.2:
            request["firstAvailable"] = [{"name": f"s{option}"} | _exact(random) for option in range(2)]
        else:
            request["exactly"] = _exact(random) | _chance(random, 0.08, {"adminAccess": True})
        requests.append(request)
    devices: Json = {"requests": requests}
    if random.random() < 0.25:
        attribute = "gpu.example.com/" + random.choice(("model", "numa", "rail", "version"))
        kind = random.choice(("matchAttribute", "distinctAttribute"))
        named = [random.choice(requests)["name"]] if random.random() < 0.3 else []
        devices["constraints"] = [{kind: attribute} | ({"requests": named} if named else {})]
    metadata: Json = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    if owner:
        metadata["ownerReferences"] = [
            {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": owner, "controller": random.random() < 0.8}
        ]
    if random.random() < 0.03:
        metadata |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x/y"]}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": metadata,
        "spec": {"devices": devices},
    }


def _allocate(random: Random, claims: list[Json], slices: list[Json]) -> None:
    free = [(part["spec"], device) for part in slices for device in part["spec"].get("devices", ())]
    random.shuffle(free)
    for claim in claims:
        if not free or random.random() < 0.3:
            continue
        spec, device = free.pop()
        result: Json = {
            "request": "r0",
            "driver": spec["driver"],
            "pool": spec["pool"]["name"],
            "device": device["name"],
        }
        if device.get("allowMultipleAllocations"):
            result |= {"shareID": "11111111-2222-3333-4444-555555555555", "consumedCapacity": {"memory": "10Gi"}}
        allocation: Json = {"devices": {"results": [result]}}
        if "nodeName" in spec:
            field = {"key": "metadata.name", "operator": "In", "values": [spec["nodeName"]]}
            allocation["nodeSelector"] = {"nodeSelectorTerms": [{"matchFields": [field]}]}
        claim["status"] = {"allocation": allocation}


def _pod(random: Random, claims: list[Json]) -> Json:
    named = random.sample([claim["metadata"]["name"] for claim in claims], random.randint(0, min(2, len(claims))))
    if random.random() < 0.05:
        named.append("ghost")
    entries: list[Json] = [{"name": f"e-{name}", "resourceClaimName": name} for name in named if name != "made"]
    status: Json = {}
    if "made" in named:
        entries.append({"name": "t", "resourceClaimTemplateName": "t1"})
        if random.random() < 0.9:
            status = {"resourceClaimStatuses": [{"name": "t", "resourceClaimName": "made"}]}
    containers = []
    for index in range(random.randint(1, 2)):
        wanted = _chance(random, 0.25, {"example.com/gpu": str(random.randint(1, 3))})
        wanted |= _chance(random, 0.05, {"deviceclass.resource.kubernetes.io/nic": "1"})
        containers.append({"name": f"m{index}", "image": "i", "resources": {"requests": wanted, "limits": wanted}})
    spec: Json = {"containers": containers}
    if entries:
        spec["resourceClaims"] = entries
    metadata = {"name": "p", "namespace": "default", "uid": "uid-p"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}
