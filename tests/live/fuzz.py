"""Random worlds put to the real scheduler and to our families, until they disagree; what disagrees is made small."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

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
    agreed: Counter[str] = field(default_factory=Counter)
    disagreements: list[Disagreement] = field(default_factory=list)


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
    """Where we and the scheduler differ on a case: node, plugin, both sayings. Unknown differs from everything."""
    truth = oracle.filter(case, case["pod"])
    cluster = cluster_of(case, version)
    judge = judge_new(cluster, pod_of(case, cluster))
    found = []
    for node, answer in truth.items():
        theirs = {plugin: _theirs(said) for plugin, said in answer["alone"].items()}
        ours = {str(v.family): _ours(v, v in judge.everywhere) for v in judge.objections(node)}
        for plugin in sorted(theirs.keys() | ours.keys()):
            if not _same(theirs.get(plugin), ours.get(plugin), version):
                found.append(f"{node} {plugin}: scheduler {theirs.get(plugin)}, ours {ours.get(plugin)}")
            elif run is not None:
                run.agreed[plugin] += 1
        if run is not None:
            run.pairs += 1
    return found


def _theirs(said: Json) -> Said:
    return said["stage"], said["code"], tuple(sorted(said["reasons"]))


def _ours(verdict: Verdict, everywhere: bool) -> Said:
    if isinstance(verdict, Unknown):
        return "", "unknown", (verdict.missing,)
    assert isinstance(verdict, Rejection)
    return "PreFilter" if everywhere else "Filter", str(verdict.code), tuple(sorted(reasons(verdict)))


def _same(theirs: Said | None, ours: Said | None, version: str) -> bool:
    """Whether the same is said, but for what is chance with the scheduler itself."""
    if theirs and ours and all(_NOT_INSTALLED in said[2][0] for said in (theirs, ours)):
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
