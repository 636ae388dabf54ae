"""Reading a cluster: whole lists or none, gaps by their reason, and never anything but reads."""

import time

import httpx
import pytest

from ksolver_cli.collect.access.settings import Connection
from ksolver_cli.collect.api.client import REVIEWS
from ksolver_cli.collect.errors import CollectError
from ksolver_cli.collect.live import read
from ksolver_cli.domain.cluster import Gap
from tests.unit.collect.apiserver import Answer, ApiServer, Request, answer, named, on, once, pods, status

PODS = "/api/v1/pods"
ALL = Connection()


def _server(count: int = 3) -> ApiServer:
    return ApiServer({"nodes": named("nodes", "n1"), "pods": pods(count)})


def _gaps(server: ApiServer, connection: Connection = ALL) -> dict[str, str]:
    return {gap.kind: gap.reason for gap in read(server.client(), connection).gaps}


@pytest.mark.parametrize("count", [0, 1, 499, 500, 501, 1000, 1777])
def test_lists_of_any_length_come_whole_and_in_order(count: int) -> None:
    server = _server(count)
    reading = read(server.client(), ALL)
    names = [pod["metadata"]["name"] for pod in reading.spool.objects("pods")]
    assert names == [pod["metadata"]["name"] for pod in server.objects["pods"]]
    assert all(request.query.get("limit") == "500" for request in server.asked(PODS))
    assert len(server.asked(PODS)) == max(1, -(-count // 500))


def test_objects_say_their_kind_and_are_pruned() -> None:
    (pod,) = read(_server(1).client(), ALL).spool.objects("pods")
    assert (pod["apiVersion"], pod["kind"]) == ("v1", "Pod")
    assert "command" not in pod["spec"]["containers"][0]


def test_an_expired_continue_token_begins_the_list_anew() -> None:
    server = _server(1777)
    late = on(
        PODS, status(410, "the provided continue parameter is too old"), lambda r: r.query.get("continue") == "1000"
    )
    server.faults = [once(late)]
    reading = read(server.client(), ALL)
    assert reading.spool.count("pods") == 1777
    assert len({pod["metadata"]["name"] for pod in reading.spool.objects("pods")}) == 1777


def test_a_token_that_always_expires_ends_in_one_whole_list() -> None:
    server = _server(1777)
    server.faults = [on(PODS, status(410), lambda r: bool(r.query.get("continue")))]
    reading = read(server.client(), ALL)
    assert reading.spool.count("pods") == 1777
    assert "limit" not in server.asked(PODS)[-1].query


def test_null_items_and_an_empty_continue_end_a_list() -> None:
    server = _server()
    empty = answer({"kind": "ServiceList", "metadata": {"continue": ""}, "items": None})
    server.faults = [on("/api/v1/services", empty)]
    reading = read(server.client(), ALL)
    assert "services" in reading.spool.kinds()
    assert reading.spool.count("services") == 0


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
def test_what_passes_by_itself_is_tried_again(code: int) -> None:
    server, pauses = _server(), list[float]()
    server.faults = [once(on(PODS, status(code)))]
    assert read(server.client(pauses=pauses), ALL).spool.count("pods") == 3
    assert len(pauses) == 1
    assert 0 < pauses[0] < 1


def test_retry_after_is_waited_for() -> None:
    server, pauses = _server(), list[float]()
    server.faults = [once(on(PODS, status(429, "slow down", **{"Retry-After": "7"})))]
    read(server.client(pauses=pauses), ALL)
    assert pauses == [7.0]


@pytest.mark.parametrize("text", ["\xb2", "-5", "soon", "", "7.5", "1e9", "Mon, 1 Jan 0001 00:00:00 -0000"])
def test_a_retry_after_that_says_nothing_is_waited_for_as_if_it_were_not_there(text: str) -> None:
    server, pauses = _server(), list[float]()
    server.faults = [once(on(PODS, status(429, "slow down", **{"Retry-After": text})))]
    assert read(server.client(pauses=pauses), ALL).spool.count("pods") == 3
    assert len(pauses) == 1
    assert 0 < pauses[0] < 1


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (status(403, "pods is forbidden"), "forbidden"),
        (status(500, "etcd is away"), "etcd is away"),
        ((200, {"Content-Type": "text/html"}, b"<html>log in</html>"), "login page"),
        (answer({"kind": "Status", "items": 3}), "is not a list"),
        (answer({"kind": "PodList", "items": 3}), "items is not a list"),
        (answer([1]), "is not a list"),
    ],
)
def test_a_kind_that_cannot_be_had_is_a_gap_and_absent(given: Answer, word: str) -> None:
    server = _server()
    server.faults = [on(PODS, given)]
    reading = read(server.client(), ALL)
    assert "pods" not in reading.spool.kinds()
    assert word in {gap.kind: gap.reason for gap in reading.gaps}["pods"]
    assert reading.spool.count("nodes") == 1


def test_half_a_list_is_no_list() -> None:
    server = _server(1777)
    server.faults = [on(PODS, status(403, "no longer"), lambda r: r.query.get("continue") == "1000")]
    reading = read(server.client(), ALL)
    assert "pods" not in reading.spool.kinds()
    assert reading.spool.count("pods") == 0


def test_a_lost_connection_in_the_middle_is_tried_again() -> None:
    server = _server(1777)
    struck: list[int] = []

    def cut(request: Request) -> Answer | None:
        if request.query.get("continue") == "1000" and len(struck) < 2:
            struck.append(1)
            raise httpx.RemoteProtocolError("peer closed connection without sending complete message body")
        return None

    server.faults = [cut]
    assert read(server.client(), ALL).spool.count("pods") == 1777


def test_apis_that_are_not_installed_are_no_gap_and_apis_that_are_down_are() -> None:
    server = _server()
    server.groups = {**server.groups, "metrics.k8s.io": "v1beta1"}
    server.faults = [on("/apis/metrics.k8s.io/v1beta1", status(503, "the server is currently unable"))]
    gaps = _gaps(server)
    assert "currently unable" in gaps["podmetrics"]
    assert "verticalpodautoscalers" not in gaps


def test_kinds_that_an_installed_api_lacks_do_not_exist_and_are_no_gap() -> None:
    server = _server()
    server.faults = [on("/apis/karpenter.sh/v1", answer({"resources": [{"name": "nodepools", "verbs": ["list"]}]}))]
    reading = read(server.client(), ALL)
    assert reading.gaps == []
    assert "nodepools" in reading.spool.kinds()
    assert "nodeclaims" not in reading.spool.kinds()


def test_two_kinds_of_one_word_are_kept_apart() -> None:
    server = _server()
    server.groups = {**server.groups, "scheduling.volcano.sh": "v1beta1", "metrics.k8s.io": "v1beta1"}
    server.objects["volcanopodgroups"] = named("volcanopodgroups", "gang")
    server.objects["podmetrics"] = named("podmetrics", "p000000")
    reading = read(server.client(), ALL)
    assert (reading.spool.count("volcanopodgroups"), reading.spool.count("podmetrics")) == (1, 1)
    assert reading.spool.count("pods") == 3


def test_the_preferred_version_is_read() -> None:
    server = _server()
    server.groups = {**server.groups, "resource.k8s.io": "v1beta2"}
    server.objects["resourceslices"] = named("resourceslices", "s")
    (found,) = read(server.client(), ALL).spool.objects("resourceslices")
    assert found["apiVersion"] == "resource.k8s.io/v1beta2"


def test_who_may_not_discover_still_reads_what_every_server_has() -> None:
    server = _server()
    server.faults = [on("/apis", status(403))]
    reading = read(server.client(), ALL)
    assert reading.spool.count("pods") == 3
    assert Gap("discovery", "forbidden: only the kinds that every server has were looked for") in reading.gaps


def test_a_list_that_does_not_go_on_is_no_list() -> None:
    server = _server()
    again = {"kind": "PodList", "metadata": {"continue": "same"}, "items": pods(2)}
    server.faults = [on(PODS, answer(again))]
    assert "does not go on" in _gaps(server)["pods"]
    assert len(server.asked(PODS)) == 2


def test_a_namespace_that_is_not_there_is_named_first() -> None:
    server = _server()
    server.objects["namespaces"] = named("namespaces", "default")
    gaps = read(server.client(), Connection(namespaces=("default", "shpo"))).gaps
    assert gaps[0] == Gap("namespaces", "there is no such namespace", "shpo")
    assert not any(gap.kind == "namespaces" for gap in gaps[1:])
    server.faults = [on("/api/v1/namespaces", status(403))]
    gaps = read(server.client(), Connection(namespaces=("default", "shpo"))).gaps
    assert [gap.reason for gap in gaps if gap.kind == "namespaces"] == ["forbidden"]


def test_single_namespaces_are_marked_as_such() -> None:
    server = _server()
    server.objects["pods"] = pods(9, ("a", "b", "c"))
    reading = read(server.client(), Connection(namespaces=("a", "b")))
    assert reading.spool.count("pods") == 6
    assert reading.spool.count("nodes") == 1
    assert Gap("pods", "only of some namespaces", "a, b") in reading.gaps
    assert not server.asked(PODS)


def test_one_forbidden_namespace_costs_only_itself() -> None:
    server = _server()
    server.objects["pods"] = pods(9, ("a", "b", "c"))
    server.faults = [on("/api/v1/namespaces/b/pods", status(403))]
    reading = read(server.client(), Connection(namespaces=("a", "b")))
    assert reading.spool.count("pods") == 3
    assert Gap("pods", "forbidden", "b") in reading.gaps


def test_neither_nodes_nor_pods_is_an_error_that_says_why() -> None:
    server = _server()
    server.faults = [on("/api/v1/nodes", status(403)), on(PODS, status(403))]
    with pytest.raises(CollectError, match="nodes: forbidden; pods: forbidden") as caught:
        read(server.client(), ALL)
    assert "ksolver rbac" in caught.value.hint


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (status(401, "Unauthorized"), "credentials refused"),
        ((200, {"Content-Type": "text/html"}, b"<html>"), "login page"),
        (status(503), "server error"),
    ],
)
def test_a_server_that_cannot_be_used_is_an_error(given: Answer, word: str) -> None:
    server = _server()
    server.faults = [on("/version", given)]
    with pytest.raises(CollectError, match=word):
        read(server.client(), ALL)


def test_nothing_but_reads_is_ever_sent() -> None:
    server = _server(1777)
    server.faults = [
        once(on(PODS, status(410), lambda r: bool(r.query.get("continue")))),
        on("/api/v1/services", status(403)),
    ]
    read(server.client(), ALL)
    read(server.client(), Connection(namespaces=("default",)))
    server.client().review({"verb": "list", "resource": "pods"})
    sent = {(request.method, request.path) for request in server.requests if request.method != "GET"}
    assert sent == {("POST", REVIEWS)}
    watched = [request for request in server.requests if "watch" in request.query or "/watch/" in request.path]
    assert watched == []


def test_unicode_and_odd_names_come_through() -> None:
    server = _server()
    server.objects["nodes"] = [{"metadata": {"name": "knoten-ü", "labels": {}}}, {"metadata": {"name": "n2"}}]
    names = [node["metadata"]["name"] for node in read(server.client(), ALL).spool.objects("nodes")]
    assert names == ["knoten-ü", "n2"]


def test_a_kind_that_takes_too_long_is_a_gap_and_the_others_are_read() -> None:
    server = _server(1777)

    def slow(request: Request) -> Answer | None:
        if request.path == PODS and request.query.get("continue"):
            time.sleep(0.4)
        return None

    server.faults = [slow]
    reading = read(server.client(), Connection(kind_seconds=0.3))
    assert {gap.kind: gap.reason for gap in reading.gaps} == {"pods": "no answer in time"}
    assert reading.spool.count("nodes") == 1
    assert "services" in reading.spool.kinds()


def test_pauses_never_outlast_the_time_a_kind_has() -> None:
    server, pauses = _server(), list[float]()
    server.faults = [on(PODS, status(429, "slow down", **{"Retry-After": "20"}))]
    reading = read(server.client(pauses=pauses), Connection(kind_seconds=10.0))
    assert pauses == []
    assert "slow down" in {gap.kind: gap.reason for gap in reading.gaps}["pods"]


def test_a_redirect_is_not_followed_with_our_credentials() -> None:
    server = _server()
    server.faults = [on(PODS, (302, {"Location": "https://login.test/"}, b""))]
    reading = read(server.client(), ALL)
    assert "302" in {gap.kind: gap.reason for gap in reading.gaps}["pods"]
    assert "login page" in {gap.kind: gap.reason for gap in reading.gaps}["pods"]
