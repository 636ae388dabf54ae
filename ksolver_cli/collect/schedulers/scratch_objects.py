"""The objects of one question on a control plane: made in the order in which they need one another, and taken back."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from ksolver_cli.collect.schedulers.exchange import Question
from ksolver_cli.collect.schedulers.scratch_api import ApiRefusedError, ScratchApi
from ksolver_cli.collect.schedulers.scratch_world import MARK
from ksolver_cli.snapshot.model import RawObject

_FIRST = ("storageclasses", "csidrivers", "deviceclasses", "resourceslices", "resourceclaims")
_AFTER_NODE = ("csinodes", "csistoragecapacities")
_CANARY = "ksolver-canary"
_CONFLICT = 409
_NAMESPACE_SECONDS = 10.0

Made = tuple[str, RawObject]
WaitForNode = Callable[[RawObject, str], None]


class Objects:
    """What a run has made on the control plane; the node stays as long as questions are about it."""

    def __init__(self, api: ScratchApi, namespace: str, pause: Callable[[float], None] = time.sleep) -> None:
        self._api = api
        self._namespace = namespace
        self._pause = pause
        self._made: list[Made] = []
        self._node: RawObject | None = None
        self._namespace_made: RawObject | None = None
        self._labels: Mapping[str, str] = {}
        self._canaries = 0

    def make_namespace(self) -> None:
        """Make the namespace, and the account that admission wants pods to have."""
        raw = _marked({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self._namespace}})
        self._namespace_made = self._api.create("namespaces", raw)
        account = {"apiVersion": "v1", "kind": "ServiceAccount"}
        try:
            self._api.create(
                "serviceaccounts", {**account, "metadata": {"name": "default", "namespace": self._namespace}}
            )
        except ApiRefusedError as error:
            # Where a controller made it first.
            if error.status != _CONFLICT:
                raise

    def put(self, question: Question, wait_for_node: WaitForNode) -> None:
        """Make everything the question holds, the pod last. Raises ApiRefusedError; what was made is remembered."""
        self._label_namespace(question)
        for kind in _FIRST:
            for raw in question.beside.get(kind, ()):
                self._create(kind, raw)
        self._put_volumes(question)
        self._put_node(question.node, wait_for_node)
        for kind in _AFTER_NODE:
            for raw in question.beside.get(kind, ()):
                self._create(kind, raw)
        self._create("pods", self._with_overhead(question.pod))

    def take_back(self) -> None:
        """Delete what the last question needed, the last first; the node stays for the next one."""
        while self._made:
            plural, raw = self._made.pop()
            self._api.delete(plural, raw)

    def clear(self) -> None:
        """Delete everything."""
        self.take_back()
        self._drop_node()
        if self._namespace_made is not None:
            self._api.delete("namespaces", self._namespace_made)

    def _create(self, plural: str, raw: RawObject) -> dict[str, Any]:
        wanted = _marked(raw)
        made = self._api.create(plural, wanted)
        self._made.append((plural, wanted))
        return made

    def _label_namespace(self, question: Question) -> None:
        """The scratch namespace has the labels of the pod's own, for terms that select namespaces."""
        for raw in question.beside.get("namespaces", ()):
            labels: dict[str, str] = dict(raw["metadata"].get("labels") or {})
            if labels == self._labels or self._namespace_made is None:
                continue
            dropped = dict.fromkeys(set(self._labels) - set(labels))
            self._api.patch("namespaces", self._namespace_made, {"metadata": {"labels": {**dropped, **labels}}})
            self._labels = labels

    def _put_volumes(self, question: Question) -> None:
        claims = question.beside.get("persistentvolumeclaims", ())
        uids: dict[str, str] = {}
        for claim in claims:
            # The mark of a finished binding comes last: until the volume is there, it would mean a lost claim.
            uids[claim["metadata"]["name"]] = self._create("persistentvolumeclaims", _unbound(claim))["metadata"]["uid"]
        for volume in question.beside.get("persistentvolumes", ()):
            self._create("persistentvolumes", _reserved(volume, self._namespace, uids))
            self._api.patch("persistentvolumes", volume, {"status": volume["status"]}, "status")
        for claim in claims:
            annotations = claim["metadata"].get("annotations") or {}
            if annotations:
                self._api.patch("persistentvolumeclaims", claim, {"metadata": {"annotations": annotations}})
            if claim.get("status"):
                self._api.patch("persistentvolumeclaims", claim, {"status": claim["status"]}, "status")

    def _put_node(self, raw: RawObject, wait_for_node: WaitForNode) -> None:
        if self._node == raw:
            return
        self._drop_node()
        self._api.create("nodes", _marked(raw))
        self._node = raw
        # Admission taints every new node as not ready, and a controller lifts that only after a while.
        self._api.patch("nodes", raw, {"spec": {"taints": raw["spec"].get("taints") or None}})
        self._canaries += 1
        canary = _canary(raw["metadata"]["name"], self._namespace, self._canaries)
        self._api.create("pods", canary)
        try:
            wait_for_node(canary, raw["metadata"]["name"])
        except ApiRefusedError:
            self._drop_node()
            raise
        finally:
            self._api.delete("pods", canary)

    def _drop_node(self) -> None:
        if self._node is not None:
            self._api.delete("nodes", self._node)
            self._node = None

    def _with_overhead(self, pod: RawObject) -> RawObject:
        """Admission allows a pod's overhead only through a RuntimeClass that says the same."""
        overhead = pod["spec"].get("overhead")
        if not overhead:
            return pod
        name = f"{self._namespace}-overhead"
        runtime = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}}
        self._create("runtimeclasses", {**runtime, "handler": "none", "overhead": {"podFixed": overhead}})
        return {**pod, "spec": {**pod["spec"], "runtimeClassName": name}}


def _marked(raw: RawObject) -> dict[str, Any]:
    annotations = {**(raw["metadata"].get("annotations") or {}), MARK: "scratch"}
    return {**raw, "metadata": {**raw["metadata"], "annotations": annotations}}


def _unbound(claim: RawObject) -> dict[str, Any]:
    kept = {key: value for key, value in claim.items() if key != "status"}
    metadata = {key: value for key, value in claim["metadata"].items() if key != "annotations"}
    return {**kept, "metadata": metadata}


def _reserved(volume: RawObject, namespace: str, uids: Mapping[str, str]) -> dict[str, Any]:
    """A volume whose claim is the one just made; never deleted by its policy, since there is no disk."""
    spec = {**volume["spec"], "persistentVolumeReclaimPolicy": "Retain"}
    reference = spec.get("claimRef")
    if isinstance(reference, Mapping) and "uid" not in reference and reference.get("namespace") == namespace:
        uid = uids.get(str(reference.get("name")))
        spec["claimRef"] = {**reference, "uid": uid} if uid else reference
    return {**volume, "spec": spec}


def _canary(node_name: str, namespace: str, number: int) -> dict[str, Any]:
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node_name]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"{_CANARY}-{number}", "namespace": namespace, "annotations": {MARK: "scratch"}},
        "spec": {
            "affinity": affinity,
            "automountServiceAccountToken": False,
            "containers": [{"name": "c", "image": "none"}],
            "terminationGracePeriodSeconds": 0,
            "tolerations": [{"operator": "Exists"}],
        },
    }
