"""The report as facts (`ksolver.report/1`)."""

from dataclasses import dataclass

from ksolver_cli.domain.cluster import Caveat, Gap
from ksolver_cli.domain.plan import Judgement, Limits
from ksolver_cli.domain.report.actions import Action
from ksolver_cli.domain.report.gpu_class import WrongGpuClass
from ksolver_cli.domain.report.money_facts import Prices
from ksolver_cli.domain.report.nodes import NodeRow, ReasonCount
from ksolver_cli.domain.report.plan_facts import CurvePoint, PlanFacts
from ksolver_cli.domain.report.robust import RobustFacts
from ksolver_cli.domain.report.waterfall import ThreeNumbers, Waterfall

SCHEMA = "ksolver.report/1"


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """What was looked at. Pods: bound ones count; of the pending ones, those that fit today are demand. None where the
    input does not hold the kind at all.
    """

    name: str
    kubernetes_version: str
    collected_at: str
    nodes: int | None
    nodes_unready: int | None
    nodes_cordoned: int | None
    nodes_virtual: int | None
    pods_bound: int | None
    pods_daemon: int | None
    pods_pending_fit: int | None
    pods_pending_stuck: int | None
    pod_classes: int
    node_classes: int


@dataclass(frozen=True, slots=True)
class StuckPod:
    """A pending pod that fits on no node today, with the scheduler's reasons and on how many nodes each holds."""

    pod: str
    reasons: tuple[ReasonCount, ...]


@dataclass(frozen=True, slots=True)
class OptionFact:
    """An option that is on, as given."""

    name: str
    value: str


@dataclass(frozen=True)
class Report:
    """Everything `ksolver analyze` says. Sections that could not be made are None, with the reason among the gaps."""

    ksolver_version: str
    cluster: ClusterFacts
    prices: Prices
    limits: Limits
    limited_by: str | None
    waterfall: Waterfall | None
    numbers: ThreeNumbers | None
    plan: PlanFacts | None
    judgement: Judgement | None
    actions: tuple[Action, ...]
    nodes: tuple[NodeRow, ...]
    stuck: tuple[StuckPod, ...]
    gaps: tuple[Gap, ...]
    caveats: tuple[Caveat, ...]
    options: tuple[OptionFact, ...] = ()
    gpu_classes: tuple[WrongGpuClass, ...] = ()
    curve: tuple[CurvePoint, ...] = ()
    robust: RobustFacts | None = None
    """Where several snapshots were given: the plan holds in all of them; all other sections speak of the newest."""
    schema: str = SCHEMA
