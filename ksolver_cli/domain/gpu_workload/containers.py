"""Which container of a pod uses the GPU, and how many devices it asks for."""

from ksolver_cli.domain.gpu_workload.raw import RawObject, annotations_of, at, mapping, mappings

_VENDOR_DOMAINS = ("nvidia.com", "amd.com", "gpu.intel.com", "habana.ai")
_DEVICE_WORDS = ("gpu", "mig-", "gaudi", "i915", "xe")
_FRACTION_RESOURCES = frozenset({"alibabacloud.com/gpu-milli", "nvidia.com/gpumem", "aliyun.com/gpu-mem"})

FRACTION_ANNOTATIONS = ("gpu-fraction", "gpu-memory")
"""How KAI and Run:ai ask for a part of a GPU: by annotation, with no resource in the spec."""


def is_gpu_resource(name: str) -> bool:
    """Tell whether an extended resource name stands for GPU devices or a share of one.

    Device plugins of NVIDIA (`nvidia.com/gpu`, `nvidia.com/gpu.shared`, `nvidia.com/mig-1g.5gb`), AMD, Intel and
    Habana, any `…/gpu` of another vendor, and the share resources of GPU-sharing plugins.
    """
    domain, slash, resource = name.partition("/")
    if not slash:
        return False
    if name in _FRACTION_RESOURCES or resource == "gpu":
        return True
    return domain in _VENDOR_DOMAINS and resource.startswith(_DEVICE_WORDS)


def gpu_resources(container: RawObject) -> dict[str, str]:
    """Return the GPU resources a container names, requests and limits together, as written.

    For extended resources the API server makes requests equal to limits, so either may be the only one given.
    """
    found: dict[str, str] = {}
    # Either may be the only one: the API server copies the limits of extended resources to the requests.
    for field in ("limits", "requests"):
        for name, quantity in mapping(at(container, "resources", field)).items():
            if is_gpu_resource(name):
                found[name] = str(quantity)
    return found


def containers_of(pod: RawObject) -> list[RawObject]:
    """Return the main containers of a pod or pod template, in order."""
    return list(mappings(at(pod, "spec", "containers")))


def gpu_container(pod: RawObject) -> RawObject | None:
    """Return the first container whose requests or limits name a GPU resource, else the first, else None."""
    containers = containers_of(pod)
    for container in containers:
        if gpu_resources(container):
            return container
    return containers[0] if containers else None


def asks_for_gpu(pod: RawObject) -> bool:
    """Tell whether any container names a GPU resource, the pod claims devices through DRA, or it takes a fraction."""
    if any(gpu_resources(container) for container in containers_of(pod)):
        return True
    if any(name in annotations_of(pod) for name in FRACTION_ANNOTATIONS):
        return True
    return any(True for _ in mappings(at(pod, "spec", "resourceClaims")))


def gpu_count(pod: RawObject) -> int:
    """Return how many whole devices the pod's containers ask for together (shares count as one device)."""
    return sum(_devices(gpu_resources(container)) for container in containers_of(pod))


def _devices(resources: dict[str, str]) -> int:
    whole = [int(quantity) for name, quantity in resources.items() if _countable(name, quantity)]
    return sum(whole) if whole else int(bool(resources))


def _countable(name: str, quantity: str) -> bool:
    return name not in _FRACTION_RESOURCES and quantity.isascii() and quantity.isdigit()
