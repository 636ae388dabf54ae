"""Accepted plans, bent: the referee must notice; and what it accepts must hold by plain counting."""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.node import Taint
from ksolver_cli.domain.plan import DrainPlan, Eviction, Limits, Move, Wave
from ksolver_cli.domain.pod import Effect, Pod, Toleration
from ksolver_cli.normalise.classes import classify
from ksolver_cli.plan.search import SearchOptions, SearchResult, search
from ksolver_cli.verify.referee import judge
from tests.unit.verify import world as w

QUICK = SearchOptions(exact=2, jittered=1, curve=False)
GPU = Taint("gpu", "", Effect.NO_SCHEDULE)


def random_cluster(random: Random) -> Cluster:
    """Three to seven nodes in two or three zones, up to fourteen pods with rules, placed as it comes."""
    nodes = [
        w.node(
            f"n{i}",
            random.choice("abc"),
            cpu=random.choice([2000, 4000]),
            taints=(GPU,) if random.random() < 0.2 else (),
        )
        for i in range(random.randint(3, 7))
    ]
    pods: list[Pod] = []
    for number in range(random.randint(1, 5)):
        app = f"w{number}"
        rules: dict[str, object] = {}
        if random.random() < 0.3:
            rules["anti_affinity"] = w.apart(app)
        if random.random() < 0.3:
            rules["spread"] = w.spread(app, random.choice([w.ZONE, w.HOSTNAME]), random.choice([1, 2]))
        if random.random() < 0.3:
            rules["tolerations"] = (Toleration("gpu", "Exists"),)
        what = w.spec(random.choice([200, 700, 1200]), **rules)
        size = random.randint(1, 3)
        pods += [w.pod(f"{app}-{replica}", random.choice(nodes).name, what, app) for replica in range(size)]
    return w.cluster(nodes, pods)


def planned(seed: int) -> tuple[Cluster, SearchResult]:
    of = random_cluster(Random(seed))
    return of, search(of, classify(of), w.prices(of), Limits(effort=0.05), QUICK)


Bend = Callable[[DrainPlan, Random], DrainPlan]


def _drop_move(plan: DrainPlan, random: Random) -> DrainPlan:
    gone = random.randrange(len(plan.moves))
    return replace(plan, moves=tuple(m for i, m in enumerate(plan.moves) if i != gone))


def _onto_removed(plan: DrainPlan, random: Random) -> DrainPlan:
    """A pod ends on a node that goes; on the way to its end it may well stop at one that goes by itself later."""
    last = {move.pod: i for i, move in enumerate(plan.moves)}
    chosen = random.choice(list(last.values()))
    target = random.choice(plan.nodes)
    return replace(plan, moves=tuple(replace(m, target=target) if i == chosen else m for i, m in enumerate(plan.moves)))


def _drop_eviction(plan: DrainPlan, random: Random) -> DrainPlan:
    full = [i for i, wave in enumerate(plan.waves) if wave.evictions]
    chosen = random.choice(full)
    wave = plan.waves[chosen]
    shorter = replace(wave, evictions=wave.evictions[1:])
    return replace(plan, waves=tuple(shorter if i == chosen else v for i, v in enumerate(plan.waves)))


def _twice(plan: DrainPlan, random: Random) -> DrainPlan:
    wave = plan.waves[0]
    return replace(plan, waves=(replace(wave, evictions=(*wave.evictions, *plan.waves[0].evictions)), *plan.waves[1:]))


def _claim_more(plan: DrainPlan, random: Random) -> DrainPlan:
    return replace(plan, cost_after_micros=plan.cost_after_micros - random.randint(1, 5))


def _strange_pod(plan: DrainPlan, random: Random) -> DrainPlan:
    return replace(plan, waves=(Wave((), (Eviction("default/nobody", plan.nodes[0]),)), *plan.waves))


def _strange_node(plan: DrainPlan, random: Random) -> DrainPlan:
    return replace(plan, waves=(*plan.waves, Wave(("nowhere",), ())))


def _wrong_source(plan: DrainPlan, random: Random) -> DrainPlan:
    chosen = random.randrange(len(plan.moves))
    bent = [replace(m, source=m.target) if i == chosen else m for i, m in enumerate(plan.moves)]
    return replace(plan, moves=tuple(bent))


BENDS: tuple[Bend, ...] = (
    _drop_move,
    _onto_removed,
    _drop_eviction,
    _twice,
    _claim_more,
    _strange_pod,
    _strange_node,
    _wrong_source,
)


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**9))
def test_bent_plans_are_rejected(seed: int) -> None:
    of, result = planned(seed)
    assert result.judgement.accepted
    plan = result.plan
    for bend in BENDS if plan.moves and plan.waves[0].evictions else ():
        assert not judge(of, bend(plan, Random(seed)), w.prices(of)).accepted, bend


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**9))
def test_what_is_accepted_holds_by_counting(seed: int) -> None:
    """Moves are sent to random nodes: whatever the referee still accepts must hold at the end by plain sums."""
    of, result = planned(seed)
    random = Random(seed)
    kept = [n.name for n in of.nodes if n.name not in result.plan.nodes]
    for _ in range(4):
        moves = tuple(replace(m, target=random.choice(kept)) for m in result.plan.moves)
        plan = replace(result.plan, moves=moves)
        if judge(of, plan, w.prices(of)).accepted:
            assert_holds(of, plan.nodes, moves)


def assert_holds(of: Cluster, removed: tuple[str, ...], moves: tuple[Move, ...]) -> None:
    where = {p.key: p.node_name for p in of.pods} | {m.pod: m.target for m in moves}
    moved = {m.pod for m in moves}
    load: Counter[str] = Counter()
    apps: dict[str, list[Pod]] = defaultdict(list)
    for pod in of.pods:
        assert where[pod.key] not in removed
        load[where[pod.key]] += pod.spec.requests["cpu"]
        apps[where[pod.key]].append(pod)
    for node in of.nodes:
        here = apps[node.name]
        newcomers = [p for p in here if p.key in moved]
        if newcomers:
            assert load[node.name] <= node.allocatable["cpu"]
        for pod in newcomers:
            assert not node.taints or pod.spec.tolerations
            twins = [p for p in here if p is not pod and p.labels == pod.labels]
            assert not (pod.spec.anti_affinity and twins)
