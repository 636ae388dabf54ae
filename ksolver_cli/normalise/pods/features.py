"""Node features that a pod spec needs, as the NodeDeclaredFeatures plugin infers them for scheduling.

Source: k8s.io/component-helpers/nodedeclaredfeatures/features; the other features there matter to updates alone.
"""

from ksolver_cli.normalise.fields import Field

RESTART_ALL = "RestartAllContainersOnContainerExits"
USER_NAMESPACES_HOST_NETWORK = "UserNamespacesHostNetworkSupport"


def required_features(spec: Field) -> tuple[str, ...]:
    """Names, as in a node's `status.declaredFeatures`, sorted."""
    needed = []
    if any(_restarts_all(c) for key in ("containers", "initContainers") for c in spec[key].items()):
        needed.append(RESTART_ALL)
    if spec["hostNetwork"].flag() and not spec["hostUsers"].flag(default=True):
        needed.append(USER_NAMESPACES_HOST_NETWORK)
    return tuple(needed)


def _restarts_all(container: Field) -> bool:
    return any(rule["action"].text() == "RestartAllContainers" for rule in container["restartPolicyRules"].items())
