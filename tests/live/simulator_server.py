"""A server that speaks kube-scheduler-simulator's protocol and lets the real scheduler decide.

What is imported goes to the oracle; the export then shows the pod as the simulator would: bound, or unschedulable with
the condition and the annotations that it writes.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.live.oracle import Oracle, OracleError
from tests.live.process import LOCALHOST

Json = dict[str, Any]
KEYS = ("pods", "nodes", "pvs", "pvcs", "storageClasses", "priorityClasses", "namespaces")
ORACLE_KEYS = {
    "nodes": "nodes",
    "pvs": "persistentvolumes",
    "pvcs": "persistentvolumeclaims",
    "storageClasses": "storageclasses",
    "namespaces": "namespaces",
}
PREFIX = "kube-scheduler-simulator.sigs.k8s.io/"
SCHEDULER = "simulated-scheduler"


class SimulatorState:
    """What was imported since the last reset. `broken` requests are refused; `silent` pods never get a verdict."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.objects: Json = {key: [] for key in KEYS}
        self.imports: list[Json] = []
        self.broken = 0
        self.silent: set[str] = set()
        self.lock = threading.Lock()

    def reset(self) -> None:
        self.objects = {key: [] for key in KEYS}

    def load(self, body: Json) -> None:
        """Take an import and decide, as the simulator refuses it where the API server would."""
        assert len(body["nodes"]) == len(body["pods"]) == 1, "one node and one pod"
        assert body["schedulerConfig"], "the simulator restarts its scheduler with this"
        pod, node = body["pods"][0], body["nodes"][0]
        for raw in (pod, node):
            assert not {"uid", "resourceVersion"} & set(raw["metadata"])
        assert "status" not in pod
        assert "nodeName" not in pod["spec"]
        assert pod["spec"]["schedulerName"] == SCHEDULER
        self.imports.append(body)
        self.objects = {key: body.get(key) or [] for key in KEYS}
        if pod["metadata"]["name"] not in self.silent:
            self.objects["pods"] = [self._decided(pod, node["metadata"]["name"])]

    def _decided(self, pod: Json, node: str) -> Json:
        cluster = {name: self.objects[key] for key, name in ORACLE_KEYS.items()}
        asked = {**pod, "spec": {**pod["spec"], "schedulerName": "default-scheduler"}}
        try:
            said = self.oracle.filter(cluster, asked)[node]
        except OracleError as error:
            return with_condition(pod, "SchedulerError", str(error))
        if said["verdict"] == "pass":
            notes = {PREFIX + "selected-node": node}
            return {**pod, "metadata": annotated(pod, notes), "spec": {**pod["spec"], "nodeName": node}}
        first = said["first_fail"]
        if first["code"] == "Error":
            return with_condition(pod, "SchedulerError", ", ".join(first["reasons"]))
        message = f"0/1 nodes are available: 1 {', '.join(first['reasons'])}. preemption: no"
        refused = with_condition(pod, "Unschedulable", message)
        if first["stage"] == "Filter":
            result = {node: {first["plugin"]: ", ".join(first["reasons"])}}
            refused["metadata"] = annotated(pod, {PREFIX + "filter-result": json.dumps(result)})
        return refused


def annotated(pod: Json, notes: dict[str, str]) -> Json:
    return {**pod["metadata"], "annotations": {**pod["metadata"].get("annotations", {}), **notes}}


def with_condition(pod: Json, reason: str, message: str) -> Json:
    condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
    return {**pod, "status": {"phase": "Pending", "conditions": [condition]}}


@contextmanager
def simulator(oracle: Oracle) -> Iterator[tuple[str, SimulatorState]]:
    """Run the server; yields its URL and its state."""
    state = SimulatorState(oracle)
    server = ThreadingHTTPServer((LOCALHOST, 0), _handler(state))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://{LOCALHOST}:{server.server_address[1]}", state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(state: SimulatorState) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body in one packet: in two, each reply waits for the other side's delayed acknowledgement.
        wbufsize = 1 << 16

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 # the base class's name
            pass

        def do_PUT(self) -> None:
            self._act("/api/v1/reset", 202, lambda body: state.reset())

        def do_POST(self) -> None:
            self._act("/api/v1/import", 200, state.load)

        def do_GET(self) -> None:
            config = {"kind": "KubeSchedulerConfiguration", "profiles": [{"schedulerName": SCHEDULER}]}
            self._act("/api/v1/export", 200, lambda body: {**state.objects, "schedulerConfig": config})

        def _act(self, path: str, status: int, action: Any) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else {}
            with state.lock:
                if self.path != path:
                    self._reply(404, b"")
                elif state.broken > 0:
                    state.broken -= 1
                    self._reply(500, b"")
                else:
                    result = action(body)
                    self._reply(status, json.dumps(result).encode() if result is not None else b"")

        def _reply(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    return Handler
