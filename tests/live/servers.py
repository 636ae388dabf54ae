"""Real Prometheus and VictoriaMetrics on loopback, scraping exporters that serve given expositions."""

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import yaml

from tests.live.process import Server, free_ports

PACKAGES = {"prometheus": "prometheus", "victoria-metrics": "victoria-metrics"}
READY_SECONDS = 60.0


def require(program: str) -> str:
    """Return the path of a server's program; installs its Debian package where it is missing."""
    found = shutil.which(program)
    if found is None:
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", PACKAGES[program]]
        subprocess.run(install, check=True, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
        found = shutil.which(program)
    if found is None:
        raise RuntimeError(f"{program} is missing and its package did not bring it")
    return found


@dataclass
class Exporter:
    """Serves an exposition; None is an exporter that is down."""

    exposition: str | None
    port: int = 0
    scrapes: int = 0


@contextmanager
def exporter(exposition: str) -> Iterator[Exporter]:
    """Serve an exposition at /metrics until the context ends; it may be changed meanwhile."""
    served = Exporter(exposition)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = served.exposition
            served.scrapes += 1
            self.send_response(200 if content is not None else 503)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.end_headers()
            self.wfile.write((content or "").encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass(frozen=True)
class Target:
    """What a scrape job looks at: where, with which labels of its own, and who wins over a label's name."""

    job: str
    exporter: Exporter
    labels: Mapping[str, str] = field(default_factory=dict)
    honor_labels: bool = False


def scrape_config(targets: Sequence[Target], external: Mapping[str, str] | None = None) -> str:
    """Return a configuration that both servers read."""
    jobs = [
        {
            "job_name": target.job,
            "honor_labels": target.honor_labels,
            "static_configs": [{"targets": [f"127.0.0.1:{target.exporter.port}"], "labels": dict(target.labels)}],
        }
        for target in targets
    ]
    settings = {"scrape_interval": "1s", "scrape_timeout": "1s", "external_labels": dict(external or {})}
    return yaml.safe_dump({"global": settings, "scrape_configs": jobs})


@contextmanager
def prometheus(folder: Path, config: str) -> Iterator[str]:
    """Run a Prometheus; yields its base URL, with a path prefix."""
    (port,) = free_ports(1)
    (folder / "prometheus.yml").write_text(config)
    command = [
        require("prometheus"),
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'prometheus-data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--web.external-url=/prometheus",
    ]
    url = f"http://127.0.0.1:{port}/prometheus"
    with _running(command, folder / "prometheus.log", f"{url}/-/ready"):
        yield url


@contextmanager
def victoria_metrics(folder: Path, config: str) -> Iterator[str]:
    """Run a VictoriaMetrics; yields its base URL."""
    (port,) = free_ports(1)
    # External labels belong to another of its programs.
    document = yaml.safe_load(config)
    document["global"].pop("external_labels")
    (folder / "scrape.yml").write_text(yaml.safe_dump(document))
    command = [
        require("victoria-metrics"),
        f"-promscrape.config={folder / 'scrape.yml'}",
        f"-storageDataPath={folder / 'victoria-data'}",
        f"-httpListenAddr=127.0.0.1:{port}",
        # By default the newest half minute is not shown yet.
        "-search.latencyOffset=1s",
    ]
    url = f"http://127.0.0.1:{port}"
    with _running(command, folder / "victoria.log", f"{url}/health"):
        yield url


@contextmanager
def _running(command: Sequence[str], log: Path, ready: str) -> Iterator[None]:
    server = Server(command, log)

    def up() -> bool:
        server.check()
        return _answers(ready)

    try:
        wait_for(up, f"{server.name} to be ready; see {log}")
        yield
    finally:
        server.stop()


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=2).is_success
    except httpx.TransportError:
        return False


def wait_for(condition: Callable[[], bool], what: str, seconds: float = READY_SECONDS) -> None:
    """Wait until a condition holds; raises TimeoutError."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds:.0f} s for {what}")
        time.sleep(0.1)
