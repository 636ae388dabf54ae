"""The oracle says what was recorded of the scheduler, and keeps its own word across its requests."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.live.oracle import CLUSTER_KEYS, Json, Oracle, OracleError
from tests.paths import CASES, DATA

VERSIONS = {"oracle_134": "1.34.1", "oracle": "1.36.3", "oracle_137": "1.37"}
ALL = pytest.mark.parametrize("oracle_name", VERSIONS)


@pytest.fixture
def asked(oracle_name: str, request: pytest.FixtureRequest) -> Oracle:
    found: Oracle = request.getfixturevalue(oracle_name)
    return found


def named_cases() -> list[Json]:
    cases: list[Json] = json.loads((CASES / "filter_cases.json").read_bytes())["cases"]
    return cases


def lines(path: Path) -> list[Json]:
    with gzip.open(path) as file:
        return [json.loads(line) for line in file]


def expected(case: Json, oracle_name: str) -> Json:
    """What a case expects of that version; one newer than all that the case names is taken to be like the newest."""
    by_version = case.get("expect_by_version", {})
    return case | by_version.get(VERSIONS[oracle_name], by_version.get("1.36.3", {}))


def verdicts(answer: Json, plugin: str = "") -> dict[str, str]:
    """Verdict per node, of the whole phase or of one plugin."""
    if not plugin:
        return {node: said["verdict"] for node, said in answer.items()}
    return {node: "fail" if plugin in said["alone"] else "pass" for node, said in answer.items()}


@ALL
def test_named_cases(asked: Oracle, oracle_name: str) -> None:
    wrong = []
    for case in named_cases():
        want, got = expected(case, oracle_name), asked.filter(case, case["pod"])
        if verdicts(got) != want["expect"]:
            wrong.append((case["id"], want["expect"], got))
        if case["plugin"] and verdicts(got, case["plugin"]) != want["expect_plugin"]:
            wrong.append((case["id"], want["expect_plugin"], got))
    assert not wrong


def recorded_words(first_fail: Json) -> tuple[str, list[str]]:
    """Stage with code, and reasons, written as the cases write them."""
    stage = first_fail["stage"]
    code = {"Filter": "", "PreFilter": "PreFilter/"}.get(stage, "") + first_fail["code"]
    return ("PreFilterResult/excluded" if stage == "PreFilterResult" else code), first_fail["reasons"]


def test_named_cases_fail_first_where_and_with_the_words_recorded(oracle: Oracle) -> None:
    wrong = []
    for case in named_cases():
        for node, want in case["first_fail"].items():
            got = oracle.filter(case, case["pod"])[node]["first_fail"]
            same_plugin = not want["plugin"] or got["plugin"] == want["plugin"]
            if not same_plugin or recorded_words(got) != (want["code"], want["reasons"]):
                wrong.append((case["id"], node, want, got))
    assert not wrong


def failing(case: Json) -> dict[str, list[str]]:
    """Plugins that fail alone, for the nodes that have some."""
    return {node: sorted(plugins) for node, plugins in case["failing_plugins"].items() if plugins}


@ALL
def test_random_clusters(asked: Oracle, oracle_name: str) -> None:
    wrong = []
    for case in lines(CASES / "filter_fuzz.jsonl.gz"):
        got = asked.filter(case, case["pod"])
        alone = {node: sorted(said["alone"]) for node, said in got.items() if said["alone"]}
        if verdicts(got) != case["expect"] or alone != failing(case):
            wrong.append((case["id"], case["failing_plugins"], got))
    assert not wrong


def load_dump(folder: Path) -> Json:
    """Cluster of a folder of kubectl lists; what the dump lacks is not there."""
    cluster: Json = {}
    for path in folder.glob("*.json"):
        key = path.stem.rsplit("_", 1)[-1]
        if key in CLUSTER_KEYS:
            cluster[key] = json.loads(path.read_bytes())["items"]
    return cluster


def asked_about(cluster: Json, name: str) -> Json | str:
    """The pod by its name, or anew where it has finished: the scheduler does not know it then."""
    (found,) = (
        p for p in cluster["pods"] if f"{p['metadata'].get('namespace', 'default')}/{p['metadata']['name']}" == name
    )
    if found["status"]["phase"] not in {"Succeeded", "Failed"}:
        return name
    return found | {"status": {}, "spec": found["spec"] | {"nodeName": ""}}


def test_pods_of_real_dumps_as_if_just_evicted(oracle: Oracle) -> None:
    rows = lines(CASES / "dump_filter_matrix.jsonl.gz")
    dumps = {name: load_dump(DATA / "dumps" / name) for name in {row["dump"] for row in rows}}
    for name, cluster in dumps.items():
        oracle.keep(name, cluster)
    wrong = []
    for row in rows:
        got = oracle.filter(row["dump"], asked_about(dumps[row["dump"]], row["pod"]))
        alone = {node: sorted(said["alone"]) for node, said in got.items() if said["alone"]}
        if verdicts(got) != row["expect"] or alone != failing(row):
            wrong.append((row, got))
    for name in dumps:
        oracle.forget(name)
    assert rows
    assert not wrong


@pytest.mark.slow
def test_pods_of_a_large_trace(oracle: Oracle) -> None:
    truth = json.loads(gzip.decompress((DATA / "openb/k8s_snapshot_filter_truth.json.gz").read_bytes()))["pods"]
    snapshot = json.loads(gzip.decompress((DATA / "openb/k8s_snapshot_gpuspec33_load55.json.gz").read_bytes()))
    nodes, pods = snapshot["nodes"]["items"], snapshot["pods"]["items"]
    where = {
        p["metadata"]["name"]: f"{p['metadata'].get('namespace', 'default')}/{p['metadata']['name']}" for p in pods
    }
    oracle.keep("openb", {"nodes": nodes, "pods": pods})
    for pod, want in truth.items():
        got = verdicts(oracle.filter("openb", where[pod]))
        assert sorted(node for node, verdict in got.items() if verdict == "pass") == sorted(want["pass_nodes"])
    oracle.forget("openb")


@ALL
def test_a_node_passes_exactly_if_no_plugin_turns_it_down(asked: Oracle) -> None:
    for case in lines(CASES / "filter_fuzz.jsonl.gz")[:300]:
        for said in asked.filter(case, case["pod"]).values():
            assert (said["verdict"] == "pass") == (not said["alone"])
            assert said["verdict"] == "pass" or said["first_fail"]["plugin"] in said["alone"]


@ALL
def test_a_pod_goes_to_a_node_of_the_highest_score(asked: Oracle) -> None:
    placed = 0
    for case in lines(CASES / "filter_fuzz.jsonl.gz")[:300]:
        nodes = asked.score(case, case["pod"])["nodes"]
        (step,) = asked.schedule(case, [{"op": "place", "pod": case["pod"]}], seed=7)["steps"]
        best = max((said["total"] for said in nodes.values()), default=None)
        assert (step[0]["node"] == "") == (not nodes)
        if nodes:
            placed += 1
            assert nodes[step[0]["node"]]["total"] == best
    assert placed > 50


def test_scores_add_up(oracle: Oracle) -> None:
    for case in lines(CASES / "filter_fuzz.jsonl.gz")[:100]:
        for said in oracle.score(case, case["pod"])["nodes"].values():
            assert said["total"] == sum(plugin["weighted"] for plugin in said["plugins"].values())
            for plugin in said["plugins"].values():
                assert plugin["weighted"] == plugin["normalized"] * plugin["weight"]
                assert 0 <= plugin["normalized"] <= 100


def node(name: str) -> Json:
    return {"metadata": {"name": name}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}}


def pod(name: str, where: str = "", **meta: Any) -> Json:
    container = {"name": "c", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    spec = {"containers": [container]} | ({"nodeName": where} if where else {})
    return {"metadata": {"name": name, "namespace": "default", **meta}, "spec": spec}


DAEMON = {"ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "d"}]}


@ALL
def test_a_drain_moves_all_but_daemons_and_the_node_takes_no_more(asked: Oracle) -> None:
    cluster = {"nodes": [node("a"), node("b")], "pods": [pod("p", "a"), pod("q", "a"), pod("d", "a", **DAEMON)]}
    ops = [{"op": "drain", "node": "a"}, {"op": "place", "pod": pod("new")}, {"op": "uncordon", "node": "a"}]
    answer = asked.schedule(cluster, ops, assignments=True)
    assert answer["steps"][0] == [{"pod": "default/p", "node": "b"}, {"pod": "default/q", "node": "b"}]
    assert answer["assignments"] == {"default/p": "b", "default/q": "b", "default/d": "a", "default/new": "b"}


@ALL
def test_what_finds_no_room_waits_for_a_node(asked: Oracle) -> None:
    cluster = {"nodes": [node("a")], "pods": [pod("p", "a")]}
    ops = [{"op": "cordon", "node": "a"}, {"op": "evict", "pod": "default/p"}, {"op": "retry"}]
    ops += [{"op": "remove_node", "node": "a"}, {"op": "add_node", "node": node("b")}, {"op": "retry"}]
    steps = asked.schedule(cluster, ops)["steps"]
    assert steps[1][0]["node"] == steps[2][0]["node"] == ""
    assert "1 node(s) were unschedulable" in steps[1][0]["message"]
    assert steps[5] == [{"pod": "default/p", "node": "b"}]


@ALL
def test_equal_nodes_are_drawn_by_the_seed(asked: Oracle) -> None:
    cluster = {"nodes": [node(name) for name in "abcdef"], "pods": []}

    def drawn(seed: int) -> str:
        return str(asked.schedule(cluster, [{"op": "place", "pod": pod("p")}], seed=seed)["steps"][0][0]["node"])

    once = [drawn(seed) for seed in range(60)]
    assert once == [drawn(seed) for seed in range(60)]
    assert set(once) == set("abcdef")


def test_a_kept_cluster_goes_on_where_it_was(oracle: Oracle) -> None:
    oracle.keep("mine", {"nodes": [node("a"), node("b")], "pods": [pod("p", "a")]})
    oracle.schedule("mine", [{"op": "drain", "node": "a"}])
    assert verdicts(oracle.filter("mine", "default/p")) == {"a": "fail", "b": "pass"}
    assert oracle.schedule("mine", [], assignments=True)["assignments"] == {"default/p": "b"}
    oracle.forget("mine")


def ghost_pod(oracle: Oracle) -> object:
    return oracle.filter({"nodes": [node("a")]}, "default/ghost")


REFUSED: dict[str, Callable[[Oracle], object]] = {
    'unknown key "persistentVolumes"': lambda o: o.ask("filter", pod=pod("p"), persistentVolumes=[]),
    'no cluster "gone" is kept': lambda o: o.filter("gone", pod("p")),
    'no unfinished pod "default/ghost"': ghost_pod,
    "unknown request": lambda o: o.ask("guess"),
    'no node "x"': lambda o: o.schedule({}, [{"op": "drain", "node": "x"}]),
    'no "pod" is given': lambda o: o.ask("filter"),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_answered_is_refused(oracle: Oracle, words: str) -> None:
    with pytest.raises(OracleError, match=words):
        REFUSED[words](oracle)
    assert oracle.version()["version"] == "v1.36.3"
