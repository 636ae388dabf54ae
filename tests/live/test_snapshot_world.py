"""Awkward nodes, custom resources and a Prometheus behind the API server, on a real control plane."""

import json
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ksolver_cli.domain.cluster import CaveatKind
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.snapshot.read import read_snapshot
from tests.live.plane import Plane
from tests.live.servers import Target, exporter, prometheus, scrape_config, wait_for
from tests.live.test_snapshot import _rules, ksolver

_SIZE = {"cpu": "4", "memory": "8Gi", "pods": "110"}


def _node(name: str, labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name} | ({"labels": labels} if labels else {})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": spec,
        "status": {"allocatable": _SIZE, "capacity": _SIZE},
    }


def test_awkward_nodes_come_through_as_what_they_are(clean_plane: Plane, tmp_path: Path) -> None:
    plane = clean_plane
    taint = {"key": "os", "value": "windows", "effect": "NoSchedule"}
    control = "node-role.kubernetes.io/control-plane"
    plane.add_nodes(
        _node("bare"),
        _node("windows", {"kubernetes.io/os": "windows"}, taints=[taint]),
        _node(
            "virtual",
            {"type": "virtual-kubelet"},
            taints=[{"key": "virtual-kubelet.io/provider", "effect": "NoSchedule"}],
        ),
        _node("control", {control: ""}, taints=[{"key": control, "effect": "NoSchedule"}]),
        _node("cordoned", unschedulable=True),
        {**_node("going"), "metadata": {"name": "going", "finalizers": ["example.test/wait"]}},
    )
    plane.admin.delete("/api/v1/nodes/going")
    try:
        done = ksolver("snapshot", "--out", tmp_path / "x.json", "--kubeconfig", plane.kubeconfig())
    finally:
        patch = {"Content-Type": "application/merge-patch+json"}
        plane.admin.patch("/api/v1/nodes/going", content='{"metadata":{"finalizers":null}}', headers=patch)
    assert done.returncode == 0, done.stderr
    nodes = {node.name: node for node in normalise(read_snapshot([tmp_path / "x.json"])).nodes}
    assert set(nodes) == {"bare", "windows", "virtual", "control", "cordoned", "going"}
    assert nodes["windows"].labels["kubernetes.io/os"] == "windows"
    assert [found.key for found in nodes["windows"].taints if found.key == "os"] == ["os"]
    assert nodes["virtual"].is_virtual
    assert nodes["control"].is_control_plane
    assert nodes["cordoned"].unschedulable
    assert nodes["going"].deleting
    assert not (nodes["bare"].is_virtual)
    assert not (nodes["bare"].is_control_plane)
    assert not (nodes["bare"].deleting)


@pytest.fixture
def silent(clean_plane: Plane) -> Iterator[Plane]:
    """Two nodes with a running pod each, of which one has lost its kubelet."""
    clean_plane.add_nodes(*(_node(name, {"kubernetes.io/hostname": name}) for name in ("well", "silent")))
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"on-{name}", "namespace": "default"},
            "spec": {
                "nodeSelector": {"kubernetes.io/hostname": name},
                "containers": [{"name": "c", "image": "c:1", "resources": {"requests": {"cpu": "1"}}}],
            },
        }
        for name in ("well", "silent")
    ]
    clean_plane.apply(*pods)
    clean_plane.wait(
        "pods run", lambda: all(p["status"].get("phase") == "Running" for p in clean_plane.items("api/v1/pods"))
    )
    condition = {"type": "Ready", "status": "False", "reason": "KubeletDown", "message": "not heard of"}
    patch = json.dumps({"status": {"conditions": [condition]}})
    with clean_plane.without_kubelets():
        clean_plane.kubectl("patch", "node", "silent", "--subresource=status", "--type=strategic", "-p", patch)
        clean_plane.wait("the controller taints the node", lambda: len(_taints(clean_plane, "silent")) == 2)
        yield clean_plane


def _taints(plane: Plane, name: str) -> set[str]:
    (node,) = (node for node in plane.items("api/v1/nodes") if node["metadata"]["name"] == name)
    return {f"{taint['key']}:{taint['effect']}" for taint in node["spec"].get("taints", ())}


def test_a_node_that_is_not_ready_and_its_pods_are_said_to_be_so(silent: Plane, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    done = ksolver("snapshot", "--out", file, "--kubeconfig", silent.kubeconfig())
    assert done.returncode == 0, done.stderr
    cluster = normalise(read_snapshot([file]))
    nodes = {node.name: node for node in cluster.nodes}
    assert (nodes["well"].ready, nodes["silent"].ready) == (True, False)
    assert {f"{taint.key}:{taint.effect}" for taint in nodes["silent"].taints} == _taints(silent, "silent")
    touched = {name for caveat in cluster.caveats if caveat.kind is CaveatKind.NOT_READY for name in caveat.objects}
    assert touched == {"silent", "default/on-silent"}
    asked = ksolver("why", "default/on-silent", file, "--json")
    (verdict,) = (entry for entry in json.loads(asked.stdout)["nodes"] if entry["node"] == "silent")
    assert [rejection["plugin"] for rejection in verdict["rejections"]] == ["TaintToleration"]
    report = ksolver("analyze", file, "--effort", "0.1")
    assert "default/on-silent" in report.stdout.partition("Caveats and gaps")[2]


def _definition(group: str, plural: str, kind: str, *, scope: str = "Cluster", version: str = "v1") -> dict[str, Any]:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        # Groups below k8s.io are for approved APIs only.
        "metadata": {"name": f"{plural}.{group}", "annotations": {"api-approved.kubernetes.io": "unapproved, a test"}},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"plural": plural, "kind": kind, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }


@pytest.fixture
def addons(clean_plane: Plane) -> Iterator[Plane]:
    """Karpenter's, VPA's and Volcano's kinds, without their controllers."""
    definitions = [
        _definition("karpenter.sh", "nodepools", "NodePool"),
        _definition("autoscaling.k8s.io", "verticalpodautoscalers", "VerticalPodAutoscaler", scope="Namespaced"),
        _definition("scheduling.volcano.sh", "podgroups", "PodGroup", scope="Namespaced", version="v1beta1"),
    ]
    clean_plane.apply(*definitions)
    paths = [
        "karpenter.sh/v1/nodepools",
        "autoscaling.k8s.io/v1/verticalpodautoscalers",
        "scheduling.volcano.sh/v1beta1/podgroups",
    ]
    clean_plane.wait(
        "custom kinds are served", lambda: all(clean_plane.admin.get(f"/apis/{p}").is_success for p in paths)
    )
    yield clean_plane
    for definition in definitions:
        clean_plane.kubectl("delete", "crd", definition["metadata"]["name"])


def test_kinds_of_addons_are_found_and_redacted(addons: Plane, tmp_path: Path) -> None:
    addons.add_nodes(_node("n1"))
    pool = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "default"},
        "spec": {"limits": {"cpu": "100"}, "template": {"spec": {"userData": "s3cr3t-canary"}}},
    }
    gang = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "gang", "namespace": "default"},
        "spec": {"minMember": 3},
    }
    addons.apply(pool, gang)
    addons.grant("reader", _rules(addons))
    done = ksolver("snapshot", "--out", tmp_path / "x.json", "--kubeconfig", addons.kubeconfig("reader"))
    assert done.returncode == 0, done.stderr
    snapshot = read_snapshot([tmp_path / "x.json"])
    assert snapshot.gaps == ()
    (found,) = snapshot.objects["nodepools"]
    assert found["spec"]["limits"] == {"cpu": "100"}
    assert snapshot.objects["volcanopodgroups"][0]["spec"]["minMember"] == 3
    assert snapshot.objects["verticalpodautoscalers"] == ()
    assert "s3cr3t-canary" not in (tmp_path / "x.json").read_text()
    addons.grant("reader", _rules(addons, "--no-addons"))
    less = ksolver("snapshot", "--out", "-", "--kubeconfig", addons.kubeconfig("reader"))
    gaps = {gap["kind"]: gap["reason"] for gap in json.loads(less.stdout)["gaps"]}
    assert gaps == dict.fromkeys(("nodepools", "verticalpodautoscalers", "volcanopodgroups"), "forbidden")


def _own_address() -> str:
    """An IPv4 address of this machine to which an API server forwards (not loopback); empty where there is none."""
    said = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=False).stdout.split()
    return next((address for address in said if "." in address and not address.startswith(("127.", "169.254."))), "")


@contextmanager
def _forwarded(address: str, port: int) -> Iterator[int]:
    """A port of the address whose connections go to a port of 127.0.0.1."""
    listener = socket.create_server((address, 0))

    def pump(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65_536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def accept() -> None:
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", port))
            threading.Thread(target=pump, args=(near, far), daemon=True).start()
            threading.Thread(target=pump, args=(far, near), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _publish(plane: Plane, address: str, port: int) -> None:
    """A service in front of a pod of that address, which is all that an API server forwards to."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "mimir", "namespace": "default"},
        "spec": {"schedulerName": "nobody", "containers": [{"name": "mimir", "image": "mimir:1"}]},
    }
    meta, ports = {"name": "mimir-query-frontend", "namespace": "default"}, [{"name": "http", "port": port}]
    target = {"kind": "Pod", "name": "mimir", "namespace": "default"}
    subset = {"addresses": [{"ip": address, "targetRef": target}], "ports": ports}
    plane.apply(
        pod,
        {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": {"ports": ports}},
        {"apiVersion": "v1", "kind": "Endpoints", "metadata": meta, "subsets": [subset]},
    )
    status = {"status": {"podIP": address, "podIPs": [{"ip": address}]}}
    headers = {"Content-Type": "application/merge-patch+json"}
    plane.admin.patch("/api/v1/namespaces/default/pods/mimir/status", json=status, headers=headers).raise_for_status()


def test_a_prometheus_in_the_cluster_is_found_and_asked_through_the_api_server(
    clean_plane: Plane, tmp_path: Path
) -> None:
    address = _own_address()
    if not address:
        pytest.skip("this machine has only a loopback address, to which an API server does not forward")
    plane = clean_plane
    plane.add_nodes(_node("n1"))
    text = 'container_memory_working_set_bytes{namespace="default",pod="p",container="c"} 5e6\n'
    owner = 'kube_pod_owner{namespace="default",pod="p",owner_kind="StatefulSet",owner_name="db"} 1\n'
    with (
        exporter(text + owner) as metrics,
        prometheus(tmp_path, scrape_config([Target("all", metrics, honor_labels=True)])) as url,
    ):
        wait_for(lambda: metrics.scrapes > 3, "scrapes")
        port, path = int(url.rsplit(":", 1)[1].split("/")[0]), "/prometheus"
        assert url.endswith(path)
        with _forwarded(address, port) as open_port:
            _publish(plane, address, open_port)
            plane.grant("reader", _rules(plane, "--prometheus-proxy"))
            arguments = ("--discover-prometheus", "--usage-window", "1m", "--usage-step", "5s")
            done = ksolver("snapshot", "--out", "-", "--kubeconfig", plane.kubeconfig("reader"), *arguments)
            plane.kubectl("delete", "service,endpoints", "mimir-query-frontend", "--ignore-not-found")
    assert done.returncode == 0, done.stderr
    usage = json.loads(done.stdout)["extras"].get("usage")
    assert usage is not None, done.stderr
    (entry,) = usage["containers"]
    assert (entry["kind"], entry["name"], entry["memory"]["max_bytes"]) == ("StatefulSet", "db", 5_000_000)
