"""Trials replayed in step against the same trials one at a time: they must know nothing of one another."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ksolver_cli.constraints.matrix import static_feasibility
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.pod import Phase
from ksolver_cli.domain.verdict import Family
from ksolver_cli.normalise.classes import classify
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.plan.prospects import Prospects
from ksolver_cli.plan.replay import run as replay
from ksolver_cli.plan.replay.occupancy import Board
from ksolver_cli.plan.replay.run import SHUFFLE, Drain, Replayer, Run, Trial
from ksolver_cli.plan.sequence import EvictionSequence
from ksolver_cli.plan.waves import in_steps
from ksolver_cli.snapshot.read import read_snapshot
from tests.paths import ROOT
from tests.property.clusters import clusters

TRIALS: list[Trial] = [(7, 0.0), (3, 5.0), (1, SHUFFLE), (2, 0.0), (3, SHUFFLE), (7, 2.0), (8, 0.0)]


def facts(run: Run) -> tuple[object, ...]:
    """All that a run says."""
    told = (run.order.tolist(), run.targets.tolist(), run.newcomers, run.homeless, run.pended, run.stuck)
    return (*told, run.complete)


def drained(cluster: Cluster, random: Random) -> tuple[Board, Drain]:
    """Some pods wait, the others run anywhere; some nodes are drained in up to three waves."""
    pods = tuple(
        pod if random.random() < 0.1 else replace(pod, phase=Phase.RUNNING, node_name=random.choice(cluster.nodes).name)
        for pod in cluster.pods
    )
    cluster = replace(cluster, pods=pods)
    classes = classify(cluster)
    waiting = frozenset(pod.key for pod in pods if not pod.node_name)
    feasible = static_feasibility(cluster, classes, ignore=(Family.NODE_UNSCHEDULABLE,))
    board = Board(cluster, classes, feasible, waiting)
    nodes = random.sample(range(len(cluster.nodes)), random.randint(1, len(cluster.nodes)))
    order: list[int] = []
    removals: list[tuple[int, tuple[int, ...]]] = []
    for wave in range(0, len(nodes), 2):
        gone = nodes[wave : wave + 2]
        leaving = [i for i in range(len(board.pods)) if int(board.pod_node[i]) in gone]
        order += random.sample(leaving, len(leaving))
        removals.append((len(order), tuple(gone)))
    node_of = tuple(int(board.pod_node[i]) for i in order)
    steps = tuple(end for end, _ in removals)
    return board, Drain(tuple(nodes), np.array(order, dtype=np.intp), tuple(removals), node_of, steps)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(clusters(max_nodes=7, max_workloads=6, max_replicas=4), st.integers(0, 10**9))
def test_trials_in_step_go_as_each_would_alone(cluster: Cluster, seed: int) -> None:
    board, drain = drained(cluster, Random(seed))
    replayer = Replayer(board)
    together = replayer.runs(drain, TRIALS)
    assert [facts(run) for run in together] == [facts(replayer.run(drain, *trial)) for trial in TRIALS]


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(clusters(max_nodes=6, max_workloads=6, max_replicas=4), st.integers(0, 10**9), st.integers(0, 4))
def test_all_trials_stop_once_too_many_pods_pended(cluster: Cluster, seed: int, cap: int) -> None:
    board, drain = drained(cluster, Random(seed))
    replayer = Replayer(board)
    whole, cut = replayer.runs(drain, TRIALS), replayer.runs(drain, TRIALS, cap)
    pended = sum(len(run.pended) for run in cut)
    over = sum(len(run.pended) for run in whole) > cap
    assert [run.complete for run in cut] == [not over] * len(TRIALS)
    assert pended > cap if over else [facts(run) for run in cut] == [facts(run) for run in whole]
    # The last step alone may go beyond what is allowed.
    assert pended <= cap + len(TRIALS)


@pytest.mark.parametrize("name", ["demo", "zonal-volumes", "gpu-fleet"])
def test_samples_replay_alike_in_step_and_in_parts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo is large enough for nodes to be sampled; pods of the second sample have volumes."""
    cluster = normalise(read_snapshot([ROOT / "snapshots" / name / "snapshot.json"]), complete=True)
    prospects = Prospects(cluster, classify(cluster), {n.name: 1000 for n in cluster.nodes})
    removable = np.flatnonzero(prospects.removable)
    nodes = Random(1).sample(removable.tolist(), len(removable) // 3)
    drain = in_steps(prospects, EvictionSequence(prospects, nodes).drain(4), 9)
    alone = [facts(prospects.replayer.run(drain, *trial)) for trial in TRIALS]
    assert [facts(run) for run in prospects.replayer.runs(drain, TRIALS)] == alone
    monkeypatch.setattr(replay, "CELLS", 3 * prospects.board.start.width)
    assert [facts(run) for run in prospects.replayer.runs(drain, TRIALS)] == alone
