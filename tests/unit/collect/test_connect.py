"""Connections to real sockets: private authorities, client certificates, server names, proxies, broken answers."""

import base64
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from ksolver_cli.collect.access.settings import Connection
from ksolver_cli.collect.errors import CollectError
from ksolver_cli.collect.live import read_cluster
from tests.unit.collect.apiserver import ApiServer, named, pods
from tests.unit.collect.sockets import make_certificates, proxy, serve


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("certificates")
    make_certificates(folder)
    return folder


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> ApiServer:
    for name in ("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "KUBECONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("ksolver_cli.collect.api.client._FIRST_PAUSE_SECONDS", 0.001)
    return ApiServer({"nodes": named("nodes", "n1"), "pods": pods(1777)})


def _read(folder: Path, cluster: dict[str, Any], user: dict[str, Any] | None = None) -> int:
    config = {
        "current-context": "x",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    }
    (folder / "kubeconfig").write_text(json.dumps(config))
    connection = Connection(kubeconfig=str(folder / "kubeconfig"), request_seconds=10)
    return read_cluster(connection).count("pods")


def _data(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def test_a_private_authority_as_file_and_as_data(api: ApiServer, certificates: Path, tmp_path: Path) -> None:
    shutil.copy(certificates / "ca.crt", tmp_path / "own.crt")
    with serve(api, certificates) as server:
        assert _read(tmp_path, {"server": server, "certificate-authority": "own.crt"}) == 1777
        assert _read(tmp_path, {"server": server, "certificate-authority-data": _data(certificates / "ca.crt")}) == 1777


def test_a_strangers_authority_is_refused_and_said(api: ApiServer, certificates: Path, tmp_path: Path) -> None:
    with serve(api, certificates) as server, pytest.raises(CollectError, match="untrusted certificate") as caught:
        _read(tmp_path, {"server": server, "certificate-authority-data": _data(certificates / "stranger.crt")})
    assert "certificate-authority" in caught.value.hint
    assert api.requests == []


def test_the_systems_store_counts_where_no_authority_is_named(
    api: ApiServer, certificates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(api, certificates) as server:
        with pytest.raises(CollectError, match="untrusted"):
            _read(tmp_path, {"server": server})
        monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "ca.crt"))
        assert _read(tmp_path, {"server": server}) == 1777


def test_insecure_skips_the_check(api: ApiServer, certificates: Path, tmp_path: Path) -> None:
    with serve(api, certificates) as server:
        stranger = _data(certificates / "stranger.crt")
        cluster = {"server": server, "insecure-skip-tls-verify": True, "certificate-authority-data": stranger}
        assert _read(tmp_path, cluster) == 1777


def test_a_client_certificate_is_shown_and_leaves_no_file(api: ApiServer, certificates: Path, tmp_path: Path) -> None:
    before = set(Path(tempfile.gettempdir()).glob("ksolver-*"))
    cluster = {"certificate-authority-data": _data(certificates / "ca.crt")}
    user = {
        "client-certificate-data": _data(certificates / "client.crt"),
        "client-key-data": _data(certificates / "client.key"),
    }
    with serve(api, certificates, ask_client=True) as server:
        assert _read(tmp_path, cluster | {"server": server}, user) == 1777
        with pytest.raises(CollectError):
            _read(tmp_path, cluster | {"server": server})
    assert set(Path(tempfile.gettempdir()).glob("ksolver-*")) == before


def test_a_key_that_does_not_fit_is_said(api: ApiServer, certificates: Path, tmp_path: Path) -> None:
    user = {
        "client-certificate-data": _data(certificates / "client.crt"),
        "client-key-data": _data(certificates / "server.key"),
    }
    with serve(api, certificates) as server, pytest.raises(CollectError, match="do not fit"):
        _read(tmp_path, {"server": server, "insecure-skip-tls-verify": True}, user)


def test_the_servers_name_may_differ_from_its_address(api: ApiServer, certificates: Path, tmp_path: Path) -> None:
    with serve(api, certificates) as server:
        cluster = {"server": server, "certificate-authority-data": _data(certificates / "ca.crt")}
        assert _read(tmp_path, cluster | {"tls-server-name": "api.test"}) == 1777
        with pytest.raises(CollectError, match="untrusted"):
            _read(tmp_path, cluster | {"tls-server-name": "other.test"})


def test_a_proxy_is_used_where_one_is_named(
    api: ApiServer, certificates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    with serve(api, certificates) as server, proxy(server, asked) as through:
        cluster = {"server": "https://api.test:6443", "certificate-authority-data": _data(certificates / "ca.crt")}
        assert _read(tmp_path, cluster | {"proxy-url": through}) == 1777
        assert set(asked) == {"api.test:6443"}
        monkeypatch.setenv("HTTPS_PROXY", through)
        assert _read(tmp_path, cluster) == 1777
        monkeypatch.setenv("NO_PROXY", "api.test")
        with pytest.raises(CollectError, match="unreachable"):
            _read(tmp_path, cluster)


def test_a_proxy_of_an_unknown_kind_is_said(api: ApiServer, tmp_path: Path) -> None:
    with serve(api) as server, pytest.raises(CollectError, match="proxy"):
        _read(tmp_path, {"server": server, "proxy-url": "socks5://127.0.0.1:1"})


def test_an_answer_that_ends_in_the_middle_is_asked_for_again(api: ApiServer, tmp_path: Path) -> None:
    with serve(api, cut_at="1000") as server:
        assert _read(tmp_path, {"server": server}) == 1777


def test_nobody_at_the_address_is_said(api: ApiServer, tmp_path: Path) -> None:
    with pytest.raises(CollectError, match=r"127\.0\.0\.1:9: unreachable") as caught:
        _read(tmp_path, {"server": "http://127.0.0.1:9"})
    assert "proxy" in caught.value.hint
