"""Whatever stands where in the input: a report under the schema, or two lines and exit code 4. Never a traceback."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from ksolver_cli.cli.main import app
from tests.paths import ROOT

SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs/reference/report.schema.json").read_text()))
ESCAPE = "\x1b[31mred\x1b[0m"
HOSTILE = [
    *(None, True, 0, -1, 1.5, 10**30, "", "x", "-1", "1e400", [], {}, [None], [[]], [{}], {"": None}, {"a": {"b": []}}),
    *(ESCAPE, "a\nb", "\u202edlrow", '"; rm -rf / #', "$(reboot)", "<script>", "x" * 10_000, "\x00", "%s", "é", "日本"),
]
ROOM = {"cpu": "4", "memory": "8Gi", "pods": "20", "nvidia.com/gpu": "2", "ephemeral-storage": "10Gi"}
SELECTOR = {"matchLabels": {"app": "a"}, "matchExpressions": [{"key": "app", "operator": "In", "values": ["a"]}]}
LABELS = {"topology.kubernetes.io/zone": "z1", "node.kubernetes.io/instance-type": "m5.xlarge"}


def _meta(name: str, **more: object) -> dict[str, object]:
    return {"name": name, "namespace": "d", "labels": {"app": "a"}, "uid": f"u-{name}", **more}


def _node(name: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": dict(LABELS), "annotations": {"karpenter.sh/do-not-disrupt": "4h"}},
        "spec": {"providerID": "aws:///us-east-1a/i-1", "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]},
        "status": {
            "allocatable": dict(ROOM),
            "capacity": dict(ROOM),
            "conditions": [{"type": "Ready", "status": "True"}],
            "images": [{"names": ["img"], "sizeBytes": 5}],
            "nodeInfo": {"kubeletVersion": "v1.33.1"},
        },
    }


def _pod(name: str, node: str) -> dict[str, object]:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "u", "controller": True}
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": SELECTOR, "namespaceSelector": {}}
    match = [{"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "Exists"}]}]
    container = {"name": "c", "image": "img", "ports": [{"hostPort": 80}], "resources": {"requests": {"cpu": "1"}}}
    spread = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "labelSelector": SELECTOR}
    volumes = [
        {"name": "v", "persistentVolumeClaim": {"claimName": "c1"}},
        {"name": "e", "emptyDir": {}},
        {"name": "h", "hostPath": {"path": "/x"}},
    ]
    spec = {
        "nodeName": node,
        "containers": [container],
        "initContainers": [{"name": "i", "restartPolicy": "Always", "resources": {"requests": {"memory": "1Gi"}}}],
        "overhead": {"cpu": "10m"},
        "nodeSelector": {"topology.kubernetes.io/zone": "z1"},
        "tolerations": [{"key": "k", "operator": "Exists", "tolerationSeconds": 3}],
        "topologySpreadConstraints": [{**spread, "whenUnsatisfiable": "DoNotSchedule", "minDomains": 1}],
        "affinity": {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": match}},
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]},
            "podAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]
            },
        },
        "volumes": volumes,
        "priority": 5,
        "resourceClaims": [{"name": "g", "resourceClaimName": "rc"}],
    }
    status = {"phase": "Running" if node else "Pending", "conditions": [{"type": "Ready", "status": "True"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": _meta(name, ownerReferences=[owner]), "spec": spec} | {
        "status": status
    }


def _object(api: str, kind: str, name: str, **body: object) -> dict[str, object]:
    return {"apiVersion": api, "kind": kind, "metadata": _meta(name), **body}


WORLD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "List",
    "items": [
        *(_node("n1"), _node("n2"), _pod("p1", "n1"), _pod("p2", "n2"), _pod("p3", "")),
        _object("apps/v1", "ReplicaSet", "r", spec={"replicas": 2, "selector": SELECTOR}),
        _object("apps/v1", "Deployment", "dep", spec={"replicas": 2, "selector": SELECTOR, "template": {"spec": {}}}),
        _object("apps/v1", "DaemonSet", "ds", spec={"selector": SELECTOR, "template": _pod("t", "")}),
        _object(
            "policy/v1",
            "PodDisruptionBudget",
            "b",
            spec={"minAvailable": 1, "selector": SELECTOR},
            status={"disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2},
        ),
        _object("v1", "Service", "s", spec={"selector": {"app": "a"}}),
        _object("v1", "Namespace", "d"),
        _object("scheduling.k8s.io/v1", "PriorityClass", "pc", value=5),
        _object("v1", "PersistentVolumeClaim", "c1", spec={"volumeName": "pv", "storageClassName": "sc"}),
        _object(
            "v1",
            "PersistentVolume",
            "pv",
            spec={
                "capacity": {"storage": "1Gi"},
                "csi": {"driver": "x", "volumeHandle": "h"},
                "storageClassName": "sc",
            },
        ),
        _object("storage.k8s.io/v1", "StorageClass", "sc", volumeBindingMode="WaitForFirstConsumer", provisioner="x"),
        _object("storage.k8s.io/v1", "CSINode", "n1", spec={"drivers": [{"name": "x", "allocatable": {"count": 3}}]}),
        _object("resource.k8s.io/v1", "ResourceClaim", "rc", spec={"devices": {"requests": [{"name": "r"}]}}),
        _object(
            "resource.k8s.io/v1", "ResourceSlice", "rs", spec={"driver": "d", "pool": {"name": "p"}, "devices": []}
        ),
    ],
}


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield from _places(inner, (*path, key))


PLACES = list(_places(WORLD))


def _changed(path: tuple[Any, ...], hostile: Any, as_key: bool) -> Any:
    document = copy.deepcopy(WORLD)
    holder: Any = document
    for step in path[:-1]:
        holder = holder[step]
    if as_key and isinstance(holder, dict) and isinstance(hostile, str):
        holder[hostile] = holder.pop(path[-1])
    else:
        holder[path[-1]] = hostile
    return document


def _analyse(file: Path, *more: str) -> Result:
    return CliRunner().invoke(app, ["analyze", str(file), "--effort", "0.02", *more])


def _check(done: Result) -> None:
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code in (0, 4), done.stderr
    if done.exit_code == 0:
        assert done.stderr == ""
    else:
        assert len(done.stderr.splitlines()) == 2
        assert done.stdout == ""


@given(
    change=st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from(HOSTILE), st.booleans()), min_size=1, max_size=1)
)
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_value_anywhere(tmp_path: Path, change: list[tuple[tuple[Any, ...], Any, bool]]) -> None:
    file = tmp_path / "list.json"
    file.write_text(json.dumps(_changed(*change[0])))
    done = _analyse(file, "--json")
    _check(done)
    if done.exit_code == 0:
        SCHEMA.validate(json.loads(done.stdout))


@given(place=st.sampled_from(PLACES), hostile=st.sampled_from([v for v in HOSTILE if isinstance(v, str)]))
@example(place=("items", 2, "metadata", "ownerReferences", 0, "kind"), hostile=ESCAPE)
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_text_shows_nothing_that_a_terminal_would_act_on(tmp_path: Path, place: tuple[Any, ...], hostile: str) -> None:
    file = tmp_path / "list.json"
    file.write_text(json.dumps(_changed(place, hostile, False)))
    done = _analyse(file)
    _check(done)
    assert all(sign.isprintable() or sign == "\n" for sign in done.stdout)


@pytest.mark.parametrize(
    "text",
    [
        *('["a"', "{", "NaN", "[" * 10_000, "[" * 10_000 + "]" * 10_000, '{"a":' * 10_000, "a: " + "[" * 10_000, "%"),
        *(
            '{"kind": "List", "items": null}',
            '{"kind": "Node", "metadata": null}',
            "- " * 9000,
            "\x00",
            "<html></html>",
        ),
        '{"schema": "ksolver.snapshot/9", "objects": {}}',
        '{"schema": "ksolver.snapshot/1", "objects": {"nodes": [1]}, "gaps": 5, "extras": "x", "server_version": []}',
        "".join(" " * depth + "a:\n" for depth in range(1500)),
        '{"kind": "Node", "metadata": {"name": "n"}, "x": Infinity}',
        "Error from server (Forbidden): nodes is forbidden",
        "a: &a [1]\nb: [*a, *a]",
    ],
    ids=range(19),
)
def test_what_is_no_cluster_is_refused_in_two_lines(tmp_path: Path, text: str) -> None:
    file = tmp_path / "input"
    file.write_text(text)
    done = _analyse(file)
    _check(done)
    assert done.exit_code == 4
    assert str(file) in done.stderr
