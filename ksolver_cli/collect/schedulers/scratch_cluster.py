"""A disposable control plane as a source of verdicts: one node and one pod at a time, in a namespace of its own.

The plane must be empty, so that it can never be the cluster under analysis, and so that nobody else's pods take the
node's room: with nodes or pods of its own it is refused.
"""

import logging
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from ksolver_cli.collect.schedulers.exchange import (
    Answer,
    Question,
    Said,
    SchedulerUnusableError,
    Stop,
    unanswered,
    verdict_of,
)
from ksolver_cli.collect.schedulers.scratch_api import ApiRefusedError, ScratchApi, connect
from ksolver_cli.collect.schedulers.scratch_objects import Objects
from ksolver_cli.collect.schedulers.scratch_world import MARK, rewritten
from ksolver_cli.snapshot.model import RawObject

log = logging.getLogger(__name__)

_LEFT_BEHIND = (
    ("pods", "v1"),
    ("nodes", "v1"),
    ("persistentvolumes", "v1"),
    ("storageclasses", "storage.k8s.io/v1"),
    ("csidrivers", "storage.k8s.io/v1"),
    ("csinodes", "storage.k8s.io/v1"),
    ("runtimeclasses", "node.k8s.io/v1"),
    ("deviceclasses", "resource.k8s.io/v1"),
    ("resourceslices", "resource.k8s.io/v1"),
    ("namespaces", "v1"),
)
_LOOKED_AT = 500
_ELSEWHERE = ("didn't satisfy plugin", "didn't match Pod's node affinity")
"""How the scheduler refuses a pod whose one node is not among those it knows."""

_SELECTED_NODE = "volume.kubernetes.io/selected-node"


@dataclass(frozen=True)
class ScratchOptions:
    """Which control plane, how long one pair may take, and how long a refusal must stand that may be too early."""

    kubeconfig: Path
    context: str | None = None
    seconds: float = 10.0
    settle_seconds: float = 3.0
    poll_seconds: float = 0.02


class ScratchCluster:
    """Asks one control plane; use as a context manager, which makes its namespace and clears up behind it."""

    source = "cluster"

    def __init__(
        self,
        options: ScratchOptions,
        *,
        stop: Stop = lambda: False,
        pause: Callable[[float], None] = time.sleep,
        api: ScratchApi | None = None,
    ) -> None:
        self._options = options
        self._stop = stop
        self._pause = pause
        self._api = api or connect(options.kubeconfig, options.context, options.seconds)
        self.version = ""
        self._namespace = f"ksolver-conform-{secrets.token_hex(4)}"
        self._objects = Objects(self._api, self._namespace, pause)

    def __enter__(self) -> Self:
        try:
            self.version = str(self._api.get("/version").get("gitVersion", ""))
            self._refuse_use()
            self._clear()
            self._objects.make_namespace()
        except ApiRefusedError as error:
            self._api.close()
            raise SchedulerUnusableError(
                f"{self._options.kubeconfig}: {error}",
                "give --scheduler-kubeconfig a control plane that runs, as a user who may create nodes and pods",
            ) from error
        except SchedulerUnusableError:
            self._api.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._objects.clear()
            self._clear()
        except ApiRefusedError as left:
            log.warning("the control plane could not be cleared: %s", left)
        self._api.close()

    def prepare(self, question: Question) -> Question:
        """The question inside the scratch namespace, as admission and controllers leave it."""
        return rewritten(question, self._namespace)

    def ask(self, question: Question) -> Answer:
        """Put one question, inside the namespace, and clear up; what fails is no answer.

        Kubelets end pods by name: a pod of the last question that ends late may take this one's with it, which is then
        asked again.
        """
        moved = self.prepare(question)
        try:
            return self._once(moved)
        except ApiRefusedError as error:
            if error.status != httpx.codes.NOT_FOUND:
                return Answer(Said.NO_ANSWER, str(error))
        try:
            return self._once(moved)
        except ApiRefusedError as error:
            return Answer(Said.NO_ANSWER, str(error))

    def _once(self, moved: Question) -> Answer:
        try:
            self._objects.put(moved, self._wait_for_node)
            return self._wait_for(moved)
        finally:
            self._objects.take_back()

    def _refuse_use(self) -> None:
        """Refuse a cluster that is somebody's, before anything in it is touched."""
        for plural in ("nodes", "pods"):
            listed = self._api.get(f"/api/v1/{plural}?limit={_LOOKED_AT}").get("items") or ()
            names = [str(raw["metadata"]["name"]) for raw in listed if not _is_marked(raw)]
            if names:
                raise SchedulerUnusableError(
                    f"{self._options.kubeconfig}: the cluster has {plural} of its own ({', '.join(names[:3])})",
                    "give --scheduler-kubeconfig a disposable control plane without nodes, never a cluster in use",
                )

    def _clear(self) -> None:
        """Remove what a run that was killed left behind."""
        for plural, version in _LEFT_BEHIND:
            root = f"/apis/{version}" if "/" in version else f"/api/{version}"
            for raw in self._api.get(f"{root}/{plural}").get("items") or ():
                if _is_marked(raw):
                    self._api.delete(plural, {**raw, "apiVersion": version})

    def _wait_for_node(self, canary: RawObject, node_name: str) -> None:
        """Wait until the scheduler has seen the node: it says so of a pod that only this node can take."""
        deadline = time.monotonic() + self._options.seconds
        path = f"/api/v1/namespaces/{self._namespace}/pods/{canary['metadata']['name']}"
        while not _noticed(verdict_of(self._api.get(path), node_name)):
            if time.monotonic() > deadline or self._stop():
                raise ApiRefusedError(f"the scheduler did not notice node {node_name} in time")
            self._pause(self._options.poll_seconds)

    def _wait_for(self, question: Question) -> Answer:
        settle = self._options.settle_seconds if question.has_claims else 0.0
        deadline = time.monotonic() + max(self._options.seconds, 2 * settle)
        path = f"/api/v1/namespaces/{self._namespace}/pods/{question.pod_name}"
        refused_at: float | None = None
        while True:
            pod = self._api.get(path)
            answer = verdict_of(pod, question.node_name) or self._selected(question)
            now = time.monotonic()
            if answer is not None and answer.said is Said.PASS:
                return answer
            refused_at = None if answer is None else refused_at or now
            if answer is not None and refused_at is not None and now - refused_at >= settle:
                return self._checked(question, answer)
            if now > deadline or self._stop():
                return unanswered(pod)
            self._pause(self._options.poll_seconds)

    def _selected(self, question: Question) -> Answer | None:
        """A claim that waits for its first consumer is told the node once Filter has passed; nobody may serve it."""
        for claim in question.beside.get("persistentvolumeclaims", ()):
            path = f"/api/v1/namespaces/{self._namespace}/persistentvolumeclaims/{claim['metadata']['name']}"
            annotations = self._api.get(path)["metadata"].get("annotations") or {}
            before = claim["metadata"].get("annotations") or {}
            if annotations.get(_SELECTED_NODE) == question.node_name and _SELECTED_NODE not in before:
                return Answer(Said.PASS, "a volume was asked for on this node")
        return None

    def _checked(self, question: Question, answer: Answer) -> Answer:
        """A refusal counts only if the node is still as it was asked about."""
        node = self._api.get(f"/api/v1/nodes/{question.node_name}")
        if _taints(node) != _taints(question.node):
            return Answer(Said.NO_ANSWER, f"the control plane changed the taints of node {question.node_name}")
        return answer


def _is_marked(raw: RawObject) -> bool:
    return MARK in (raw["metadata"].get("annotations") or {})


def _noticed(answer: Answer | None) -> bool:
    """Whether the scheduler has the node: it took the canary, or refused it for something else than being elsewhere."""
    if answer is None or answer.said is Said.PASS:
        return answer is not None
    return not any(words in answer.reason for words in _ELSEWHERE)


def _taints(node: Mapping[str, Any]) -> set[tuple[str, str, str]]:
    taints = node["spec"].get("taints") or ()
    return {(taint["key"], taint.get("value", ""), taint["effect"]) for taint in taints}
