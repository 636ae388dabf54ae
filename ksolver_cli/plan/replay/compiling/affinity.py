"""Inter-pod terms turned around: for each pod class, the placed classes whose terms speak of it."""

from collections import defaultdict
from collections.abc import Sequence

from ksolver_cli.constraints.matching.holders import has_fault
from ksolver_cli.domain.classes import PodClass
from ksolver_cli.domain.pod import HostPort, PodAffinityTerm, PodSpec
from ksolver_cli.plan.replay.compiling.roster import Roster
from ksolver_cli.plan.replay.lanes import NODE
from ksolver_cli.plan.replay.tallies import Members

HARD_AFFINITY_WEIGHT = 1
"""What a required affinity term of a placed pod adds to the score of pods it speaks of (`hardPodAffinityWeight`)."""

Weights = dict[str, dict[int, int]]
"""Topology key → pod class → weight."""


class Affinities:
    """Terms of all classes, sorted by whom they speak of."""

    def __init__(self, classes: Sequence[PodClass], roster: Roster) -> None:
        self._classes = classes
        self._roster = roster
        self._closed_by: dict[int, Weights] = defaultdict(lambda: defaultdict(dict))
        self._liked_by: dict[int, Weights] = defaultdict(lambda: defaultdict(dict))
        self._ports: list[tuple[int, tuple[HostPort, ...]]] = []
        for holder in classes:
            spec = holder.sample.spec
            if spec.host_ports:
                self._ports.append((holder.index, spec.host_ports))
            if not any(map(has_fault, all_terms(spec))):
                self._turn(holder)

    def _turn(self, holder: PodClass) -> None:
        for term in holder.sample.spec.anti_affinity:
            for target in self._roster.reached(term):
                self._closed_by[target][term.topology_key][holder.index] = 1
        for term, weight in _scored(holder.sample.spec):
            for target in self._roster.reached(term):
                row = self._liked_by[target][term.topology_key]
                row[holder.index] = row.get(holder.index, 0) + weight

    def refused(self, index: int) -> list[tuple[str, Members]]:
        """Per key: classes none of which may be in the domain, by own terms, others' terms, or host ports."""
        rows: Weights = defaultdict(dict)
        for key, holders in self._closed_by[index].items() if index in self._closed_by else ():
            rows[key].update(holders)
        spec = self._classes[index].sample.spec
        for term in spec.anti_affinity:
            rows[term.topology_key].update(dict.fromkeys(self._roster.counted(term), 1))
        if spec.host_ports:
            rows[NODE].update(dict.fromkeys(self._port_rivals(spec.host_ports), 1))
        return _members(rows)

    def _port_rivals(self, ports: tuple[HostPort, ...]) -> list[int]:
        return [i for i, taken in self._ports if any(_collide(a, b) for a in ports for b in taken)]

    def required(self, index: int) -> tuple[Members, tuple[str, ...], bool]:
        """Classes that match every required term, the keys of the terms, and whether the class is one of them."""
        terms = self._classes[index].sample.spec.affinity
        if not terms:
            return Members((), terminating=True), (), False
        found = set(self._roster.counted(terms[0]))
        for term in terms[1:]:
            found &= set(self._roster.counted(term))
        keys = tuple(dict.fromkeys(t.topology_key for t in terms))
        return Members(tuple((i, 1) for i in sorted(found)), terminating=True), keys, index in found

    def liked(self, index: int) -> list[tuple[str, Members]]:
        """Per key: classes with the weight that one pod of them adds to a domain's score."""
        rows: Weights = defaultdict(dict)
        for key, holders in self._liked_by[index].items() if index in self._liked_by else ():
            rows[key].update(holders)
        spec = self._classes[index].sample.spec
        own = [(t.term, t.weight) for t in spec.preferred_affinity]
        own += [(t.term, -t.weight) for t in spec.preferred_anti_affinity]
        for term, weight in own:
            for target in self._roster.counted(term):
                rows[term.topology_key][target] = rows[term.topology_key].get(target, 0) + weight
        return _members(rows)


def _scored(spec: PodSpec) -> list[tuple[PodAffinityTerm, int]]:
    """Terms of a placed pod that score others, with their weights."""
    terms = [(t, HARD_AFFINITY_WEIGHT) for t in spec.affinity]
    terms += [(t.term, t.weight) for t in spec.preferred_affinity]
    return terms + [(t.term, -t.weight) for t in spec.preferred_anti_affinity]


def all_terms(spec: PodSpec) -> list[PodAffinityTerm]:
    """Every inter-pod term of a spec, required and preferred."""
    preferred = [t.term for t in spec.preferred_affinity + spec.preferred_anti_affinity]
    return [*spec.affinity, *spec.anti_affinity, *preferred]


def _members(rows: Weights) -> list[tuple[str, Members]]:
    return [
        (key, Members(tuple(sorted((i, w) for i, w in weights.items() if w)), terminating=True))
        for key, weights in sorted(rows.items())
        if any(weights.values())
    ]


def _collide(a: HostPort, b: HostPort) -> bool:
    if a.port != b.port or a.protocol != b.protocol:
        return False
    wild = ("0.0.0.0", "")  # noqa: S104 - the API's own word for every address; nothing is bound
    return a.host_ip == b.host_ip or a.host_ip in wild or b.host_ip in wild
