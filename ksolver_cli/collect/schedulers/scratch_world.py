"""A question rewritten for a control plane that has admission, a node controller and a namespace of its own."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ksolver_cli.collect.schedulers.exchange import Question
from ksolver_cli.snapshot.model import RawObject

MARK = "ksolver.dev/conform"
"""Annotation of everything that a run makes, so that a later run can clear what an ended one left behind."""

CONDITION_TAINTS = {
    "node.kubernetes.io/not-ready": ("Ready", "False"),
    "node.kubernetes.io/unreachable": ("Ready", "Unknown"),
    "node.kubernetes.io/memory-pressure": ("MemoryPressure", "True"),
    "node.kubernetes.io/disk-pressure": ("DiskPressure", "True"),
    "node.kubernetes.io/pid-pressure": ("PIDPressure", "True"),
    "node.kubernetes.io/network-unavailable": ("NetworkUnavailable", "True"),
}
"""Taints that the node controller keeps as the node's conditions are, and those conditions."""

_MERGED = ("matchLabelKeys", "mismatchLabelKeys")


def rewritten(question: Question, namespace: str) -> Question:
    """The same question inside `namespace`, as the control plane would keep it. Both sides judge this one."""
    home = question.namespace
    beside = {
        kind: tuple(_moved(raw, namespace) for raw in objects)
        for kind, objects in question.beside.items()
        if kind not in ("namespaces", "priorityclasses")
    }
    beside["namespaces"] = tuple(_renamed(raw, namespace) for raw in question.beside.get("namespaces", ()))
    if "persistentvolumes" in beside:
        beside["persistentvolumes"] = tuple(_reserved(raw, namespace) for raw in beside["persistentvolumes"])
    return replace(question, node=_node(question.node), pod=_pod(question.pod, home, namespace), beside=beside)


def _without(raw: RawObject, *keys: str) -> dict[str, Any]:
    return {key: value for key, value in raw.items() if key not in keys}


def _moved(raw: RawObject, namespace: str) -> RawObject:
    metadata = raw["metadata"]
    return {**raw, "metadata": {**metadata, "namespace": namespace}} if metadata.get("namespace") else raw


def _renamed(raw: RawObject, namespace: str) -> RawObject:
    labels = {**raw["metadata"].get("labels", {}), "kubernetes.io/metadata.name": namespace}
    return {**raw, "metadata": {"name": namespace, "labels": labels}}


def _reserved(raw: RawObject, namespace: str) -> RawObject:
    reference = raw["spec"].get("claimRef")
    if not isinstance(reference, Mapping):
        return raw
    return {**raw, "spec": {**raw["spec"], "claimRef": {**reference, "namespace": namespace}}}


def _node(raw: RawObject) -> dict[str, Any]:
    taints = raw["spec"].get("taints") or ()
    states = {"Ready": "True"}
    states.update(CONDITION_TAINTS[taint["key"]] for taint in taints if taint.get("key") in CONDITION_TAINTS)
    conditions = [
        {"type": kind, "status": state, "reason": "Conform", "message": "for one question"}
        for kind, state in states.items()
    ]
    return {**raw, "status": {**raw["status"], "conditions": conditions}}


def _pod(raw: RawObject, home: str, namespace: str) -> dict[str, Any]:
    spec = _without(raw["spec"], "priorityClassName", "runtimeClassName")
    affinity = spec.get("affinity")
    if isinstance(affinity, Mapping):
        spec["affinity"] = {
            kind: _terms(part, home, namespace) if kind in ("podAffinity", "podAntiAffinity") else part
            for kind, part in affinity.items()
        }
    spreads = spec.get("topologySpreadConstraints")
    if spreads:
        spec["topologySpreadConstraints"] = [_merged(spread) for spread in spreads]
    spec["automountServiceAccountToken"] = False
    return {**raw, "metadata": {**raw["metadata"], "namespace": namespace}, "spec": spec}


def _terms(part: Any, home: str, namespace: str) -> Any:
    """Required terms in the new namespace; preferred ones only score."""
    required = (part or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or ()
    terms = []
    for term in required:
        moved = _merged(term)
        if moved.get("namespaces"):
            moved["namespaces"] = [namespace if name == home else name for name in moved["namespaces"]]
        terms.append(moved)
    return {"requiredDuringSchedulingIgnoredDuringExecution": terms}


def _merged(term: RawObject) -> dict[str, Any]:
    """A term without keys that the API server has merged into its selector already and would refuse to see twice."""
    selector = term.get("labelSelector") or {}
    expressions = selector.get("matchExpressions") or ()
    there = {*(selector.get("matchLabels") or ()), *(expression.get("key") for expression in expressions)}
    kept = dict(term)
    for field in _MERGED:
        if kept.get(field):
            kept[field] = [key for key in kept[field] if key not in there]
    return {key: value for key, value in kept.items() if key not in _MERGED or value}
