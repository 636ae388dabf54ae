"""Private authorities: trusted when named, refused otherwise, ignored when told so."""

import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from ksolver_cli.collect.prometheus import PrometheusClient
from ksolver_cli.collect.prometheus_answer import PrometheusError
from ksolver_cli.collect.prometheus_settings import PrometheusSettings

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
BODY = b'{"status": "success", "data": {"resultType": "vector", "result": []}}'


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=private"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "ca.pem")]
    subprocess.run([*command, *files, "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    return folder / "ca.pem"


@pytest.fixture
def url(certificate: Path) -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"https://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def asks(settings: PrometheusSettings) -> None:
    with PrometheusClient(settings, pause=lambda _: None) as prometheus:
        assert prometheus.query("up").series == ()


def test_a_private_authority_is_trusted_when_it_is_named(url: str, certificate: Path) -> None:
    asks(PrometheusSettings(url, ca_file=certificate))


def test_any_certificate_is_trusted_when_told_so(url: str) -> None:
    asks(PrometheusSettings(url, insecure_skip_tls_verify=True))


def test_a_strange_certificate_is_refused(url: str) -> None:
    with pytest.raises(PrometheusError, match="CERTIFICATE_VERIFY_FAILED"):
        asks(PrometheusSettings(url, attempts=2))
