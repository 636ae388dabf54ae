"""Node features that a pod spec needs, as the NodeDeclaredFeatures plugin infers them for scheduling.

Source: k8s.io/component-helpers/nodedeclaredfeatures/features; the other features there matter to updates alone.
"""

from ksolver_cli.normalise.fields import Field

RESTART_ALL = "RestartAllContainersOnContainerExits"
USER_NAMESPACES_HOST_NETWORK = "UserNamespacesHostNetworkSupport"
BIND_MOUNT_OPTIONS = "VolumeBindMountOptions"
"""Since 1.37; older servers know no such field."""


def required_features(spec: Field) -> tuple[str, ...]:
    """Names, as in a node's `status.declaredFeatures`, sorted."""
    needed = []
    if any(_restarts_all(c) for key in ("containers", "initContainers") for c in spec[key].items()):
        needed.append(RESTART_ALL)
    if spec["hostNetwork"].flag() and not spec["hostUsers"].flag(default=True):
        needed.append(USER_NAMESPACES_HOST_NETWORK)
    if any(_has_mount_options(c) for key in _ALL_CONTAINERS for c in spec[key].items()):
        needed.append(BIND_MOUNT_OPTIONS)
    return tuple(sorted(needed))


_ALL_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")


def _has_mount_options(container: Field) -> bool:
    return any(
        not mount["bindMountOptions"].absent and mount["bindMountOptions"].items()
        for mount in container["volumeMounts"].items()
    )


def _restarts_all(container: Field) -> bool:
    return any(rule["action"].text() == "RestartAllContainers" for rule in container["restartPolicyRules"].items())
