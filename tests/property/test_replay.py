"""The replay's arrays against the constraint families themselves, at random moments of random drains."""

from dataclasses import replace
from random import Random

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ksolver_cli.constraints.matrix import static_feasibility
from ksolver_cli.constraints.registry import prepare
from ksolver_cli.constraints.state import State, as_new
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.pod import Phase
from ksolver_cli.domain.verdict import Family
from ksolver_cli.normalise.classes import classify
from ksolver_cli.plan.replay.filters import open_nodes
from ksolver_cli.plan.replay.mover import Crew
from ksolver_cli.plan.replay.occupancy import Board
from tests.property.clusters import clusters


def placed(cluster: Cluster, random: Random) -> Cluster:
    """The same pods, each running on some node, fits or not; now and then one is on its way out."""
    pods = tuple(
        replace(pod, phase=Phase.RUNNING, node_name=random.choice(cluster.nodes).name, deleting=random.random() < 0.1)
        for pod in cluster.pods
    )
    return replace(cluster, pods=pods)


def crew_of(board: Board, index: int) -> Crew:
    """What this pod of the board asks for."""
    return board.crew([int(board.pod_class[index])])


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(clusters(), st.integers(0, 10**9))
def test_arrays_and_families_agree(cluster: Cluster, seed: int) -> None:
    random = Random(seed)
    cluster = placed(cluster, random)
    classes = classify(cluster)
    board = Board(cluster, classes, static_feasibility(cluster, classes, ignore=(Family.NODE_UNSCHEDULABLE,)))
    state, now = State(cluster), board.start.copy()
    for _ in range(random.randrange(len(cluster.nodes))):
        node = random.randrange(len(cluster.nodes))
        state.cordon(cluster.nodes[node].name)
        now.cordon((node,))
    movable = [i for i in range(len(board.pods)) if not board.pods[i].deleting]
    random.shuffle(movable)
    for index in movable:
        pod = board.pods[index]
        state.remove(pod)
        board.leave(now, now.ids, np.array([index]), board.pod_node[[index]])
        crew = crew_of(board, index)
        judged = prepare(as_new(pod), state)
        passing = [judged.passes(node.name) for node in cluster.nodes]
        assert open_nodes(crew, now)[0].tolist() == passing, pod.key
        options = [i for i, fits in enumerate(passing) if fits]
        target = random.choice(options) if options else int(board.pod_node[index])
        state.add(as_new(pod), cluster.nodes[target].name)
        board.arrive(now, crew.classes, now.ids, np.array([target]))


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(clusters(), st.integers(0, 10**9))
def test_a_removed_node_is_no_domain(cluster: Cluster, seed: int) -> None:
    random = Random(seed)
    cluster = placed(cluster, random)
    classes = classify(cluster)
    board = Board(cluster, classes, static_feasibility(cluster, classes, ignore=(Family.NODE_UNSCHEDULABLE,)))
    state, now = State(cluster), board.start.copy()
    node = random.randrange(len(cluster.nodes))
    for index in [i for i in range(len(board.pods)) if board.pod_node[i] == node]:
        state.remove(board.pods[index])
        board.leave(now, now.ids, np.array([index]), np.array([node]))
    state.remove_node(cluster.nodes[node].name)
    board.remove_node(now, node)
    for index in [i for i in range(len(board.pods)) if board.pod_node[i] == node and not board.pods[i].deleting]:
        judged = prepare(as_new(board.pods[index]), state)
        expected = [i != node and judged.passes(n.name) for i, n in enumerate(cluster.nodes)]
        assert open_nodes(crew_of(board, index), now)[0].tolist() == expected
