"""What is compared, into which bucket it goes, and what the gate says."""

import pytest

from ksolver_cli.collect.schedulers.exchange import Said
from ksolver_cli.conform.choose import Choice, Pods
from ksolver_cli.conform.facts import Comparison, Gate, Outcome
from ksolver_cli.conform.run import Options, Watch, compare
from ksolver_cli.domain.verdict import Family
from tests.unit.conform.samples import affinity, node, pod, snapshot, spread
from tests.unit.conform.schedulers import FamilyScheduler

TAINT = [{"key": "gpu", "effect": "NoSchedule"}]
BLIND = FamilyScheduler(blind_to=frozenset({Family.TAINT_TOLERATION}))


def counts(found: Comparison) -> dict[str, int]:
    return {outcome.value: count for outcome, count in found.strict.counts.items() if count}


def test_pending_pods_meet_every_node_that_is_not_cordoned() -> None:
    cluster = snapshot(
        [node("a"), node("b"), node("c", unschedulable=True)],
        [pod("p"), pod("q"), pod("r", on="a"), pod("done") | {"status": {"phase": "Succeeded"}}],
    )
    scheduler = FamilyScheduler()
    found = compare(cluster, scheduler, Options())
    assert {(q.pod_name, q.node_name) for q in scheduler.asked} == {(p, n) for p in "pq" for n in "ab"}
    assert (found.pairs_total, found.probes, found.cordoned, found.nodes_total) == (4, 4, 1, 3)
    assert found.gate is Gate.PASS


def test_the_question_holds_one_empty_node_and_a_pod_that_is_nowhere() -> None:
    scheduler = FamilyScheduler()
    bound = pod("r", on="a", schedulerName="mine", schedulingGates=[{"name": "later"}], priority=7)
    compare(snapshot([node("a")], [bound]), scheduler, Options(Choice(Pods.ALL)))
    (question,) = scheduler.asked
    assert question.pod["spec"] == {"containers": bound["spec"]["containers"]}
    assert "status" not in question.pod
    assert question.pod["metadata"] == {"name": "r", "namespace": "shop", "labels": {"app": "r"}}
    assert question.node["metadata"] == {"name": "a"}
    assert [c["status"] for c in question.node["status"]["conditions"] if c["type"] == "Ready"] == ["True"]
    assert set(question.beside) == {"namespaces"}


def test_a_full_node_is_judged_as_if_it_were_empty() -> None:
    found = compare(snapshot([node("a")], [pod("big", "3"), pod("here", "4", on="a")]), FamilyScheduler(), Options())
    (pair,) = found.pods["shop/big"]
    assert not pair.ours.rejects


def test_a_pair_that_only_we_allow_is_a_false_positive_and_the_other_way_round() -> None:
    cluster = snapshot([node("a", taints=TAINT)], [pod("p")])
    assert counts(compare(cluster, BLIND, Options())) == {"false_negative": 1}
    refusing = FamilyScheduler(says={"a": Said.FAIL})
    found = compare(snapshot([node("a")], [pod("p")]), refusing, Options())
    assert (counts(found), found.gate) == ({"false_positive": 1}, Gate.FAIL)


def test_no_answer_is_neither_yes_nor_no() -> None:
    silent = FamilyScheduler(silent_on=lambda question: question.node_name == "a")
    found = compare(snapshot([node("a"), node("b")], [pod("p")]), silent, Options())
    assert counts(found) == {"no_answer": 1, "agree": 1}
    assert [pair.node for pair in found.strict.mismatches] == ["a"]
    assert found.gate is Gate.PASS


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"affinity": affinity("podAffinity", "x")}, "requiredPodAffinity"),
        ({"affinity": affinity("podAntiAffinity", "x")}, "requiredPodAntiAffinity"),
        ({"topologySpreadConstraints": [spread()]}, "topologySpreadConstraints/DoNotSchedule"),
    ],
)
def test_what_one_node_cannot_show_is_excused_unless_all_is_strict(spec: dict, reason: str) -> None:
    cluster = snapshot([node("a"), node("b")], [pod("p", **spec)])
    found = compare(cluster, FamilyScheduler(), Options())
    assert (found.reason_counts, found.gate) == ({reason: 2}, Gate.EMPTY)
    found = compare(cluster, FamilyScheduler(), Options(strict_all=True))
    assert (found.reason_counts, found.gate, found.strict.answered) == ({}, Gate.PASS, 2)


@pytest.mark.parametrize(
    "spec",
    [
        {"priority": 1000, "priorityClassName": "high"},
        {"topologySpreadConstraints": [spread("ScheduleAnyway")]},
        {"affinity": {"nodeAffinity": {}}},
    ],
)
def test_what_changes_nothing_in_filter_is_strict(spec: dict) -> None:
    found = compare(snapshot([node("a")], [pod("p", **spec)]), FamilyScheduler(), Options())
    assert (found.strict.answered, found.gate) == (1, Gate.PASS)


def test_devices_that_the_source_cannot_show_are_excused_even_when_all_is_strict() -> None:
    claimed = pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "one"}])
    found = compare(
        snapshot([node("a")], [claimed]), FamilyScheduler(carries=frozenset({"namespaces"})), Options(strict_all=True)
    )
    assert found.reason_counts == {"resourceClaims": 1}


@pytest.mark.parametrize(("min_pairs", "gate"), [(1, Gate.PASS), (2, Gate.PASS), (3, Gate.EMPTY)])
def test_too_few_answered_strict_pairs_are_an_empty_gate(min_pairs: int, gate: Gate) -> None:
    silent = FamilyScheduler(silent_on=lambda question: question.node_name == "a")
    cluster = snapshot([node("a"), node("b"), node("c")], [pod("p")])
    assert compare(cluster, silent, Options(min_pairs=min_pairs)).gate is gate


def test_nothing_to_compare_is_an_empty_gate() -> None:
    assert compare(snapshot([node("a")], []), FamilyScheduler(), Options()).gate is Gate.EMPTY


def test_false_positives_come_first() -> None:
    contrary = FamilyScheduler(says={"a": Said.PASS, "b": Said.FAIL, "c": Said.NO_ANSWER})
    nodes = [node("a", taints=TAINT), node("b"), node("c")]
    found = compare(snapshot(nodes, [pod("p")]), contrary, Options())
    assert [pair.outcome for pair in found.strict.mismatches] == [
        Outcome.FALSE_POSITIVE,
        Outcome.FALSE_NEGATIVE,
        Outcome.NO_ANSWER,
    ]


def test_a_run_that_is_stopped_tells_what_it_knows() -> None:
    scheduler = FamilyScheduler()
    watch = Watch(stop=lambda: len(scheduler.asked) >= 3)
    cluster = snapshot([node("a"), node("b")], [pod("p"), pod("q")])
    found = compare(cluster, scheduler, Options(), watch)
    assert found.interrupted
    assert found.pairs_total == found.probes == 2


def test_what_cannot_be_read_is_named_and_costs_only_itself() -> None:
    broken = pod("broken") | {"spec": {"containers": "many"}}
    found = compare(snapshot([node("a")], [pod("p"), broken]), FamilyScheduler(), Options())
    assert (list(found.pods), found.unreadable) == (["shop/p"], ("shop/broken",))


def test_a_sample_takes_unbound_pods_first_and_depends_on_the_seed_alone() -> None:
    pods = [pod(f"u{i}") for i in range(3)] + [pod(f"b{i}", on="a") for i in range(30)]
    cluster = snapshot([node("a")], pods)

    def chosen(seed: int, sample: int = 10) -> list[str]:
        options = Options(Choice(Pods.ALL, sample, seed=seed))
        return list(compare(cluster, FamilyScheduler(), options).pods)

    assert {name.split("/")[1][0] for name in chosen(1)[:3]} == {"u"}
    assert len(chosen(1)) == 10
    assert chosen(1) == chosen(1)
    assert len({tuple(chosen(seed)) for seed in range(5)}) > 1
    assert len(chosen(1, 0)) == 33


def test_sampled_nodes_are_told_from_all_nodes() -> None:
    cluster = snapshot([node(f"n{i}") for i in range(9)], [pod("p")])
    found = compare(cluster, FamilyScheduler(), Options(Choice(max_nodes=4)))
    assert (len(found.nodes), found.nodes_total) == (4, 9)


@pytest.mark.parametrize(
    ("asked", "scheduler", "judged"), [("1.34", "v1.36.3", "1.34"), (None, "v1.35.0", "1.35"), (None, "", "1.36")]
)
def test_judged_as_the_version_asked_for_else_the_schedulers_else_the_snapshots(
    asked: str | None, scheduler: str, judged: str
) -> None:
    found = compare(
        snapshot([node("a")], [pod("p")]), FamilyScheduler(version=scheduler), Options(kubernetes_version=asked)
    )
    assert found.asked.judged_as == judged
