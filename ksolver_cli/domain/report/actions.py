"""Actions: what to do, what it saves, in which order, and how to undo it."""

from dataclasses import dataclass
from enum import StrEnum

from ksolver_cli.domain.plan import Interval


class ActionKind(StrEnum):
    """Kinds of action."""

    DRAIN_NODES = "drain-nodes"
    RESIZE_POOL = "resize-pool"
    REMOVE_IDLE_NODES = "remove-idle-nodes"
    FIX_BUDGET = "fix-budget"
    PRICE_NODES = "price-nodes"


class Level(StrEnum):
    """Effort or risk."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Command:
    """One command as its arguments (quoted when printed), and why it is run. `wait` says what to wait for after it."""

    argv: tuple[str, ...]
    purpose: str
    wait: str | None = None


@dataclass(frozen=True, slots=True)
class Action:
    """One action. `id` is stable within a report; `after` lists ids that must be done before it.

    `saving` is in micro-units an hour, or None where the action saves nothing by itself (it enables or protects
    others).
    """

    id: str
    kind: ActionKind
    subject: str
    nodes: tuple[str, ...]
    pods_moved: int
    saving: Interval | None
    effort: Level
    risk: Level
    reasons: tuple[str, ...]
    prechecks: tuple[Command, ...] = ()
    commands: tuple[Command, ...] = ()
    undo: tuple[Command, ...] = ()
    after: tuple[str, ...] = ()
