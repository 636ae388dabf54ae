"""Nodes: what pods see of them, and what kind of machine stands behind them."""

from ksolver_cli.domain.labels import Labels
from ksolver_cli.domain.node import Node, Taint
from ksolver_cli.domain.pod import Effect, Resources
from ksolver_cli.normalise.fields import Field, condition_status

LARGEST = 1 << 53
_EFFECTS = frozenset(Effect)
_CONTROL_PLANE = (
    "node-role.kubernetes.io/control-plane",
    "node-role.kubernetes.io/master",
    "node-role.kubernetes.io/controlplane",
)
_VIRTUAL_LABELS = (
    ("type", "virtual-kubelet"),
    ("type", "virtual-node"),
    ("eks.amazonaws.com/compute-type", "fargate"),
    ("liqo.io/type", "virtual-node"),
    ("kubernetes.azure.com/cluster-type", "virtual-node"),
)
_VIRTUAL_ROLES = ("node-role.kubernetes.io/virtual-node", "node-role.kubernetes.io/virtual-kubelet")
_VIRTUAL_TAINTS = frozenset(
    {"virtual-kubelet.io/provider", "eks.amazonaws.com/compute-type", "virtual-node.liqo.io/not-allowed"}
)


def read_node(raw: Field) -> Node:
    """A node. Where allocatable is absent the API server fills it in from capacity, and so does this.

    Source: SetDefaults_NodeStatus. Raises FieldError.
    """
    metadata, spec, status = raw["metadata"], raw["spec"], raw["status"]
    labels = metadata["labels"].text_map()
    taints = tuple(_taint(taint) for taint in spec["taints"].items())
    provider_id = spec["providerID"].text()
    capacity = read_resources(status["capacity"])
    allocatable = status["allocatable"]
    return Node(
        name=metadata["name"].some_text(),
        allocatable=capacity if allocatable.absent else read_resources(allocatable),
        capacity=capacity,
        labels=labels,
        annotations=metadata["annotations"].text_map(),
        taints=taints,
        unschedulable=spec["unschedulable"].flag(),
        provider_id=provider_id,
        ready=condition_status(status, "Ready") in (None, "True"),
        deleting=not metadata["deletionTimestamp"].absent,
        images=tuple(_image(image) for image in status["images"].items()),
        declared_features=status["declaredFeatures"].texts(),
        is_virtual=_is_virtual(labels, taints, provider_id),
        is_control_plane=any(role in labels for role in _CONTROL_PLANE),
        created=metadata["creationTimestamp"].text(),
    )


def read_resources(resources: Field) -> Resources:
    """A resource list as the scheduler's integers: cpu in millicores, all else in whole units, rounded up.

    Amounts above 2^53, beyond any machine, count as 2^53, so that sums stay within 64 bits.
    """
    return {
        name: min(quantity.milli_value() if name == "cpu" else quantity.value(), LARGEST)
        for name, quantity in resources.quantities().items()
    }


def _taint(taint: Field) -> Taint:
    return Taint(taint["key"].text(), taint["value"].text(), Effect(taint["effect"].one_of(_EFFECTS)))


def _image(image: Field) -> tuple[tuple[str, ...], int]:
    return image["names"].texts(), image["sizeBytes"].natural()


def _is_virtual(labels: Labels, taints: tuple[Taint, ...], provider_id: str) -> bool:
    """Whether no machine of its own stands behind the node (virtual-kubelet, Fargate, ACI and the like)."""
    return (
        any(labels.get(key) == value for key, value in _VIRTUAL_LABELS)
        or any(role in labels for role in _VIRTUAL_ROLES)
        or any(taint.key in _VIRTUAL_TAINTS for taint in taints)
        or "/fargate-" in provider_id
    )
