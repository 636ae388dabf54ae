"""Make a set of nodes drainable: bend the order of evictions while that helps, then give nodes back."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from ksolver_cli.plan.prospects import Prospects
from ksolver_cli.plan.replay.run import SHUFFLE, Drain, Run, Trial
from ksolver_cli.plan.sequence import EvictionSequence
from ksolver_cli.plan.waves import in_steps

REPLAYS = 1500
"""Replays a search may make at effort 1."""
ROUNDS = 24
"""Bent orders tried for one set before a node is given back."""
OPENING = 10
"""Of these, rounds before other sets are looked at."""
HOPELESS, HOPELESS_SHARE = 24, 0.1
"""Pods, and share of the evictions, of which more pend in a replay of a set that no order of evictions will mend."""
TOGETHER = 24
"""Replays of a proof that run in step, before it is looked whether any failed."""
PROBES = 8
"""Replays that a new order is first held to; replays that failed a set later join them."""
SWAPS = 0.4
"""Share of rounds that exchange a node for another that is no cheaper instead of bending the order."""
SMALLEST_STEP = 6
"""Evictions a step where larger steps did not hold: about what the jittered trials mix."""
PENDED_A_NODE = 8
"""Where more pods than this pend a replay, a node for each so many is given back at once."""
LOOKED_AT = 40
"""Pods, those that pended most, by which nodes to give back are chosen."""
TRIED = 4
"""Nodes that are tried for giving back at a time."""
FURTHER_EVICTIONS = 30_000
FURTHER = 96
"""Evictions that replays of a set beyond the first trials may make at effort 1, and how many such replays there are at
most: two dozen clean ones still leave one run in twenty in which a pod pends.
"""


@dataclass(frozen=True, slots=True)
class Trials:
    """How sure a set must be: so many exact and so many jittered replays without a pod pending."""

    exact: int = 12
    jittered: int = 12
    jitter: float = 5.0
    waves: int = 8
    seed: int = 0

    def all(self) -> list[Trial]:
        """Every replay, exact and jittered in turn."""
        exact = [(self.seed * 1000 + i, 0.0) for i in range(self.exact)]
        jittered = [(self.seed * 1000 + 500 + i, self.jitter) for i in range(self.jittered)]
        longest = max(len(exact), len(jittered))
        return [trial for i in range(longest) for trial in (*exact[i : i + 1], *jittered[i : i + 1])]

    def of(self, evictions: int, effort: float) -> list[Trial]:
        """Those that a set with so many evictions is held to: more than all where each is cheap."""
        count = min(int(FURTHER_EVICTIONS * effort / max(evictions, 1)), FURTHER)
        return self.all() + [(self.seed * 1000 + 100 + i, self.jitter if i % 2 else 0.0) for i in range(count)]


@dataclass(frozen=True, eq=False)
class Settled:
    """Nodes and an order under which nothing pended in any trial; `reference` is the first exact replay."""

    sequence: EvictionSequence
    drain: Drain
    replays: int
    reference: Run | None = None

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes removed."""
        return self.sequence.nodes


@dataclass(frozen=True, eq=False)
class Tried:
    """An order and what pended under the probes: evicted pods by index, and by key those that were pending already and
    lost the room they have today. No order of evictions helps the latter: only fewer or other nodes do.
    """

    sequence: EvictionSequence
    pended: Counter[int]
    homeless: Counter[str]

    @property
    def total(self) -> int:
        """How often a pod pended."""
        return self.pended.total() + self.homeless.total()


@dataclass(frozen=True, eq=False)
class Opened:
    """A set after a first look, and the replays it is held to by then."""

    tried: Tried
    probes: tuple[Trial, ...]
    settled: Settled | None

    @property
    def pended(self) -> float:
        """How many pods pend in a replay."""
        return self.tried.total / len(self.probes)


class Settler:
    """Settles node sets on one board; `spent` counts replays, so that equal work gives equal answers."""

    def __init__(self, prospects: Prospects, trials: Trials, effort: float, interrupted: Callable[[], bool]) -> None:
        self._prospects = prospects
        self._trials = trials
        self._effort = effort
        self._budget = max(1, int(REPLAYS * effort))
        self._interrupted = interrupted
        self._random = Random(trials.seed)  # noqa: S311 - search moves, no secret
        self.spent = 0

    @property
    def is_exhausted(self) -> bool:
        """Whether the replays allowed are used up; a set under way is still brought to its end."""
        return self.spent >= self._budget

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds of the exact trials."""
        return tuple(seed for seed, jitter in self._trials.all() if not jitter)

    def nothing(self) -> Settled:
        """The plan that removes nothing and moves nothing."""
        sequence = EvictionSequence(self._prospects, ())
        return Settled(sequence, sequence.drain(1), 0)

    def open(self, nodes: Sequence[int], like: Settled | None = None) -> Opened:
        """A first look at a set: a few rounds, no node given back. `settled` is there if that was enough."""
        probes = self._trials.all()[:PROBES]
        best = self._first(nodes, like, probes)
        evictions = len(best.sequence.order)
        if best.total > max(HOPELESS, HOPELESS_SHARE * evictions) * len(probes):
            return Opened(best, tuple(probes), None)
        while True:
            best = self._climb(best, probes, OPENING)
            if best.total or self._interrupted():
                return Opened(best, tuple(probes), None)
            settled, best, failed = self._accept(best.sequence)
            if failed is None:
                return Opened(best, tuple(probes), settled)
            probes = [*probes, failed]

    def _first(self, nodes: Sequence[int], like: Settled | None, probes: list[Trial]) -> Tried:
        """The best of the orders worth a start; where one does without pending, no other is tried."""
        fresh = EvictionSequence(self._prospects, nodes)
        orders = (fresh, fresh.free_last()) if like is None else (like.sequence.with_nodes(nodes), fresh)
        best = self._try(orders[0], probes)
        return min(best, self._try(orders[1], probes), key=lambda t: t.total) if best.total else best

    def settle(self, opened: Opened, floor: int = 0) -> Settled | None:
        """The set, or what is left of it after giving nodes back, such that it holds under every trial.

        None once what is left saves no more than `floor` micro-dollars an hour, or when interrupted with something to
        fall back on; without, nodes are given back by the dozen, so that even an interrupt ends with a plan.
        """
        if opened.settled is not None:
            return opened.settled
        return self._bring_home(opened.tried, list(opened.probes), floor)

    def in_free_steps(self, settled: Settled) -> Settled:
        """The same with its waves cut into as few steps as hold while the order inside a step is free."""
        if not settled.nodes or not len(settled.drain.order):
            return settled
        size = len(settled.drain.order)
        shuffled = [(seed, SHUFFLE) for seed in range(self._trials.jittered)]
        while size > SMALLEST_STEP and not self._interrupted():
            size //= 2
            drain = in_steps(self._prospects, settled.drain, size)
            if all(run.is_clean for run in self._runs(drain, shuffled, 0)):
                return replace(settled, drain=drain, replays=settled.replays + self._trials.jittered)
        return replace(settled, drain=in_steps(self._prospects, settled.drain, SMALLEST_STEP))

    def extend(self, settled: Settled, node: int) -> Settled | None:
        """The settled set with one more node, if a few bent orders suffice for that."""
        probes = self._trials.all()[:PROBES]
        tried = self._try(settled.sequence.with_nodes((*settled.nodes, node)), probes)
        tried = self._climb(tried, probes, ROUNDS // 4)
        if tried.total:
            return None
        done, _, failed = self._accept(tried.sequence)
        return done if failed is None else None

    def _bring_home(self, best: Tried, probes: list[Trial], floor: int) -> Settled | None:
        while best.sequence.nodes:
            if self._prospects.saving(best.sequence.nodes) <= floor or (floor and self._interrupted()):
                return None
            best = self._climb(best, probes, ROUNDS)
            if best.total:
                best = self._give_back(best, probes)
                continue
            done, best, failed = self._accept(best.sequence)
            if failed is None:
                return done
            probes = [*probes, failed]
        return self.nothing()

    def _climb(self, best: Tried, probes: list[Trial], rounds: int) -> Tried:
        """Squeaky wheel: bend the order at the classes that pended, keep what is no worse."""
        for _ in range(rounds):
            if not best.total or self.is_exhausted or self._interrupted():
                break
            changed = self._swapped(best) if self._random.random() < SWAPS else None
            if changed is None and not best.pended:
                break
            changed = changed or best.sequence.bent(self._by_class(best.pended), self._random)
            tried = self._try(changed, probes, best.total)
            if tried.total <= best.total:
                best = tried
        return best

    def _swapped(self, best: Tried) -> EvictionSequence | None:
        """Keep a node that would take what pended, and drain another instead that is no cheaper."""
        kept = self._random.choice(self._likely(best)[: 2 * TRIED])
        price, taken = self._prospects.price, set(best.sequence.nodes)
        others = np.flatnonzero(self._prospects.removable & (price >= price[kept])).tolist()
        others = [n for n in others if n not in taken]
        if not others:
            return None
        weights = [1.0 / (1.0 + len(self._prospects.pods_on[n])) for n in others]
        instead = self._random.choices(others, weights)[0]
        return best.sequence.with_nodes([n for n in best.sequence.nodes if n != kept] + [instead])

    def _by_class(self, pended: Counter[int]) -> dict[int, int]:
        classes: Counter[int] = Counter()
        for pod, times in pended.items():
            classes[int(self._prospects.board.pod_class[pod])] += times
        return classes

    def _try(self, sequence: EvictionSequence, probes: list[Trial], cap: int | None = None) -> Tried:
        """What pends under the probes; given up once it is more than `cap`."""
        drain = sequence.drain(self._trials.waves)
        tried = Tried(sequence, Counter(), Counter())
        for run in self._runs(drain, probes, cap):
            tried.pended.update(run.pended)
            tried.homeless.update(run.homeless)
        return tried

    def _runs(self, drain: Drain, trials: Sequence[Trial], give_up_after: int | None = None) -> list[Run]:
        self.spent += len(trials)
        return self._prospects.replayer.runs(drain, trials, give_up_after)

    def _accept(self, sequence: EvictionSequence) -> tuple[Settled | None, Tried, Trial | None]:
        """All trials: the settled set, or what pended and in which replay."""
        drain = sequence.drain(self._trials.waves)
        reference: Run | None = None
        trials = self._trials.of(len(drain.order), self._effort)
        for first in range(0, len(trials), TOGETHER):
            some = trials[first : first + TOGETHER]
            for trial, run in zip(some, self._runs(drain, some), strict=True):
                if not run.is_clean:
                    return None, Tried(sequence, Counter(run.pended), Counter(run.homeless)), trial
                reference = reference or run
        # Replays that prove a set are no search: they use nothing up.
        self.spent -= len(trials)
        settled = Settled(sequence, drain, len(trials), reference)
        return settled, Tried(sequence, Counter(), Counter()), None

    def _give_back(self, best: Tried, probes: list[Trial]) -> Tried:
        """Give back the node that ends the pending most cheaply: the likeliest few are tried."""
        nodes = best.sequence.nodes
        many = best.total // (len(probes) * PENDED_A_NODE)
        if self._interrupted():
            many = max(many, 2, len(nodes) // 20)
        if many > 1:
            back = set(self._likely(best)[:many])
            return self._try(best.sequence.with_nodes([n for n in nodes if n not in back]), probes)
        found: list[tuple[float, int, Tried]] = []
        for node in self._likely(best)[: 1 if self.is_exhausted else TRIED]:
            tried = self._try(best.sequence.with_nodes([n for n in nodes if n != node]), probes, best.total)
            gained = best.total - tried.total
            found.append((-gained / float(self._prospects.price[node]), node, tried))
        return min(found, key=lambda f: f[:2])[2]

    def _likely(self, best: Tried) -> list[int]:
        """Nodes by how much of what pended they would take per dollar, their own pods staying where they are."""
        rates = {n: self._relief(n, best) / float(self._prospects.price[n]) for n in best.sequence.nodes}
        return sorted(rates, key=lambda n: (-rates[n], n))

    def _relief(self, node: int, best: Tried) -> float:
        board = self._prospects.board
        room = board.start.cells[0, : len(board.shape.resources), node].copy()
        worst = best.pended.most_common(LOOKED_AT)
        asks = [(int(board.pod_class[pod]), board.pod_node[pod] == node, n) for pod, n in worst]
        asks += [(board.classes.pod_class_of[key], False, times) for key, times in best.homeless.items()]
        taken = 0.0
        for pod_class, at_home, times in asks:
            mover = board.movers[pod_class]
            asked = -mover.delta[: len(room)]
            if at_home:
                taken += times
            elif mover.allowed[node] and bool(np.all(asked <= room)):
                room -= asked
                taken += times
        return taken
