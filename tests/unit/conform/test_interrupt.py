"""Ctrl-C while a scheduler takes its time: the report so far, and a gate that does not pass on it."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.unit.conform.samples import Json, node, pod


class Slow:
    """Decides at once for three pairs, then never."""

    def __init__(self) -> None:
        self.state: Json = {"pods": [], "nodes": []}
        self.imports = 0

    def take(self, body: Json) -> None:
        self.imports += 1
        (shown,) = body["pods"]
        if self.imports <= 3:
            shown["spec"]["nodeName"] = body["nodes"][0]["metadata"]["name"]
        self.state = {"pods": [shown], "nodes": body["nodes"]}

    def reset(self) -> None:
        self.state = {"pods": [], "nodes": []}


@pytest.fixture
def slow() -> Iterator[tuple[str, Slow]]:
    simulator = Slow()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 # the base class's name
            pass

        def do_PUT(self) -> None:
            simulator.reset()
            self.reply(b"")

        def do_GET(self) -> None:
            self.reply(json.dumps(simulator.state).encode())

        def do_POST(self) -> None:
            simulator.take(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.reply(b"")

        def reply(self, content: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", simulator
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize(("flags", "code"), [((), 0), (("--fail-on-any-strict",), 1)])
def test_the_report_so_far(slow: tuple[str, Slow], flags: tuple[str, ...], code: int, tmp_path: Path) -> None:
    url, simulator = slow
    source = tmp_path / "cluster.json"
    items = [node(f"n{i}") for i in range(6)] + [pod("p")]
    source.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    script = "from ksolver_cli.cli.main import main; main()"
    command = [
        sys.executable,
        "-c",
        script,
        "conform",
        source,
        "--simulator-url",
        url,
        "--timeout",
        "60",
        "--json",
        *flags,
    ]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while simulator.imports < 4 and time.monotonic() < deadline:
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=30)
    assert run.returncode == code, err
    report = json.loads(out)
    assert (report["pairs_total"], report["strict"]["agree"], report["strict_gate_status"]) == (3, 3, "pass")
    assert "the report so far follows" in err
