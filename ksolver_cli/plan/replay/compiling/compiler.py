"""Compile pod classes into movers, and the cluster into a board that replays run on."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ksolver_cli.constraints.matching.namespaces import Reach
from ksolver_cli.constraints.matching.selectors import pod_matcher, term_matcher
from ksolver_cli.constraints.matching.taints import UNSCHEDULABLE_TAINT, is_tolerated
from ksolver_cli.domain.classes import Classes
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.pod import Effect, Pod, PodSpec, Resources, SpreadConstraint
from ksolver_cli.plan.replay.compiling.affinity import Affinities
from ksolver_cli.plan.replay.compiling.roster import Roster
from ksolver_cli.plan.replay.compiling.topology import HOSTNAME, SYSTEM_DEFAULTS, Defaults, Eligibility, merged_selector
from ksolver_cli.plan.replay.exotic import is_exotic
from ksolver_cli.plan.replay.lanes import NODE, BoolArray, Lanes
from ksolver_cli.plan.replay.mover import HardSpread, Ints, Mover, Numbers, SoftSpread, SoftTopology
from ksolver_cli.plan.replay.tallies import Book, Members

SCORE_CPU = 100
"""Millicores that scoring takes for a container without a CPU request (`DefaultMilliCPURequest`)."""
SCORE_MEMORY = 200 * 1024 * 1024
"""Bytes that scoring takes for a container without a memory request (`DefaultMemoryRequest`)."""

LOAD_ROWS = 4
"""CPU and memory requested, then the same with the scoring defaults: the last rows of the occupancy's cells."""


@dataclass(frozen=True, eq=False)
class Shape:
    """Names of the resource rows. CPU is row 0, memory row 1, pod slots row 2."""

    resources: tuple[str, ...]

    def vector(self, requests: Resources, score_cpu: float, score_memory: float) -> Numbers:
        """What a pod adds to the cells of its node."""
        free = [-float(requests.get(r, 0)) for r in self.resources]
        free[2] = -1.0
        load = [float(requests.get("cpu", 0)), float(requests.get("memory", 0)), score_cpu, score_memory]
        return np.array(free + load, dtype=np.float64)


def shape_of(cluster: Cluster) -> Shape:
    """Rows for every resource that any pod asks for."""
    asked = {r for spec in {id(p.spec): p.spec for p in cluster.pods}.values() for r in spec.requests}
    asked |= {r for p in cluster.pods if p.requests_bound is not None for r in p.requests_bound}
    return Shape(("cpu", "memory", "pods", *sorted(asked - {"cpu", "memory", "pods"})))


def score_requests(spec: PodSpec, requests: Resources) -> tuple[float, float]:
    """CPU and memory as scoring counts them, with the defaults for containers that ask for none."""
    cpu, memory = requests.get("cpu", 0), requests.get("memory", 0)
    containers = spec.container_requests or (("", requests),)
    bare_cpu = sum("cpu" not in own for _, own in containers)
    bare_memory = sum("memory" not in own for _, own in containers)
    if spec.has_pod_level_resources:
        bare_cpu, bare_memory = bare_cpu * (not cpu), bare_memory * (not memory)
    return float(cpu + SCORE_CPU * bare_cpu), float(memory + SCORE_MEMORY * bare_memory)


class Compiler:
    """Makes movers on demand; every tally they need is entered in one book."""

    def __init__(self, cluster: Cluster, classes: Classes, feasible: BoolArray) -> None:
        """`feasible` is [pod class, node class]: the families that do not depend on what else runs."""
        self._cluster = cluster
        self._classes = classes
        self._feasible = feasible
        self._node_class = np.array([classes.node_class_of[n.name] for n in cluster.nodes], dtype=np.intp)
        self._roster = Roster(classes.pods, Reach(cluster))
        self._affinities = Affinities(classes.pods, self._roster)
        self._eligibility = Eligibility(cluster)
        self._defaults = Defaults(cluster)
        self._controllers: dict[object, list[int]] = {}
        for pod_class in classes.pods:
            self._controllers.setdefault(_controller(pod_class.sample), []).append(pod_class.index)
        self._soft_tainted = [
            (i, taint)
            for i, n in enumerate(cluster.nodes)
            for taint in n.taints
            if taint.effect is Effect.PREFER_NO_SCHEDULE
        ]
        self.shape = shape_of(cluster)
        self.book = Book(Lanes(cluster.nodes), len(cluster.nodes))

    def mover(self, index: int) -> Mover:
        """The mover of a pod class."""
        pod = self._classes.pods[index].sample
        spec = pod.spec
        asked = [(r, float(spec.requests.get(name, 0))) for r, name in enumerate(self.shape.resources) if r != 2]
        needs = [(2, 1.0)] + [(r, amount) for r, amount in asked if amount > 0]
        score_cpu, score_memory = score_requests(spec, spec.requests)
        members, keys, alone = self._affinities.required(index)
        return Mover(
            index=index,
            rows=tuple(r for r, _ in needs),
            amounts=tuple(a for _, a in needs),
            delta=self.shape.vector(spec.requests, score_cpu, score_memory),
            cpu=float(spec.requests.get("cpu", 0)),
            memory=float(spec.requests.get("memory", 0)),
            score_cpu=score_cpu,
            score_memory=score_memory,
            allowed=self._feasible[index][self._node_class],
            tolerates_cordon=is_tolerated(UNSCHEDULABLE_TAINT, spec.tolerations),
            spread=self._hard(pod),
            refused=tuple(self.book.pods(m, key) for key, m in self._affinities.refused(index)),
            required=tuple(self.book.pods(members, key) for key in keys),
            starts_alone=alone,
            soft=self._soft(pod),
            liked=tuple(self.book.pods(m, key) for key, m in self._affinities.liked(index)),
            taints=self._soft_taints(spec),
            node_terms=self._node_terms(spec),
            images=spec.images,
            needs_check=is_exotic(spec),
        )

    def _hard(self, pod: Pod) -> tuple[HardSpread, ...]:
        hard = [c for c in pod.spec.spread if c.hard]
        keys = frozenset(c.topology_key for c in hard)
        return tuple(self._hard_one(pod, c, keys) for c in hard)

    def _hard_one(self, pod: Pod, constraint: SpreadConstraint, keys: frozenset[str]) -> HardSpread:
        eligible = self._eligibility.counted(pod.spec, constraint, keys)
        mask = self.book.mask(eligible)
        selector = merged_selector(constraint, pod)
        matcher = pod_matcher(selector)
        # An empty selector counts no pod, and yet matches the pod itself.
        counted = () if matcher.is_empty else self._roster.in_namespace(selector, pod.namespace)
        leaves = constraint.honor_node_taints and not is_tolerated(UNSCHEDULABLE_TAINT, pod.spec.tolerations)
        return HardSpread(
            pods=self.book.pods(_plain(counted), constraint.topology_key, mask),
            present=self.book.nodes(constraint.topology_key, mask),
            max_skew=constraint.max_skew,
            min_domains=constraint.min_domains or 1,
            self_match=int(matcher.matches(pod.labels)),
            by_node=self.book.pods(_plain(counted), NODE) if leaves else None,
            eligible=eligible if leaves else None,
        )

    def _soft(self, pod: Pod) -> SoftSpread | None:
        if not pod.spec.spread:
            return self._default_spread(pod)
        soft = [c for c in pod.spec.spread if not c.hard]
        if not soft:
            return None
        keys = frozenset(c.topology_key for c in soft)
        keyed = self._eligibility.keyed(keys)
        topologies = []
        for constraint in soft:
            selector = merged_selector(constraint, pod)
            counted = () if pod_matcher(selector).is_empty else self._roster.in_namespace(selector, pod.namespace)
            mask = self._eligibility.counted(pod.spec, constraint, keys)
            topologies.append(self._topology(constraint.topology_key, constraint.max_skew, counted, mask))
        return SoftSpread(tuple(topologies), None if keyed.all() else ~keyed)

    def _default_spread(self, pod: Pod) -> SoftSpread | None:
        selector = self._defaults.selector(pod)
        if selector is not None:
            counted = self._roster.in_namespace(selector, pod.namespace)
        elif self._defaults.is_hidden(pod):
            counted = tuple(self._controllers[_controller(pod)])
        else:
            return None
        mask = self._eligibility.wanted(pod.spec)
        return SoftSpread(tuple(self._topology(key, skew, counted, mask) for key, skew in SYSTEM_DEFAULTS), None)

    def _topology(self, key: str, max_skew: int, counted: tuple[int, ...], mask: BoolArray) -> SoftTopology:
        per_node = key == HOSTNAME
        where = -1 if per_node else self.book.mask(mask)
        return SoftTopology(self.book.pods(_plain(counted), key, where), max_skew, per_node)

    def _soft_taints(self, spec: PodSpec) -> Ints | None:
        counts = np.zeros(len(self._cluster.nodes), dtype=np.int64)
        for node, taint in self._soft_tainted:
            counts[node] += not is_tolerated(taint, spec.tolerations)
        return counts if counts.any() else None

    def _node_terms(self, spec: PodSpec) -> Ints | None:
        terms = [(term_matcher(t.term), t.weight) for t in spec.preferred_node_affinity]
        if not terms:
            return None
        nodes = self._cluster.nodes
        weights = [sum(w for matches, w in terms if matches(n.labels, n.name)) for n in nodes]
        return np.array(weights, dtype=np.int64) if any(weights) else None


def _controller(pod: Pod) -> object:
    return pod.controller if pod.controller is not None else pod.key


def _plain(counted: tuple[int, ...]) -> Members:
    return Members(tuple((i, 1) for i in counted), terminating=False)


def allocatable(cluster: Cluster, shape: Shape) -> Numbers:
    """[row, node] what nodes offer, in the rows of the shape."""
    rows: list[Mapping[str, int]] = [n.allocatable for n in cluster.nodes]
    return np.array([[float(a.get(r, 0)) for a in rows] for r in shape.resources], dtype=np.float64)
