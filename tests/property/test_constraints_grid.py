"""Array verdicts, running counts and classes say what judging pod by pod and node by node says."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ksolver_cli.constraints.grid.grid import Grid, code_of
from ksolver_cli.constraints.matrix import FAIL, static_feasibility, static_rules, verdict_matrix
from ksolver_cli.constraints.registry import prepare
from ksolver_cli.constraints.state import State, as_new
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.pod import Pod
from ksolver_cli.normalise.classes import classify
from tests.property.clusters import clusters

SCRIPT = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 9)), max_size=12)


def play(cluster: Cluster, script: list[tuple[int, int, int]], state: State, grid: Grid | None = None) -> None:
    """Put pods on nodes and take them off as the script says, whether Filter likes it or not; cordon and remove too."""
    where = state if grid is None else grid
    for pod_number, node_number, action in script:
        pod = cluster.pods[pod_number % len(cluster.pods)]
        names = list(state.nodes)
        node_name = names[node_number % len(names)]
        if action == 0:
            state.cordon(node_name)
        elif action == 1 and len(names) > 1:
            state.remove_node(node_name)
        elif state.node_of(pod) is None:
            where.add(pod, node_name)
        else:
            where.remove(pod)


def pending(cluster: Cluster, state: State) -> list[Pod]:
    return [pod for pod in cluster.pods if state.node_of(pod) is None]


def codes_by_registry(pod: Pod, state: State) -> list[int]:
    judge = prepare(pod, state)
    return [int(code_of(judge.first(name))) for name in state.nodes]


@settings(max_examples=120, deadline=None)
@given(clusters(), SCRIPT)
def test_the_grid_agrees_with_the_families_after_any_changes(cluster: Cluster, script: list) -> None:
    state = State(cluster)
    grid = Grid(state)
    for step in range(len(script) + 1):
        for pod in pending(cluster, state):
            assert grid.verdicts(pod).tolist() == codes_by_registry(pod, state)
        play(cluster, script[step : step + 1], state, grid)


@settings(max_examples=120, deadline=None)
@given(clusters(), SCRIPT)
def test_counts_kept_up_equal_counts_made_anew(cluster: Cluster, script: list) -> None:
    watched, late = State(cluster), State(cluster)
    for pod in cluster.pods:
        prepare(pod, watched)
    play(cluster, script, watched)
    play(cluster, script, late)
    for pod in pending(cluster, watched):
        ours, anew = prepare(pod, watched), prepare(pod, late)
        for name in watched.nodes:
            assert ours.objections(name) == anew.objections(name)


@settings(max_examples=60, deadline=None)
@given(clusters(), SCRIPT)
def test_a_bound_pod_is_judged_without_itself(cluster: Cluster, script: list) -> None:
    state = State(cluster)
    play(cluster, [(pod, node, 5) for pod, node, _ in script], state)
    rows = verdict_matrix(cluster, cluster.pods, state)
    for pod, row in zip(cluster.pods, rows, strict=True):
        node_name = state.node_of(pod)
        if node_name is not None:
            state.remove(pod)
        assert row.tolist() == codes_by_registry(as_new(pod), state)
        if node_name is not None:
            state.add(pod, node_name)


@settings(max_examples=120, deadline=None)
@given(clusters())
def test_members_of_a_class_fit_alike(cluster: Cluster) -> None:
    classes = classify(cluster)
    feasible = static_feasibility(cluster, classes)
    empty = State.empty(cluster)
    rules = static_rules(cluster)
    for pod in cluster.pods:
        judge = prepare(pod, empty, rules)
        keys = {c.topology_key for c in pod.spec.spread if c.hard} | {t.topology_key for t in pod.spec.affinity}
        for node in cluster.nodes:
            expected = code_of(judge.first(node.name)) != FAIL and keys <= node.labels.keys()
            assert feasible[classes.pod_class_of[pod.key], classes.node_class_of[node.name]] == expected
