"""Kubeconfig files, credentials and proxies, as kubectl takes them."""

import base64
import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from ksolver_cli.collect.access.credentials import TokenFile
from ksolver_cli.collect.access.find import find_access
from ksolver_cli.collect.access.kubeconfig import kubeconfig_files, load_kubeconfig
from ksolver_cli.collect.access.proxies import proxy_for
from ksolver_cli.collect.access.settings import Access, Connection
from ksolver_cli.collect.api.connect import http_client
from ksolver_cli.collect.errors import CollectError
from ksolver_cli.collect.live import read
from tests.unit.collect.apiserver import ApiServer, named, on, pods, status

SERVER = {"server": "https://api.test"}


def _config(user: dict[str, Any] | None = None, cluster: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "current-context": "main",
        "clusters": [{"name": "c", "cluster": cluster or SERVER}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "main", "context": {"cluster": "c", "user": "u"}}],
        **more,
    }


def _write(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def _find(folder: Path, document: Any, environment: dict[str, str] | None = None, **connection: Any) -> Access:
    path = _write(folder / "kubeconfig", document)
    return find_access(Connection(kubeconfig=str(path), **connection), environment or {})


def _header(access: Access) -> str | None:
    return access.credentials.header()


def test_of_several_files_the_first_word_counts(tmp_path: Path) -> None:
    first = _write(
        tmp_path / "one",
        {"contexts": [{"name": "a", "context": {"cluster": "c", "user": "u"}}], "current-context": "a"},
    )
    second = _write(
        tmp_path / "two",
        {**_config({"token": "second"}), "clusters": [{"name": "c", "cluster": {"server": "https://second.test"}}]},
    )
    third = _write(tmp_path / "three", _config({"token": "third"}))
    missing = tmp_path / "missing"
    environment = {"KUBECONFIG": ":".join(map(str, (missing, first, second, third)))}
    access = find_access(Connection(), environment)
    assert (access.server, _header(access)) == ("https://second.test", "Bearer second")
    assert find_access(Connection(context="main"), environment).server == "https://second.test"


def test_files_come_from_the_flag_the_variable_or_the_home(tmp_path: Path) -> None:
    home = _write(tmp_path / ".kube" / "config", _config())
    other = _write(tmp_path / "other", _config())
    environment = {"HOME": str(tmp_path)}
    assert kubeconfig_files(None, environment) == (home,)
    assert kubeconfig_files(None, environment | {"KUBECONFIG": f"{other}:"}) == (other,)
    assert kubeconfig_files("x", environment | {"KUBECONFIG": str(other)}) == (Path("x"),)


@pytest.mark.parametrize(
    ("document", "word"),
    [
        ("a: [", r"not valid YAML, line \d"),
        ("[1]", "is not a kubeconfig"),
        ({"clusters": 3}, "clusters is not a list"),
        ({"users": [{"user": {}}]}, r"users\[0\]"),
        ({}, "no current-context"),
        ({"current-context": "gone"}, "there is no context gone"),
        ({"current-context": "x", "contexts": [{"name": "x", "context": {"cluster": "gone"}}]}, "names cluster gone"),
        ({"current-context": "x", "contexts": [{"name": "x", "context": {}}]}, "names no cluster"),
        (_config(cluster={"server": ""}), "no usable server"),
        (_config(cluster={"server": "https://["}), "no usable server"),
        (_config(cluster={"server": "https://me:two words@api.test"}), "no usable server"),
        (_config(cluster={**SERVER, "certificate-authority-data": "%"}), "not base64"),
        (_config(cluster={**SERVER, "certificate-authority": "gone.crt"}), "gone.crt: No such file"),
        (_config({"client-certificate-data": base64.b64encode(b"x").decode()}), "half a client certificate"),
        (_config({"token": "two words"}), "characters that no header"),
        (_config({"auth-provider": {"name": "gcp"}}), "auth-provider gcp"),
    ],
)
def test_a_wrong_kubeconfig_names_file_and_field(tmp_path: Path, document: Any, word: str) -> None:
    with pytest.raises(CollectError, match=word) as caught:
        _find(tmp_path, document)
    assert "kubeconfig" in caught.value.what
    assert caught.value.hint
    assert "two words" not in caught.value.what


def test_no_kubeconfig_and_no_pod_says_so(tmp_path: Path) -> None:
    with pytest.raises(CollectError, match="no kubeconfig"):
        find_access(Connection(), {"HOME": str(tmp_path)})
    with pytest.raises(CollectError, match="No such file"):
        find_access(Connection(kubeconfig=str(tmp_path / "gone")), {})


@pytest.mark.parametrize(
    ("user", "header"),
    [
        ({"token": "t"}, "Bearer t"),
        ({"username": "a", "password": "b:ü"}, "Basic " + base64.b64encode("a:b:ü".encode()).decode()),
        ({"auth-provider": {"name": "oidc", "config": {"id-token": "i"}}}, "Bearer i"),
        ({}, None),
    ],
)
def test_stated_credentials(tmp_path: Path, user: dict[str, Any], header: str | None) -> None:
    assert _header(_find(tmp_path, _config(user))) == header


def test_a_token_file_beats_a_token_and_is_read_again(tmp_path: Path) -> None:
    _write(tmp_path / "token", "one\n")
    access = _find(tmp_path, _config({"tokenFile": "token", "token": "static"}))
    now = [0.0]
    credentials = access.credentials
    assert isinstance(credentials, TokenFile)
    credentials.clock = lambda: now[0]
    assert _header(access) == "Bearer one"
    _write(tmp_path / "token", "two\n")
    assert _header(access) == "Bearer one"
    now[0] = 61
    assert _header(access) == "Bearer two"


def _plugin(folder: Path, body: str) -> str:
    path = folder / "plugin"
    path.write_text(f"#!{sys.executable}\nimport json, os, pathlib, sys\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return "./plugin"


_GIVE = """
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
log = pathlib.Path(__file__).with_name("calls")
calls = int(log.read_text()) + 1 if log.exists() else 1
log.write_text(str(calls))
print(json.dumps({"apiVersion": info["apiVersion"], "kind": "ExecCredential", "status":
    {"token": f"{os.environ['WHO']}-{sys.argv[1]}-{calls}", "expirationTimestamp": EXPIRES}}))
"""


def _exec(folder: Path, body: str, **more: Any) -> dict[str, Any]:
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "command": _plugin(folder, body),
            "args": ["x"],
            "env": [{"name": "WHO", "value": "me"}],
            **more,
        }
    }


def test_a_plugin_runs_once_until_its_credential_expires(tmp_path: Path) -> None:
    access = _find(tmp_path, _config(_exec(tmp_path, _GIVE.replace("EXPIRES", '"2999-01-01T00:00:00Z"'))))
    assert [_header(access), _header(access)] == ["Bearer me-x-1"] * 2
    assert access.credentials.renew()
    assert _header(access) == "Bearer me-x-2"
    expired = _find(tmp_path, _config(_exec(tmp_path, _GIVE.replace("EXPIRES", '"2001-01-01T00:00:00Z"'))))
    assert _header(expired) != _header(expired)


def test_a_plugin_is_told_of_the_cluster_when_it_wants_to_know(tmp_path: Path) -> None:
    body = """
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])["spec"]
print(json.dumps({"status": {"token": info["cluster"]["server"].removeprefix("https://") + str(info["interactive"])}}))
"""
    access = _find(tmp_path, _config(_exec(tmp_path, body, provideClusterInfo=True, interactiveMode="Never")))
    assert _header(access) == "Bearer api.testFalse"


@pytest.mark.parametrize(
    ("body", "more", "word"),
    [
        ("sys.stderr.write('log in first'); sys.exit(3)", {}, "ended with 3: log in first"),
        ("print('hello')", {}, "did not print an ExecCredential"),
        ("print(json.dumps({'status': {}}))", {}, "neither a token nor"),
        ("", {"command": "./gone"}, "No such file"),
        ("", {"apiVersion": "client.authentication.k8s.io/v1alpha1"}, "v1alpha1"),
        ("", {"interactiveMode": "Always"}, "needs a terminal"),
    ],
)
def test_a_plugin_that_fails_is_named(tmp_path: Path, body: str, more: dict[str, Any], word: str) -> None:
    access = _find(tmp_path, _config(_exec(tmp_path, body, **more)))
    with pytest.raises(CollectError, match=word):
        _header(access)


def test_a_plugins_own_advice_is_passed_on(tmp_path: Path) -> None:
    access = _find(tmp_path, _config(_exec(tmp_path, "", command="./gone", installHint="Install it\nfrom there.")))
    with pytest.raises(CollectError) as caught:
        _header(access)
    assert caught.value.hint == "Install it from there."


def test_credentials_that_expire_in_the_middle_are_renewed(tmp_path: Path) -> None:
    access = _find(tmp_path, _config(_exec(tmp_path, _GIVE.replace("EXPIRES", "None"))))
    server = ApiServer({"nodes": named("nodes", "n1"), "pods": pods(1777)})
    refuse = on(
        "/api/v1/pods", status(401), lambda r: r.headers["authorization"] == "Bearer me-x-1" and "continue" in r.query
    )
    server.faults = [refuse]
    client = server.client(access.credentials)
    assert read(client, Connection()).spool.count("pods") == 1777
    assert server.requests[-1].headers["authorization"] == "Bearer me-x-2"


def test_credentials_that_stay_refused_end_the_run() -> None:
    server = ApiServer({"nodes": named("nodes", "n1"), "pods": pods(3)})
    server.faults = [on("/api/v1/pods", status(401, "Unauthorized"))]
    with pytest.raises(CollectError, match="credentials refused"):
        read(server.client(), Connection())


def test_a_pod_uses_its_service_account(tmp_path: Path) -> None:
    for name, text in (("token", "t"), ("ca.crt", "pem"), ("namespace", "tools")):
        _write(tmp_path / name, text)
    environment = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443", "HOME": "/nonexistent"}
    access = find_access(Connection(), environment, tmp_path)
    assert (access.server, access.namespace, access.in_cluster) == ("https://[fd00::1]:443", "tools", True)
    assert (_header(access), access.trust.authority) == ("Bearer t", b"pem")


def test_impersonation_by_flag_and_by_kubeconfig(tmp_path: Path) -> None:
    typed = _find(tmp_path, _config(), as_user="a", as_groups=("g", "h"))
    assert typed.headers == {"Impersonate-User": "a", "Impersonate-Group": ("g", "h")}
    stated = _find(tmp_path, _config({"as": "b", "as-groups": ["g"], "as-user-extra": {"scopes": ["x"]}}))
    assert stated.headers == {"Impersonate-User": "b", "Impersonate-Group": ("g",), "Impersonate-Extra-scopes": ("x",)}
    with pytest.raises(CollectError, match="--as-group without --as"):
        _find(tmp_path, _config(), as_groups=("g",))


def test_whom_to_impersonate_may_have_any_letters_and_no_control_characters(tmp_path: Path) -> None:
    access = _find(tmp_path, _config(), as_user="jürgen", as_groups=("größte",))
    with http_client(access, ApiServer().transport()) as http:
        sent = dict(http.headers.raw)
    assert (sent[b"Impersonate-User"], sent[b"Impersonate-Group"]) == ("jürgen".encode(), "größte".encode())
    for name in ("a\nb", "a\x00"):
        with pytest.raises(CollectError, match="no header can"):
            _find(tmp_path, _config(), as_user=name)


@pytest.mark.parametrize(
    ("server", "environment", "proxy"),
    [
        ("https://api.test", {"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ("https://api.test", {"https_proxy": "p:1"}, "http://p:1"),
        ("https://api.test", {"HTTP_PROXY": "http://p:1"}, None),
        ("http://api.test", {"HTTP_PROXY": "http://p:1"}, "http://p:1"),
        ("https://api.test", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "test"}, None),
        ("https://api.test", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "pi.test"}, "http://p:1"),
        ("https://api.test", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": ".test"}, None),
        ("https://api.test", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, None),
        ("https://api.test:6443", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "api.test:6443"}, None),
        ("https://api.test:6443", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "api.test:443"}, "http://p:1"),
        ("https://10.1.2.3", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "x, 10.0.0.0/8"}, None),
        ("https://11.1.2.3", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "10.0.0.0/8"}, "http://p:1"),
        ("https://[fd00::1]:6443", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "fd00::/8"}, None),
        ("https://127.0.0.1:6443", {"HTTPS_PROXY": "http://p:1"}, None),
        ("https://localhost", {"HTTPS_PROXY": "http://p:1"}, None),
    ],
)
def test_proxies_by_the_rules_of_go(server: str, environment: dict[str, str], proxy: str | None) -> None:
    assert proxy_for(server, environment) == proxy


def test_the_kubeconfigs_own_proxy_wins(tmp_path: Path) -> None:
    document = _config(cluster={**SERVER, "proxy-url": "http://mine:3128"})
    assert _find(tmp_path, document, {"HTTPS_PROXY": "http://other:1", "NO_PROXY": "*"}).proxy == "http://mine:3128"


def test_merging_keeps_paths_relative_to_their_file(tmp_path: Path) -> None:
    _write(tmp_path / "deep" / "ca.crt", "pem")
    _write(tmp_path / "deep" / "two", _config(cluster={**SERVER, "certificate-authority": "ca.crt"}))
    merged = load_kubeconfig((_write(tmp_path / "one", {}), tmp_path / "deep" / "two"))
    assert merged.clusters["c"].content("certificate-authority") == b"pem"
