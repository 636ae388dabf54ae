"""The rights that reading a cluster takes: get and list, of exactly the kinds a snapshot holds.

No watch, no secrets, no configmaps. Kinds of add-ons are a role of their own, so that a cluster without them need not
grant anything for them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ksolver_cli.collect.api.discovery import ALSO
from ksolver_cli.snapshot.kinds import KINDS, Kind

VERBS = ("get", "list")
BUILT_IN = frozenset(
    {
        "",
        "apps",
        "batch",
        "autoscaling",
        "policy",
        "scheduling.k8s.io",
        "node.k8s.io",
        "storage.k8s.io",
        "resource.k8s.io",
        "metrics.k8s.io",
    }
)
"""Groups that Kubernetes itself defines."""

OPTIONAL = tuple(dict.fromkeys(kind.group for kind in KINDS if kind.group not in BUILT_IN))
"""Groups of add-ons."""

Rule = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Scope:
    """For whom the rights are: a cluster, or some namespaces of it; with which add-ons; named how."""

    name: str = "ksolver"
    namespaces: tuple[str, ...] = ()
    service_account: str = "ksolver"
    service_namespace: str = "ksolver"
    prometheus_proxy: bool = False


def rules(kinds: Iterable[Kind]) -> list[Rule]:
    """Return one rule a group, for the kinds given."""
    by_group: dict[str, list[str]] = {}
    for kind in kinds:
        by_group.setdefault(kind.group, []).append(ALSO.get(kind.plural, kind.plural))
    return [
        {"apiGroups": [group], "resources": sorted(set(names)), "verbs": list(VERBS)}
        for group, names in sorted(by_group.items())
    ]


def manifests(scope: Scope) -> list[dict[str, object]]:
    """Return the roles and their bindings: a ClusterRole for what Kubernetes has, another for add-ons; with namespaces
    a Role in each, and a ClusterRole for what lives in no namespace.
    """
    if scope.namespaces:
        found: list[dict[str, object]] = []
        for namespace in scope.namespaces:
            found += _pair("Role", scope, scope.name, rules(k for k in KINDS if k.namespaced), namespace)
        return found + _pair("ClusterRole", scope, scope.name, rules(k for k in KINDS if not k.namespaced))
    built_in = rules(kind for kind in KINDS if kind.group in BUILT_IN)
    if scope.prometheus_proxy:
        built_in.append({"apiGroups": [""], "resources": ["services/proxy"], "verbs": ["get"]})
    optional = rules(kind for kind in KINDS if kind.group not in BUILT_IN)
    return _pair("ClusterRole", scope, scope.name, built_in) + _pair(
        "ClusterRole", scope, f"{scope.name}-addons", optional
    )


def _pair(
    kind: str, scope: Scope, name: str, granted: list[Rule], namespace: str | None = None
) -> list[dict[str, object]]:
    api = "rbac.authorization.k8s.io"
    metadata: Mapping[str, str] = {"name": name} | ({"namespace": namespace} if namespace is not None else {})
    subject = {"kind": "ServiceAccount", "name": scope.service_account, "namespace": scope.service_namespace}
    return [
        {"apiVersion": f"{api}/v1", "kind": kind, "metadata": dict(metadata), "rules": granted},
        {
            "apiVersion": f"{api}/v1",
            "kind": f"{kind}Binding",
            "metadata": dict(metadata),
            "roleRef": {"apiGroup": api, "kind": kind, "name": name},
            "subjects": [subject],
        },
    ]
