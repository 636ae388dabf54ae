"""Right-class advice: a proven peak, a cheaper class that holds it, the difference at list price, what blocks it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ksolver_cli.catalog.facts import PricingOptions
from ksolver_cli.catalog.gpus import gpu_named, gpu_product
from ksolver_cli.catalog.tables import Catalog, Gpu
from ksolver_cli.domain.gpu_workload.containers import asks_for_gpu, containers_of, gpu_count, gpu_resources
from ksolver_cli.domain.gpu_workload.fingerprint import fingerprint
from ksolver_cli.domain.gpu_workload.raw import RawObject, at, labels_of, text
from ksolver_cli.vram.facts import from_numbers, preallocates, workload_hints
from ksolver_cli.vram.join.pods import top_owner
from ksolver_cli.vram.join.sharing import shares_by_node, shares_by_spec
from ksolver_cli.vram.join.source import ObjectSource
from ksolver_cli.vram.observation import Observation
from ksolver_cli.vram.right_class.blockers import Blockers
from ksolver_cli.vram.right_class.demand import Demand, demand_of
from ksolver_cli.vram.right_class.offers import ClassOffer, architecture, class_offers, whereabouts

ENOUGH_OBSERVATIONS = 3
HEADROOM = 1.05
"""The proven peak and a twentieth more must fit, for the next run may use a little more than the last."""

_MIG = "nvidia.com/mig-"


@dataclass(frozen=True)
class WrongClass:
    """A workload on GPUs of a class that is more than its proven peak needs.

    `micros_per_hour_less` is the difference at list price for all its GPUs together: no saving until the pods have
    moved and the nodes are gone. Speed is not compared. Rules in `blocked_by` have to change first.
    """

    namespace: str
    workload: str
    pods: int
    gpus: int
    gpu: str
    memory_mib: int
    peak_mib: int
    samples: int
    offer: ClassOffer
    micros_per_hour_less: int
    blocked_by: tuple[str, ...]


@dataclass(frozen=True)
class _Placed:
    """A GPU pod where it runs: the class of its cards and the offers there."""

    pod: RawObject
    gpu: Gpu
    peak_mib: int
    samples: int
    now: ClassOffer
    better: ClassOffer
    blocked_by: tuple[str, ...]

    @property
    def gpus(self) -> int:
        return gpu_count(self.pod)


def wrong_classes(
    rows: Iterable[Observation],
    objects: Mapping[str, Sequence[RawObject]],
    catalog: Catalog,
    options: PricingOptions | None = None,
) -> list[WrongClass]:
    """Return workloads whose proven peak fits a cheaper GPU class of the catalog, the largest difference first.

    Proven: the highest of at least three observations of the fingerprint on devices it had alone. Pods on shared or MIG
    devices, and engines that take a fraction of whatever card they get, are left out: their use is not their need.
    """
    source = ObjectSource(objects)
    asked = _Advisor(_peaks(rows), source, catalog, options or PricingOptions(), objects.get("nodes", ()))
    groups: dict[tuple[str, str, str, str], list[_Placed]] = defaultdict(list)
    for pod in objects.get("pods", ()):
        placed = asked.placed(pod)
        if placed is not None:
            namespace = text(at(pod, "metadata", "namespace")) or "default"
            groups[namespace, top_owner(pod, source), placed.gpu.name, placed.better.gpu].append(placed)
    found = [_advice(namespace, workload, held) for (namespace, workload, _, _), held in groups.items()]
    return sorted(found, key=lambda advice: (-advice.micros_per_hour_less, advice.namespace, advice.workload))


def _peaks(rows: Iterable[Observation]) -> dict[str, tuple[int, int]]:
    """Highest peak and number of observations by fingerprint, of those that prove a need."""
    by_key: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        if not row.shared and row.mig_profile is None and not preallocates(from_numbers(row.hints)):
            by_key[row.key].append(row.peak_mib)
    return {key: (max(peaks), len(peaks)) for key, peaks in by_key.items() if len(peaks) >= ENOUGH_OBSERVATIONS}


def _advice(namespace: str, workload: str, held: Sequence[_Placed]) -> WrongClass:
    first = held[0]
    gpus = sum(placed.gpus for placed in held)
    less = sum((p.now.micros_per_gpu_hour - p.better.micros_per_gpu_hour) * p.gpus for p in held)
    return WrongClass(
        namespace=namespace,
        workload=workload,
        pods=len(held),
        gpus=gpus,
        gpu=first.gpu.name,
        memory_mib=first.gpu.memory_low_mib,
        peak_mib=max(placed.peak_mib for placed in held),
        samples=max(placed.samples for placed in held),
        offer=first.better,
        micros_per_hour_less=less,
        blocked_by=tuple(dict.fromkeys(rule for placed in held for rule in placed.blocked_by)),
    )


@dataclass(frozen=True)
class _Advisor:
    peaks: Mapping[str, tuple[int, int]]
    source: ObjectSource
    catalog: Catalog
    options: PricingOptions
    nodes: Sequence[RawObject] = ()
    judges: dict[str | None, Blockers] = field(default_factory=dict)

    def placed(self, pod: RawObject) -> _Placed | None:
        key = fingerprint(pod)
        proven = self.peaks.get(key.key) if key is not None else None
        node = self.source.node(text(at(pod, "spec", "nodeName")) or "")
        if proven is None or node is None or at(pod, "status", "phase") != "Running" or not _has_cards_alone(pod, node):
            return None
        gpu = gpu_named(gpu_product(labels_of(node)) or "", self.catalog)
        where = whereabouts(node, self.options)
        demand = demand_of(pod)
        if gpu is None or demand is None:
            return None
        # Where it runs it has room already: the cheapest price of its class, so that the difference is the least.
        now = class_offers(self.catalog, where, architecture(node), Demand(demand.gpus)).get(gpu.name)
        if now is None:
            return None
        offers = class_offers(self.catalog, where, architecture(node), demand)
        fitting = list(self._fitting(offers.values(), gpu, now, proven[0] * HEADROOM))
        if not fitting:
            return None
        better = min(fitting)
        return _Placed(pod, gpu, *proven, now, better, self._blockers(where.provider).of(pod, better.gpu))

    def _blockers(self, provider: str | None) -> Blockers:
        if provider not in self.judges:
            self.judges[provider] = Blockers(self.catalog, provider, self.nodes)
        return self.judges[provider]

    def _fitting(
        self, offers: Iterable[ClassOffer], gpu: Gpu, now: ClassOffer, needed_mib: float
    ) -> Iterator[ClassOffer]:
        for offer in offers:
            same_vendor = self.catalog.gpus[offer.gpu].vendor == gpu.vendor
            cheaper = offer.micros_per_gpu_hour < now.micros_per_gpu_hour
            if same_vendor and cheaper and offer.memory_mib >= needed_mib:
                yield offer


def _has_cards_alone(pod: RawObject, node: RawObject) -> bool:
    resources = [name for container in containers_of(pod) for name in gpu_resources(container)]
    whole = asks_for_gpu(pod) and not any(name.startswith(_MIG) for name in resources) and gpu_count(pod) > 0
    return whole and not shares_by_spec(pod) and not shares_by_node(node) and not preallocates(workload_hints(pod))
