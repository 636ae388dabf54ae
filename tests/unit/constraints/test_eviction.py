"""Blockers: what keeps pods and nodes where they are."""

from dataclasses import replace

import pytest

from ksolver_cli.constraints.budgets import Budgets
from ksolver_cli.constraints.eviction import (
    BlockerKind,
    eviction_blockers,
    loses_local_data,
    node_blockers,
    parse_duration,
)
from ksolver_cli.domain.cluster import Cluster, DisruptionBudget
from ksolver_cli.domain.pod import Pod, Volume, VolumeKind
from ksolver_cli.domain.storage import PersistentVolume, Storage, VolumeClaim
from tests.unit.verify import world as w

NOW = "2026-01-02T12:00:00Z"


def kinds(pod: Pod, **facts: object) -> set[BlockerKind]:
    of = replace(w.cluster([w.node("n1")], [pod]), collected_at=NOW, **facts)  # type: ignore[arg-type] # facts of a Cluster
    return {b.kind for b in eviction_blockers(of).get(pod.key, ())}


def test_an_ordinary_pod_has_none() -> None:
    assert kinds(w.pod("a-0", "n1", w.spec())) == set()


@pytest.mark.parametrize("facts", [{"kind": "DaemonSet"}, {"is_static": True, "kind": ""}])
def test_pods_that_vanish_with_their_node_have_none(facts: dict[str, object]) -> None:
    assert kinds(w.pod("a-0", "n1", w.spec(), **facts)) == set()  # type: ignore[arg-type] # facts of a Pod


def test_bare_and_terminating_and_foreign() -> None:
    assert kinds(w.pod("a-0", "n1", w.spec(), kind="")) == {BlockerKind.BARE_POD}
    assert kinds(w.pod("a-0", "n1", w.spec(), deleting=True)) == {BlockerKind.TERMINATING}
    assert kinds(w.pod("a-0", "n1", w.spec(scheduler_name="volcano"))) == {BlockerKind.FOREIGN_SCHEDULER}


@pytest.mark.parametrize(
    ("value", "blocked"),
    [("true", True), ("false", False), ("4h", True), ("90m", False), ("1h59m", False), ("soon", False)],
)
def test_do_not_disrupt_as_a_word_or_a_time_since_creation(value: str, blocked: bool) -> None:
    pod = w.pod(
        "a-0", "n1", w.spec(), annotations={"karpenter.sh/do-not-disrupt": value}, created="2026-01-02T10:00:00Z"
    )
    assert kinds(pod) == ({BlockerKind.DO_NOT_DISRUPT} if blocked else set())


def test_a_duration_that_cannot_be_measured_holds() -> None:
    pod = w.pod("a-0", "n1", w.spec(), annotations={"karpenter.sh/do-not-disrupt": "1m"})
    assert kinds(pod) == {BlockerKind.DO_NOT_DISRUPT}


def test_volumes_on_the_node_itself() -> None:
    host = w.spec(volumes=(Volume("logs", VolumeKind.HOST_PATH),))
    assert kinds(w.pod("a-0", "n1", host)) == {BlockerKind.HOST_PATH}
    safe = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}
    assert kinds(w.pod("a-0", "n1", host, annotations=safe)) == set()
    exempt = {"cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes": "tmp, logs"}
    assert kinds(w.pod("a-0", "n1", host, annotations=exempt)) == set()


@pytest.mark.parametrize("is_local", [True, False])
def test_a_local_volume_pins(is_local: bool) -> None:
    claim = VolumeClaim("default", "data", volume_name="pv1", bind_completed=True)
    storage = Storage(claims={"default/data": claim}, volumes={"pv1": PersistentVolume("pv1", is_local=is_local)})
    pod = w.pod("a-0", "n1", w.spec(volumes=(Volume("d", VolumeKind.CLAIM, "data"),)))
    assert kinds(pod, storage=storage) == ({BlockerKind.LOCAL_VOLUME} if is_local else set())


def test_empty_dir_is_a_warning_only() -> None:
    spec = w.spec(volumes=(Volume("tmp", VolumeKind.EMPTY_DIR), Volume("shm", VolumeKind.EMPTY_DIR_MEMORY)))
    pod = w.pod("a-0", "n1", spec)
    assert kinds(pod) == set()
    assert loses_local_data(pod) == ("tmp",)


def budget(**facts: object) -> DisruptionBudget:
    return DisruptionBudget("default", "b", w.app("a"), **facts)  # type: ignore[arg-type] # facts of a budget


def three(*budgets: DisruptionBudget, ready: int = 3) -> Cluster:
    pods = [w.pod(f"a-{i}", "n1", w.spec(100), ready=i < ready) for i in range(3)]
    return w.cluster([w.node("n1")], pods, budgets)


@pytest.mark.parametrize(
    ("facts", "allowed"),
    [
        ({"max_unavailable": "0"}, 0),
        ({"max_unavailable": "0%"}, 0),
        ({"max_unavailable": "1"}, 1),
        ({"max_unavailable": "34%"}, 2),
        ({"min_available": "3"}, 0),
        ({"min_available": "2"}, 1),
        ({"min_available": "100%"}, 0),
        ({"min_available": "50%"}, 1),
        ({"min_available": "0"}, 3),
    ],
)
def test_budgets_without_status_are_worked_out(facts: dict[str, object], allowed: int) -> None:
    of = three(budget(**facts))
    assert Budgets(of).of(of.pods[0])[0].allowed == allowed
    assert bool(eviction_blockers(of)) is (allowed == 0)


def test_a_status_is_believed() -> None:
    of = three(budget(min_available="0", disruptions_allowed=0, current_healthy=3, desired_healthy=3, expected_pods=3))
    assert {b.kind for found in eviction_blockers(of).values() for b in found} == {BlockerKind.BUDGET}


def test_unhealthy_pods_use_budgets_up_and_may_go_themselves() -> None:
    of = three(budget(min_available="2"), ready=2)
    assert sorted(eviction_blockers(of)) == ["default/a-0", "default/a-1"]
    of = three(budget(min_available="3"), ready=2)
    assert len(eviction_blockers(of)) == 3
    of = three(budget(min_available="3", always_allow_unhealthy=True), ready=2)
    assert sorted(eviction_blockers(of)) == ["default/a-0", "default/a-1"]


def test_two_budgets_on_a_pod() -> None:
    of = three(budget(max_unavailable="1"), replace(budget(max_unavailable="1"), name="c"))
    assert {b.kind for found in eviction_blockers(of).values() for b in found} == {BlockerKind.TWO_BUDGETS}


def test_a_blocker_names_the_object_to_edit() -> None:
    found = eviction_blockers(three(budget(max_unavailable="0")))["default/a-0"][0]
    assert (found.source.kind, found.source.name) == ("PodDisruptionBudget", "default/b")


def test_nodes() -> None:
    nodes = [
        w.node("cp", is_control_plane=True),
        w.node("gone", deleting=True),
        w.node("fargate", is_virtual=True),
        w.node("kept", annotations={"karpenter.sh/do-not-disrupt": "true"}),
        w.node("off", annotations={"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}),
        w.node("free"),
        w.node("dear"),
    ]
    of = w.cluster(nodes, [])
    assert {name: found[0].kind for name, found in node_blockers(of).items()} == {
        "cp": BlockerKind.CONTROL_PLANE,
        "gone": BlockerKind.NODE_DELETING,
        "fargate": BlockerKind.VIRTUAL_NODE,
        "kept": BlockerKind.NODE_DO_NOT_DISRUPT,
        "off": BlockerKind.SCALE_DOWN_DISABLED,
    }
    prices = dict.fromkeys((n.name for n in nodes), 1) | {"dear": None}
    assert [b.kind for b in node_blockers(of, prices)["dear"]] == [BlockerKind.UNPRICED]


@pytest.mark.parametrize(
    ("text", "seconds"), [("1h30m", 5400.0), ("1.5h", 5400.0), ("250ms", 0.25), ("h", None), ("3", None), ("", None)]
)
def test_durations(text: str, seconds: float | None) -> None:
    assert parse_duration(text) == seconds


def test_pods_of_a_silent_node_stay_and_an_empty_one_may_go() -> None:
    nodes = [w.node("silent", ready=False), w.node("bare", ready=False), w.node("well")]
    of = w.cluster(nodes, [w.pod("a-0", "silent", w.spec(100)), w.pod("b-0", "well", w.spec(100))])
    assert {key: found[0].kind for key, found in eviction_blockers(of).items()} == {
        "default/a-0": BlockerKind.NODE_NOT_READY
    }
    assert node_blockers(of) == {}
