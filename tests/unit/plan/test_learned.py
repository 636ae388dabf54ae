"""Reserves of the drain programme, learned from replays."""

import numpy as np

from ksolver_cli.constraints.rules.post import rules
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.plan import Limits
from ksolver_cli.normalise.classes import classify
from ksolver_cli.plan.learned import LearnedSets
from ksolver_cli.plan.prospects import Prospects
from ksolver_cli.plan.sets import Candidate, problem_of
from ksolver_cli.plan.settle import Trials
from ksolver_cli.solve.build import Model
from tests.unit.verify import world as w

GIB = 1024**3


def lopsided() -> Cluster:
    """Nodes with two pods each: on half of them pods want CPU, on the others memory."""
    nodes = [w.node(f"s{i}", cpu=4000, memory=16 * GIB) for i in range(8)]
    pods = []
    for i in range(8):
        spec = w.spec(1500, GIB) if i % 2 else w.spec(200, 7 * GIB)
        pods += [w.pod(f"a{i}-{k}", f"s{i}", spec) for k in range(2)]
    return w.cluster(nodes, pods)


def learner(cluster: Cluster) -> LearnedSets:
    classes = classify(cluster)
    prospects = Prospects(cluster, classes, w.prices(cluster))
    model = Model(cluster, classes, prospects.feasible, rules(cluster, classes))
    return LearnedSets(prospects, problem_of(prospects, model, w.prices(cluster)), Trials())


def proposed(cluster: Cluster, effort: float = 1.0) -> list[Candidate]:
    return list(learner(cluster).run(Limits(seconds=60.0, effort=effort), lambda: False))


def test_equal_input_proposes_equal_sets() -> None:
    assert proposed(lopsided()) == proposed(lopsided())


def test_effort_says_how_many_sets_are_proposed_at_most() -> None:
    assert len(proposed(lopsided(), effort=0.01)) <= len(proposed(lopsided())) <= 14


def test_a_clock_that_has_run_out_is_told_of() -> None:
    told: list[str] = []
    assert not list(learner(lopsided()).run(Limits(seconds=0.0), lambda: False, lambda: told.append("time")))
    assert told == ["time"]


def test_sets_come_to_pend_less_than_the_first_where_the_scheduler_strands_room() -> None:
    sets = proposed(lopsided())
    assert sets[0].nodes
    assert min(s.pended for s in sets) == 0
    assert all(np.isfinite(s.pended) for s in sets)
