"""What is put to a scheduler, and what comes back: one pod, one node, and the objects that they refer to."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from ksolver_cli.snapshot.model import RawObject

Beside = Mapping[str, tuple[RawObject, ...]]
Stop = Callable[[], bool]

DEFAULT_SCHEDULER = "default-scheduler"


class Said(StrEnum):
    """The scheduler's verdict. No answer is a verdict of its own: it never means infeasible."""

    PASS = "pass"  # noqa: S105 - a verdict, no password
    FAIL = "fail"
    NO_ANSWER = "no_answer"


@dataclass(frozen=True, slots=True)
class Answer:
    """A verdict, and the scheduler's words for a refusal or ours for a missing answer."""

    said: Said
    reason: str = ""


@dataclass(frozen=True)
class Question:
    """A world of one node, empty, and one pod that is bound nowhere.

    `beside` holds what else exists in it, by plural lower-case kind; nothing in it carries a uid, a resourceVersion or
    a time of a server's.
    """

    node: RawObject
    pod: RawObject
    beside: Beside = field(default_factory=lambda: MappingProxyType({}))

    @property
    def node_name(self) -> str:
        """Name of the node."""
        return str(self.node["metadata"]["name"])

    @property
    def pod_name(self) -> str:
        """Name of the pod."""
        return str(self.pod["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """Namespace of the pod."""
        return str(self.pod["metadata"].get("namespace") or "default")

    @property
    def has_claims(self) -> bool:
        """Whether the pod asks for volumes or devices that controllers see to after it was made."""
        volumes = self.pod["spec"].get("volumes") or ()
        claims = any("persistentVolumeClaim" in volume for volume in volumes)
        return claims or bool(self.pod["spec"].get("resourceClaims"))

    def only(self, kinds: Iterable[str]) -> "Question":
        """The same world without objects of other kinds than these, nodes and pods."""
        kept = {kind: self.beside[kind] for kind in kinds if kind in self.beside}
        return self if len(kept) == len(self.beside) else replace(self, beside=kept)


class SchedulerUnusableError(Exception):
    """A scheduler that must not or cannot be used at all: what is wrong, what to do."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


def pod_scheduled(pod: RawObject) -> tuple[str, str, str]:
    """Status, reason and message of the PodScheduled condition; empty where there is none."""
    status = pod.get("status")
    conditions = status.get("conditions") if isinstance(status, Mapping) else None
    for condition in conditions or ():
        if isinstance(condition, Mapping) and condition.get("type") == "PodScheduled":
            words = (condition.get("status"), condition.get("reason"), condition.get("message"))
            return (str(words[0] or ""), str(words[1] or ""), str(words[2] or ""))
    return "", "", ""


_NOT_YET = ("no nodes available", "0/0 nodes")
"""How the scheduler's message begins when it looked at the pod before it knew of any node."""

_POSTSCRIPTS = (" no new claims to deallocate", " preemption:")
"""What PostFilter adds to the words of Filter."""


def verdict_of(pod: RawObject, node_name: str) -> Answer | None:
    """What the pod's own state says: bound to the node, unschedulable, or nothing yet (None)."""
    spec = pod.get("spec")
    if isinstance(spec, Mapping) and spec.get("nodeName") == node_name:
        return Answer(Said.PASS)
    status, reason, message = pod_scheduled(pod)
    if status == "False" and reason == "Unschedulable" and not message.startswith(_NOT_YET):
        for postscript in _POSTSCRIPTS:
            message = message.partition(postscript)[0]
        return Answer(Said.FAIL, message.strip())
    return None


def unanswered(pod: RawObject) -> Answer:
    """No answer, with what the pod's condition says instead of a verdict, if anything."""
    status, reason, message = pod_scheduled(pod)
    said = ": ".join(text for text in (reason, message) if text) if status == "False" else ""
    waited = "neither bound nor unschedulable within the time limit"
    return Answer(Said.NO_ANSWER, f"{waited} ({said})" if said else waited)
