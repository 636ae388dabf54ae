"""From flags and environment to an API server: the kubeconfig's context, else the pod's service account."""

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from ksolver_cli.collect.access.credentials import StaticCredentials, TokenFile, bearer, static_credentials
from ksolver_cli.collect.access.kubeconfig import Kubeconfig, Named, kubeconfig_files, load_kubeconfig
from ksolver_cli.collect.access.plugin import ExecCredentials
from ksolver_cli.collect.access.proxies import proxy_for
from ksolver_cli.collect.access.settings import Access, Connection, Credentials, Environment, Trust
from ksolver_cli.collect.errors import CollectError

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def find_access(
    connection: Connection, environment: Environment | None = None, service_account: Path = SERVICE_ACCOUNT
) -> Access:
    """Return how to reach the cluster that was asked for; raises CollectError.

    As kubectl: --kubeconfig, else the files of KUBECONFIG, else ~/.kube/config; with none of them, the service account
    of the pod this runs in.
    """
    env = os.environ if environment is None else environment
    files = kubeconfig_files(connection.kubeconfig, env)
    if not files:
        return _in_cluster(connection, env, service_account)
    return _from_kubeconfig(load_kubeconfig(files), connection, env)


def _in_cluster(connection: Connection, env: Environment, folder: Path) -> Access:
    host, port = env.get("KUBERNETES_SERVICE_HOST"), env.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise CollectError(
            "no kubeconfig: neither --kubeconfig, KUBECONFIG nor ~/.kube/config leads to a file",
            "give --kubeconfig FILE, or name a snapshot file to work without a cluster",
        )
    if connection.context is not None:
        raise CollectError(f"--context {connection.context}: there is no kubeconfig", "give --kubeconfig FILE")
    try:
        authority = (folder / "ca.crt").read_bytes()
        namespace = (folder / "namespace").read_text(encoding="utf-8").strip()
    except OSError as error:
        what = f"{error.filename}: {error.strerror}"
        raise CollectError(what, "let the pod mount its service account token, or give --kubeconfig") from error
    place = f"[{host}]" if ":" in host else host
    return Access(
        server=f"https://{place}:{port}",
        name="",
        credentials=TokenFile(folder / "token"),
        trust=Trust(authority),
        headers=_impersonation(connection, {}),
        namespace=namespace or "default",
        in_cluster=True,
    )


def _from_kubeconfig(config: Kubeconfig, connection: Connection, env: Environment) -> Access:
    context = config.context(connection.context)
    cluster = config.referred(context, "clusters")
    if cluster is None:
        raise CollectError(f"{context.file}: context {context.name} names no cluster", "correct the context")
    user = config.referred(context, "users") or Named(context.file, "", {})
    server = _server(cluster)
    return Access(
        server=server,
        name=cluster.name,
        credentials=_credentials(user, cluster),
        trust=_trust(cluster),
        proxy=cluster.text("proxy-url") or proxy_for(server, env),
        headers=_impersonation(connection, user.body),
        namespace=context.text("namespace") or "default",
    )


def _server(cluster: Named) -> str:
    server = (cluster.text("server") or "").rstrip("/")
    url = server if "://" in server else f"http://{server}"
    try:
        parts = urlsplit(url)
        # A password in the address would be shown wherever the address is.
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0 and not parts.username
    except ValueError:
        usable = False
    if not usable:
        raise CollectError(f"{cluster.file}: cluster {cluster.name} has no usable server", "correct its server URL")
    return url


def _trust(cluster: Named) -> Trust:
    insecure = cluster.body.get("insecure-skip-tls-verify") is True
    authority = cluster.content("certificate-authority")
    return Trust(None if insecure else authority, cluster.text("tls-server-name"), insecure)


def _credentials(user: Named, cluster: Named) -> Credentials:
    stated = static_credentials(user)
    plugin, provider = user.body.get("exec"), user.body.get("auth-provider")
    if isinstance(stated, TokenFile) or stated.authorization is not None:
        return stated
    if isinstance(plugin, Mapping):
        return ExecCredentials(user, plugin, cluster.body)
    if isinstance(provider, Mapping) and stated.pair is None:
        config = provider.get("config")
        token = config.get("id-token") if isinstance(config, Mapping) else None
        if isinstance(token, str) and token:
            # Not refreshed here: that would rewrite the kubeconfig.
            return StaticCredentials(bearer(token, f"{user.file}: id-token of user {user.name}"))
        raise CollectError(
            f"{user.file}: user {user.name} logs in with auth-provider {provider.get('name')}, which is not supported",
            "use a credential plugin instead (users[].user.exec), e.g. `kubelogin`, or a token file",
        )
    return stated


def _impersonation(connection: Connection, user: Mapping[str, object]) -> dict[str, str | tuple[str, ...]]:
    """Headers of `--as` and `--as-group`, else of the user entry's `as`, `as-groups`, `as-uid`, `as-user-extra`."""
    found = _impersonated(connection, user)
    for name, values in found.items():
        if not all(value.isprintable() for value in (name, *((values,) if isinstance(values, str) else values))):
            raise CollectError(
                f"{name}: holds characters that no header can", "correct --as, or `as` in the kubeconfig"
            )
    return found


def _impersonated(connection: Connection, user: Mapping[str, object]) -> dict[str, str | tuple[str, ...]]:
    if connection.as_groups and not connection.as_user:
        raise CollectError("--as-group without --as", "give --as USER too")
    if connection.as_user:
        found: dict[str, str | tuple[str, ...]] = {"Impersonate-User": connection.as_user}
        return found | ({"Impersonate-Group": connection.as_groups} if connection.as_groups else {})
    if not user.get("as"):
        return {}
    found = {"Impersonate-User": str(user["as"])}
    if user.get("as-uid"):
        found["Impersonate-Uid"] = str(user["as-uid"])
    groups, extra = user.get("as-groups"), user.get("as-user-extra")
    if isinstance(groups, list):
        found["Impersonate-Group"] = tuple(map(str, groups))
    for key, values in extra.items() if isinstance(extra, Mapping) else ():
        found[f"Impersonate-Extra-{key}"] = tuple(map(str, values)) if isinstance(values, list) else str(values)
    return found
