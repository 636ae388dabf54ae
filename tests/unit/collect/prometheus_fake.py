"""A Prometheus made of recorded answers, served over loopback HTTP."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

EMPTY: dict[str, object] = {"status": "success", "data": {"resultType": "vector", "result": []}}


@dataclass(frozen=True)
class Asked:
    """One request as it came in."""

    method: str
    path: str
    parameters: Mapping[str, str]
    headers: Mapping[str, str]

    @property
    def query(self) -> str:
        return self.parameters.get("query", "")


@dataclass(frozen=True)
class Reply:
    """What to answer: a JSON document or raw bytes."""

    document: object = field(default_factory=lambda: EMPTY)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


@dataclass
class FakePrometheus:
    """Its address and what it was asked."""

    url: str
    asked: list[Asked] = field(default_factory=list)


def vector(*entries: tuple[Mapping[str, str], float | str], at: float = 1_764_460_800) -> dict[str, object]:
    """An instant answer."""
    result = [{"metric": dict(labels), "value": [at, str(value)]} for labels, value in entries]
    return {"status": "success", "data": {"resultType": "vector", "result": result}}


@contextmanager
def fake_prometheus(answer: Callable[[Asked], Reply | object]) -> Iterator[FakePrometheus]:
    """Serve what a function answers to each request."""
    fake = FakePrometheus("")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply({})

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            self._reply(parse_qs(self.rfile.read(length).decode()))

        def _reply(self, body: Mapping[str, list[str]]) -> None:
            parts = urlsplit(self.path)
            parameters = {name: values[-1] for name, values in {**parse_qs(parts.query), **body}.items()}
            asked = Asked(self.command, parts.path, parameters, dict(self.headers.items()))
            fake.asked.append(asked)
            found = answer(asked)
            reply = found if isinstance(found, Reply) else Reply(found)
            content = reply.body if reply.body is not None else json.dumps(reply.document).encode()
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
