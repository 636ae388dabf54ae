"""Clusters with published bounds: ours must agree, and the plan must come near them."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from ksolver_cli.domain.plan import Limits
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.snapshot.read import read_snapshot
from ksolver_cli.solve.bound import lower
from ksolver_cli.solve.bound.lower import lower_bound
from ksolver_cli.solve.build import Pins, build, model_of
from ksolver_cli.solve.drain import DrainModel
from ksolver_cli.solve.problem import Problem
from ksolver_cli.solve.solution import Run
from tests.paths import DATA

FOLDER = DATA / "drain"
pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the shared drain clusters are not here")


def _expected() -> dict[str, object]:
    found: dict[str, object] = json.loads((FOLDER / "expect.json").read_text(encoding="utf-8"))
    return found


def _problem(name: str, folder: Path) -> Problem:
    path = folder / f"{name}.json"
    path.write_bytes(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()))
    cluster = normalise(read_snapshot([path]))
    per_hour: dict[str, float] = _expected()["prices_per_hour"]  # type: ignore[assignment]
    kind = "node.kubernetes.io/instance-type"
    prices = {n.name: round(per_hour[n.labels[kind]] * 1e6) for n in cluster.nodes}
    return build(model_of(cluster), prices, Pins())


@pytest.mark.parametrize(("name", "best"), [("c50_1", 6_356_000), ("c50_2", 6_044_000), ("c200_1", 21_916_000)])
def test_the_linear_bound_is_below_what_is_known_to_be_best_and_near_it(name: str, best: int, tmp_path: Path) -> None:
    problem = _problem(name, tmp_path)
    facts: dict[str, float] = _expected()["instances"][name]  # type: ignore[index]
    assert (
        problem.cost_now == round(facts["cost_per_hour"] * 1e6, -4)
        or abs(problem.cost_now - facts["cost_per_hour"] * 1e6) <= 5_000
    )
    bounded = lower_bound(problem, Run(Limits()))
    assert bounded.bound <= best
    assert bounded.bound >= 0.965 * best
    assert bounded.certificate <= bounded.point.objective * (1 + 1e-9) + 4_000


def test_drain_sets_keep_enough_room_for_what_they_evict(tmp_path: Path) -> None:
    problem = _problem("c50_1", tmp_path)
    reserve = np.full((problem.num_classes, len(problem.resources)), 0.02)
    found = DrainModel(problem).solve(reserve, 6000, Run(Limits(seconds=20.0)))
    assert found is not None
    gone = np.isin(np.array(problem.node_names), np.array(found.removed))
    evicted = problem.load_now[gone].sum(axis=0)
    free = (problem.capacity - problem.load_now)[~gone].sum(axis=0)
    assert (evicted <= free).all()
    assert problem.cost(~gone) == found.cost_micros < 0.5 * problem.cost_now
    assert found.moved == int(np.isin(problem.pod_node, np.flatnonzero(gone)).sum())


def test_coarse_groups_lose_next_to_nothing_of_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = _problem("c200_1", tmp_path)
    fine = lower_bound(problem, Run(Limits())).bound
    monkeypatch.setattr(lower, "FINE_GROUPS", 0)
    coarse = lower_bound(problem, Run(Limits())).bound
    assert 0.997 * fine <= coarse <= fine
