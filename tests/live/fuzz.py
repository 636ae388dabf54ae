"""Random worlds put to the real scheduler and to our families, until they disagree; what disagrees is made small."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

from ksolver_cli.constraints.grid.grid import FAIL, PASS, UNKNOWN, Grid
from ksolver_cli.constraints.registry import Judge, is_pre_filter
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.verdict import Rejection, Unknown, Verdict
from ksolver_cli.render.phrases import reasons
from tests.conformance.filter_truth import cluster_of, judge_new, pod_of
from tests.live.oracle import Json, Oracle

World = Callable[[Random], Json]
_NOT_INSTALLED = "CSI driver is not installed on the node"
Said = tuple[str, str, tuple[str, ...]]
"""Stage, code and reasons of one plugin's rejection."""

SEED = int(os.environ.get("KSOLVER_FUZZ_SEED") or SystemRandom().randrange(1 << 32))
"""Fresh in every run; a run that failed names its seeds, which this variable repeats."""
KEEP = os.environ.get("KSOLVER_FUZZ_KEEP", "")
"""Folder for the cases that disagree; a temporary one of the test when empty."""
_REPEATS = 10
COUNT = int(os.environ.get("KSOLVER_FUZZ_COUNT") or 250)
"""Worlds a kind and version."""


@dataclass
class Disagreement:
    """One world on which we and the scheduler differ, made small, and what differs."""

    seed: int
    case: Json
    differs: list[str]

    def save(self, folder: Path, name: str) -> Path:
        """Write the case beside others of its kind, to become one of them."""
        path = Path(KEEP or folder) / f"{name}-{self.seed}.json"
        path.write_text(json.dumps(self.case | {"id": path.stem, "why": "; ".join(self.differs)[:500]}, indent=1))
        return path


@dataclass
class Run:
    """What a run of worlds found."""

    pairs: int = 0
    feasible: int = 0
    agreed: Counter[str] = field(default_factory=Counter)
    """Rejections by the scheduler, by plugin, to which we agree."""
    differing: Counter[str] = field(default_factory=Counter)
    """Pairs on which a plugin's verdict differs, or on which we do not know it."""
    disagreements: list[Disagreement] = field(default_factory=list)

    def count(self, answers: Json, differing: Set[tuple[str, str]]) -> None:
        """Count one world."""
        for node, answer in answers.items():
            self.pairs += 1
            self.feasible += not answer["alone"]
            self.differing.update(plugin for where, plugin in differing if where == node)
            self.agreed.update(plugin for plugin in answer["alone"] if (node, plugin) not in differing)


def put(world: World, oracle: Oracle, version: str, *, count: int = COUNT, seed: int = SEED, stop: int = 3) -> Run:
    """Compare on `count` worlds from `seed` on, until `stop` of them disagree."""
    run = Run()
    for number in range(seed, seed + count):
        case = world(Random(number))
        differs = differences(case, oracle, version, run)
        if differs:
            small = shrunk(case, lambda candidate: bool(differences(candidate, oracle, version)))
            run.disagreements.append(Disagreement(number, small, differences(small, oracle, version) or differs))
            if len(run.disagreements) == stop:
                break
    return run


def differences(case: Json, oracle: Oracle, version: str, run: Run | None = None) -> list[str]:
    """Where we and the scheduler differ on a case: node, plugin, both sayings. Unknown differs from everything.

    Where the scheduler goes through a Go map, it may say one thing now and another later: a difference counts only if
    it is there however often it is asked.
    """
    cluster = cluster_of(case, version)
    pod = pod_of(case, cluster)
    judge = judge_new(cluster, pod)
    answers = oracle.filter(case, case["pod"])
    found = _differences(judge, answers, version)
    for _ in range(_REPEATS if found else 0):
        still = _differences(judge, oracle.filter(case, case["pod"]), version)
        found = {place: text for place, text in found.items() if place in still}
    if run is not None:
        run.count(answers, set(found))
    return [*(f"{' '.join(place)}: {text}" for place, text in found.items()), *_grid_differences(judge, pod)]


def _differences(judge: Judge, answers: Json, version: str) -> dict[tuple[str, str], str]:
    found = {}
    for node, answer in answers.items():
        theirs = {plugin: _theirs(said) for plugin, said in answer["alone"].items()}
        ours = {str(v.family): _ours(v, v in judge.everywhere) for v in judge.objections(node)}
        for plugin in sorted(theirs.keys() | ours.keys()):
            if not _same(theirs.get(plugin), ours.get(plugin), version):
                found[node, plugin] = f"scheduler {theirs.get(plugin)}, ours {ours.get(plugin)}"
        first, mine = answer.get("first_fail"), judge.first(node)
        if not found and first is not None and not _is_first(first, mine):
            found[node, "first"] = f"scheduler {first}, ours {mine}"
    return found


def _is_first(theirs: Json, ours: Verdict | None) -> bool:
    """Whether ours is what the scheduler met first.

    Plugins that leave no node between them are named together, before Filter; each of ours speaks for itself.
    """
    return ours is not None and ("," in theirs["plugin"] or str(ours.family) == theirs["plugin"])


def _grid_differences(judge: Judge, pod: Pod) -> list[str]:
    """Where our verdicts in array form are not those node by node."""
    grid = Grid(judge.state)
    found = []
    for node, code in zip(grid.names, grid.verdicts(pod).tolist(), strict=True):
        first = judge.first(node)
        wanted = PASS if first is None else FAIL if isinstance(first, Rejection) else UNKNOWN
        if code != wanted:
            found.append(f"{node}: {code} in array form, {wanted} node by node")
    return found


def _theirs(said: Json) -> Said:
    if said["stage"] == _NARROWED[0]:
        return _NARROWED
    return said["stage"], said["code"], tuple(sorted(said["reasons"]))


def _ours(verdict: Verdict, everywhere: bool) -> Said:
    if isinstance(verdict, Unknown):
        return "", "unknown", (verdict.missing,)
    assert isinstance(verdict, Rejection)
    if is_pre_filter(verdict) and not everywhere:
        return _NARROWED
    return "PreFilter" if everywhere else "Filter", str(verdict.code), tuple(sorted(reasons(verdict)))


_NARROWED: Said = ("PreFilterResult", "", ())
"""A node that a plugin left out by name before Filter; the scheduler then has no words of its own."""


def _same(theirs: Said | None, ours: Said | None, version: str) -> bool:
    """Whether the same is said, but for what is chance with the scheduler itself."""
    if theirs and ours and all(_NOT_INSTALLED in " ".join(said[2]) for said in (theirs, ours)):
        # Of several missing drivers it names any one.
        return True
    if version.startswith("1.34") and "Error" in {said[1] for said in (theirs, ours) if said is not None}:
        # 1.34 walks pools in no order, so that whether it meets the device on which a selector fails is chance.
        return True
    return theirs == ours


def shrunk(case: Json, fails: Callable[[Json], bool]) -> Json:
    """The case with everything taken out that it still fails without."""
    smaller = True
    while smaller:
        smaller = False
        for candidate in _smaller(case):
            if fails(candidate):
                case, smaller = candidate, True
                break
    return case


def _smaller(case: Json) -> Iterator[Json]:
    """The case without one object, then without one element of a list anywhere in the pod or another object."""
    for kind, objects in case.items():
        if isinstance(objects, list) and not (kind == "nodes" and len(objects) == 1):
            for index in range(len(objects)):
                yield case | {kind: objects[:index] + objects[index + 1 :]}
    for path in list(_lists(case)):
        yield _without(case, path)


def _lists(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _lists(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if len(path) > 1 and len(value) > 1:
                yield (*path, index)
            yield from _lists(inner, (*path, index))


def _without(value: Any, path: tuple[Any, ...]) -> Any:
    key, *rest = path
    if not rest:
        return value[:key] + value[key + 1 :]
    if isinstance(value, list):
        return [*value[:key], _without(value[key], tuple(rest)), *value[key + 1 :]]
    return value | {key: _without(value[key], tuple(rest))}
