"""The control plane behaves as a cluster: it schedules, runs, drains, and keeps strangers out."""

import os
import time
from pathlib import Path

import pytest

from tests.live.plane import Plane
from tests.live.process import Server, ServerError

READ_NODES = [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list"]}]


def node(name: str, cpu: str = "4") -> dict[str, object]:
    room = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": room, "capacity": room},
    }


def deployment(name: str, namespace: str, replicas: int, cpu: str = "100m") -> dict[str, object]:
    labels = {"app": name}
    container = {"name": "c", "image": "registry.example/app:1", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def budget(namespace: str, least: int) -> dict[str, object]:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"minAvailable": least, "selector": {"matchLabels": {"app": "web"}}},
    }


def running(plane: Plane, namespace: str) -> list[str]:
    """Nodes of the running pods."""
    pods = plane.items(f"api/v1/namespaces/{namespace}/pods")
    live = [p for p in pods if p["status"]["phase"] == "Running" and "deletionTimestamp" not in p["metadata"]]
    return sorted(p["spec"]["nodeName"] for p in live)


@pytest.fixture
def web(clean_plane: Plane) -> Plane:
    """Four running pods of a Deployment on two nodes, with a budget that lets one go at a time."""
    clean_plane.namespace("shop")
    clean_plane.add_nodes(node("n1"), node("n2"))
    clean_plane.apply(deployment("web", "shop", 4), budget("shop", 3))
    clean_plane.wait("four pods run", lambda: len(running(clean_plane, "shop")) == 4)
    return clean_plane


def test_it_is_the_version_that_it_says(plane: Plane) -> None:
    assert plane.admin.get("/version").json()["gitVersion"] == "v1.36.3"


def test_a_deployment_is_spread_and_runs(web: Plane) -> None:
    assert running(web, "shop") == ["n1", "n1", "n2", "n2"]


def test_what_fits_nowhere_stays_pending_with_the_scheduler_s_words(web: Plane) -> None:
    web.apply(deployment("huge", "shop", 1, cpu="64"))

    def told() -> bool:
        pods = web.items("api/v1/namespaces/shop/pods", labelSelector="app=huge")
        conditions = [c for p in pods for c in p["status"].get("conditions", [])]
        return any("Insufficient cpu" in c.get("message", "") for c in conditions)

    web.wait("the scheduler says why", told)


def test_drain_waits_for_the_budget(web: Plane) -> None:
    web.apply(budget("shop", 4))
    with pytest.raises(ServerError, match="would violate the pod's disruption budget"):
        web.kubectl("drain", "n1", "--timeout=3s")
    assert running(web, "shop") == ["n1", "n1", "n2", "n2"]
    web.apply(budget("shop", 3))
    web.kubectl("drain", "n1", "--timeout=60s")
    web.wait("all run elsewhere", lambda: running(web, "shop") == ["n2"] * 4)


def test_users_have_the_rights_they_were_granted(plane: Plane) -> None:
    with plane.client("nobody") as nobody, plane.client("reader") as reader:
        assert nobody.get("/api/v1/nodes").status_code == 403
        plane.grant("reader", READ_NODES)
        plane.wait("the grant is in force", lambda: reader.get("/api/v1/nodes").is_success)
        assert reader.get("/api/v1/pods").status_code == 403


def listening_elsewhere(pid: int) -> list[str]:
    """Addresses outside 127.0.0.1 on which the process listens (proc(5): state 0A, little-endian hex)."""
    held = {os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir()}
    rows = [
        row.split()
        for table in ("tcp", "tcp6")
        for row in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]
    ]
    mine = [row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in held]
    assert mine, "a server listens somewhere"
    return [address for address in mine if not address.startswith("0100007F:")]


def test_nothing_listens_outside_this_machine(plane: Plane) -> None:
    assert [listening_elsewhere(pid) for pid in plane.pids()] == [[]] * len(plane.pids())


def test_a_server_that_ends_is_noticed_and_quoted(tmp_path: Path) -> None:
    server = Server(["/bin/ls", "no-such-file"], tmp_path / "log")
    deadline = time.monotonic() + 10
    with pytest.raises(ServerError, match="no-such-file"):  # noqa: PT012 # it takes a moment to end
        while time.monotonic() < deadline:
            server.check()
            time.sleep(0.01)


def test_stop_ends_the_process(tmp_path: Path) -> None:
    server = Server(["/bin/sleep", "600"], tmp_path / "log")
    server.stop()
    assert not Path(f"/proc/{server.pid}").exists()
