"""The stand-in API server behind real sockets: TLS, client certificates, a proxy, and connections that break."""

import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.unit.collect.apiserver import ApiServer, Request


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


def make_certificates(folder: Path) -> None:
    """An authority (`ca.crt`), pairs of a server (127.0.0.1, api.test) and a client, and a stranger's authority."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    for name in ("ca", "stranger"):
        _openssl(folder, "req", "-x509", *key, "-keyout", f"{name}.key", "-out", f"{name}.crt", "-subj", f"/CN={name}")
    for name, extra in (
        ("server", "subjectAltName=IP:127.0.0.1,DNS:api.test"),
        ("client", "extendedKeyUsage=clientAuth"),
    ):
        _openssl(folder, "req", *key[:5], "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        (folder / f"{name}.ext").write_text(extra)
        _openssl(
            folder,
            *("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial"),
            *("-days", "2", "-extfile", f"{name}.ext", "-out", f"{name}.crt"),
        )


@contextmanager
def _serving(handler: type[BaseHTTPRequestHandler], context: ssl.SSLContext | None = None) -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(api: ApiServer, cut_at: str | None) -> type[BaseHTTPRequestHandler]:
    cuts: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body are two writes: without this the second waits for the first one's receipt.
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            headers = {key.lower(): value for key, value in self.headers.items()}
            code, more, body = api.respond(Request(self.command, parts.path, query, headers))
            self.send_response(code)
            for name, value in more.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if cut_at == query.get("continue") and len(cuts) < 2:
                cuts.append(parts.path)
                self.wfile.write(body[: len(body) // 2])
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@contextmanager
def serve(
    api: ApiServer, certificates: Path | None = None, *, ask_client: bool = False, cut_at: str | None = None
) -> Iterator[str]:
    """Serve; yields the address. `cut_at`: the first two answers to this continue token end in the middle."""
    context = None
    if certificates is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates / "server.crt", certificates / "server.key")
        if ask_client:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(certificates / "ca.crt")
    with _serving(_handler(api, cut_at), context) as port:
        yield f"{'https' if context else 'http'}://127.0.0.1:{port}"


@contextmanager
def proxy(target: str, asked: list[str]) -> Iterator[str]:
    """An HTTP proxy that tunnels everything to one address and notes what was asked for."""
    host, port = urlsplit(target).hostname or "", urlsplit(target).port or 0

    class Handler(BaseHTTPRequestHandler):
        def do_CONNECT(self) -> None:
            asked.append(self.path)
            with socket.create_connection((host, port)) as upstream:
                self.send_response(200)
                self.end_headers()
                back = threading.Thread(target=_pump, args=(upstream, self.connection), daemon=True)
                back.start()
                _pump(self.connection, upstream)
                back.join()
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    with _serving(Handler) as own:
        yield f"http://127.0.0.1:{own}"


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65_536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass
