"""What `ksolver doctor` looks at: can the cluster be reached, read, and its usage be had, and what to do where not."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ksolver_cli.collect.access.find import find_access
from ksolver_cli.collect.access.settings import Access, Connection
from ksolver_cli.collect.api.client import ApiClient
from ksolver_cli.collect.api.discovery import Found, Served, discover
from ksolver_cli.collect.errors import ApiError, CollectError
from ksolver_cli.collect.live import unusable
from ksolver_cli.collect.prometheus import PrometheusClient
from ksolver_cli.collect.prometheus_answer import PrometheusError
from ksolver_cli.collect.rights import BUILT_IN
from ksolver_cli.collect.usage import queries
from ksolver_cli.collect.usage.gather import UsageRequest, prometheus_of

OLDEST, NEWEST = (1, 25), (1, 37)
"""Kubernetes versions whose scheduling rules are known."""


class State(StrEnum):
    """How a check ended."""

    OK = "ok"
    NOTE = "note"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: what was found, and what to do about it (empty where nothing)."""

    name: str
    state: State
    found: str
    fix: str = ""


def examine(connection: Connection, usage: UsageRequest) -> list[Check]:
    """Run every check that can be run; one that fails ends those that need it. Raises nothing."""
    try:
        access = find_access(connection)
    except CollectError as error:
        return [Check("configuration", State.BAD, error.what, error.hint)]
    checks = [Check("configuration", State.OK, _described(access, connection)), *_trust(access)]
    with ApiClient(access, seconds=min(connection.request_seconds, 20.0)) as client:
        try:
            found = discover(client)
        except ApiError as error:
            told = unusable(client, error)
            return [*checks, Check("reach", State.BAD, told.what, told.hint)]
        except CollectError as error:
            return [*checks, Check("credentials", State.BAD, error.what, error.hint)]
        checks.append(Check("reach", State.OK, f"{access.server} answers"))
        checks.append(_version(found.version))
        checks += _rights(client, found, connection)
        checks += _apis(found)
        checks += _usage(client, found, usage)
    return checks


def _described(access: Access, connection: Connection) -> str:
    who = f" as {connection.as_user}" if connection.as_user else ""
    where = "the service account of this pod" if access.in_cluster else f"cluster {access.name}"
    via = " through a proxy" if access.proxy else ""
    return f"{where} at {access.server}{via}{who}"


def _trust(access: Access) -> Iterator[Check]:
    if access.trust.insecure:
        fix = "put the authority into certificate-authority-data instead of insecure-skip-tls-verify"
        yield Check("trust", State.NOTE, "the server's certificate is not checked", fix)
    if access.server.startswith("http://"):
        yield Check("trust", State.NOTE, "the connection is not encrypted", "use the https:// address of the server")


def _version(version: str) -> Check:
    if not version:
        return Check(
            "version", State.NOTE, "the server does not tell its version", "give --kubernetes-version to analyze"
        )
    digits = version.removeprefix("v").split(".")
    try:
        number = (int(digits[0]), int(digits[1]))
    except (ValueError, IndexError):
        return Check("version", State.NOTE, f"{version} is not understood", "give --kubernetes-version to analyze")
    if number < OLDEST or number > NEWEST:
        known = f"{OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}"
        return Check("version", State.NOTE, f"{version}; rules are known for {known}", "judge its answers with care")
    return Check("version", State.OK, version)


def _rights(client: ApiClient, found: Found, connection: Connection) -> Iterator[Check]:
    denied: list[str] = []
    try:
        for served in found.served:
            places = connection.namespaces if served.kind.namespaced and connection.namespaces else ("",)
            denied += [_place(served, place) for place in places if not _may_list(client, served, place)]
    except ApiError as error:
        yield Check("rights", State.BAD, f"own rights cannot be asked for ({error})", "grant system:basic-user")
        return
    total = len(found.served)
    if not denied:
        yield Check("rights", State.OK, f"all {total} kinds that a snapshot holds may be listed")
        return
    scope = "".join(f" -n {namespace}" for namespace in connection.namespaces)
    fix = f"apply the rights: ksolver rbac{scope} | kubectl apply -f -"
    needed = {"nodes", "pods"} & {name.split(" ")[0] for name in denied}
    state = State.BAD if needed else State.NOTE
    yield Check("rights", state, f"may not be listed: {', '.join(denied)}", fix)


def _place(served: Served, namespace: str) -> str:
    return f"{served.kind.plural} in {namespace}" if namespace else served.kind.plural


def _may_list(client: ApiClient, served: Served, namespace: str) -> bool:
    asked = {"verb": "list", "group": served.kind.group, "resource": served.resource, "version": served.version}
    return client.review(asked | ({"namespace": namespace} if namespace else {}))


def _apis(found: Found) -> Iterator[Check]:
    for gap in found.gaps:
        yield Check("discovery", State.NOTE, f"{gap.kind}: {gap.reason}", "see `kubectl get apiservices`")
    addons = sorted({served.kind.group for served in found.served} - BUILT_IN)
    yield Check("add-ons", State.OK, f"found: {', '.join(addons)}" if addons else "none that a snapshot reads")


def _usage(client: ApiClient, found: Found, request: UsageRequest) -> Iterator[Check]:
    has_metrics = any(served.kind.plural == "podmetrics" for served in found.served)
    try:
        prometheus = prometheus_of(client, request)
    except CollectError as error:
        yield Check("usage", State.BAD, error.what, error.hint)
        return
    if prometheus is None:
        less = "a point in time from metrics.k8s.io" if has_metrics else "none"
        fix = "give --prometheus-url, or --discover-prometheus"
        yield Check("usage", State.NOTE, f"no Prometheus was named; usage: {less}", fix)
        return
    with prometheus:
        yield _prometheus(prometheus, request)


def _prometheus(client: PrometheusClient, request: UsageRequest) -> Check:
    selector, now = queries.matchers(request.fixed), request.clock()
    try:
        missing = [
            series
            for series in queries.SERIES
            if not client.query(queries.presence(series, selector, request.seconds), now).series
        ]
    except PrometheusError as error:
        fix = "check the address, its path prefix, and --prometheus-token-file or KSOLVER_PROMETHEUS_TOKEN"
        return Check("usage", State.BAD, str(error), fix)
    if missing:
        return Check("usage", _weight(missing), f"Prometheus lacks {', '.join(missing)}", _scrape(missing))
    return Check("usage", State.OK, "Prometheus has all series that are asked for")


def _weight(missing: Sequence[str]) -> State:
    return State.BAD if queries.CPU in missing or queries.MEMORY in missing else State.NOTE


def _scrape(missing: Sequence[str]) -> str:
    sources = ["the kubelets' cAdvisor"] if {queries.CPU, queries.MEMORY} & set(missing) else []
    sources += ["kube-state-metrics"] if any(name.startswith("kube_") for name in missing) else []
    return f"let Prometheus scrape {' and '.join(sources)}, or correct --prometheus-label"
