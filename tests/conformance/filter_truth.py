"""Cases of true Filter verdicts, read and put to our families."""

import gzip
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ksolver_cli.constraints.registry import Judge, prepare
from ksolver_cli.constraints.state import State, as_new
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.verdict import Rejection, Verdict
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.snapshot.model import Snapshot
from tests.paths import CASES

Case = Mapping[str, Any]

BESIDE = frozenset({"nodes", "pods", "pod"})
"""Keys of a case that are lists of objects in another way than by plural kind."""


@cache
def named_cases() -> tuple[Case, ...]:
    path = CASES / "filter_cases.json"
    return tuple(json.loads(path.read_text())["cases"]) if path.exists() else ()


@cache
def case_lines(name: str) -> tuple[Case, ...]:
    path = CASES / name
    if not path.exists():
        return ()
    with gzip.open(path, "rt") as lines:
        return tuple(json.loads(line) for line in lines)


def require(cases: tuple[Case, ...]) -> tuple[Case, ...]:
    """The cases as test parameters; one skipped parameter when the shared folder is absent."""
    if cases:
        return cases
    return (pytest.param({}, marks=pytest.mark.skip(reason="the folder of shared cases is absent")),)  # type: ignore[return-value]


def cluster_of(case: Case, version: str | None = None) -> Cluster:
    """The case's objects as one complete cluster, the pod to place among them."""
    objects = {
        kind: tuple(items)
        for kind, items in case.items()
        if kind not in BESIDE and isinstance(items, list) and all(isinstance(item, dict) for item in items)
    }
    objects["nodes"] = tuple(case["nodes"])
    # A server calls every new pod pending; one that names a node would read as running there without it.
    placed = case["pod"] | {"status": {"phase": "Pending", **(case["pod"].get("status") or {})}}
    objects["pods"] = (*case["pods"], placed)
    return normalise(Snapshot(objects), complete=True, kubernetes_version=version)


def pod_of(case: Case, cluster: Cluster) -> Pod:
    metadata = case["pod"]["metadata"]
    return find_pod(cluster, f"{metadata.get('namespace', 'default')}/{metadata['name']}")


def find_pod(cluster: Cluster, key: str) -> Pod:
    return next(pod for pod in cluster.pods if pod.key == key)


def judge_new(cluster: Cluster, pod: Pod) -> Judge:
    """The pod to place: it is on no node, but may name one."""
    state = State(cluster)
    if state.node_of(pod) is not None:
        state.remove(pod)
    return prepare(pod, state)


def judge_evicted(cluster: Cluster, pod: Pod) -> Judge:
    """A pod of a dump, as if just evicted."""
    state = State(cluster)
    if state.node_of(pod) is not None:
        state.remove(pod)
    return prepare(as_new(pod), state)


def verdict_word(objections: tuple[Verdict, ...]) -> str:
    if not objections:
        return "pass"
    return "fail" if any(isinstance(verdict, Rejection) for verdict in objections) else "unknown"


def failing(objections: tuple[Verdict, ...]) -> list[str]:
    return sorted(verdict.family for verdict in objections if isinstance(verdict, Rejection))


def dump_folders() -> Iterator[Path]:
    folder = CASES.parent / "data" / "dumps"
    return iter(sorted(path for path in folder.iterdir() if path.is_dir())) if folder.exists() else iter(())
