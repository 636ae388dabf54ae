"""The simulator's protocol, spoken to a server that lives in the test."""

import json
from collections.abc import Callable

import httpx
import pytest

from ksolver_cli.collect.schedulers.exchange import Answer, Question, Said
from ksolver_cli.collect.schedulers.simulator import Simulator, SimulatorOptions
from tests.unit.conform.samples import Json, node, pod

NOTES = "kube-scheduler-simulator.sigs.k8s.io/"
CONFIG = {"profiles": [{"schedulerName": "simulated"}]}


class Server:
    """Keeps what is imported; `decide` makes the pod that the export shows of the one imported."""

    def __init__(self, decide: Callable[[Json], Json | None], reset_status: int = 202) -> None:
        self.decide = decide
        self.reset_status = reset_status
        self.state: Json = {"pods": [{"metadata": {"name": "left over"}}], "nodes": []}
        self.calls: list[str] = []
        self.imported: Json = {}
        self.exports_until_empty = 2
        self.trouble: list[int | Exception] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        call = f"{request.method} {request.url.path}"
        self.calls.append(call)
        if self.trouble:
            trouble = self.trouble.pop(0)
            if isinstance(trouble, Exception):
                raise trouble
            return httpx.Response(trouble)
        return {
            "PUT /api/v1/reset": self.reset,
            "GET /api/v1/export": self.export,
            "POST /api/v1/import": lambda: self.take(json.loads(request.content)),
        }[call]()

    def reset(self) -> httpx.Response:
        return httpx.Response(self.reset_status)

    def export(self) -> httpx.Response:
        self.exports_until_empty -= 1
        if not self.imported and self.exports_until_empty <= 0:
            self.state = {"pods": [], "nodes": []}
        return httpx.Response(200, json={**self.state, "schedulerConfig": CONFIG})

    def take(self, body: Json) -> httpx.Response:
        assert not self.state["pods"], "it must be empty first"
        self.imported = body
        shown = self.decide(json.loads(json.dumps(body["pods"][0])))
        self.state = {"pods": [shown] if shown else [], "nodes": body["nodes"]}
        return httpx.Response(200)


def asked(server: Server, question: Question | None = None, seconds: float = 0.3) -> Answer:
    options = SimulatorOptions("http://sim.example/", seconds, settle_seconds=0.05, poll_seconds=0.01)
    pauses: list[float] = []
    with Simulator(options, transport=httpx.MockTransport(server), pause=pauses.append) as simulator:
        return simulator.ask(question or clean())


def clean(**spec: object) -> Question:
    raw_node, raw_pod = node("a"), pod("p", **spec)
    for raw in (raw_node, raw_pod):
        raw["metadata"] = {key: raw["metadata"][key] for key in ("name", "namespace") if key in raw["metadata"]}
    del raw_pod["status"]
    return Question(raw_node, raw_pod, {"namespaces": ({"metadata": {"name": "shop"}},)})


def bound(shown: Json) -> Json:
    return {**shown, "spec": {**shown["spec"], "nodeName": "a"}}


def refused(shown: Json, reason: str = "Unschedulable", message: str = "0/1 nodes are available: 1 no.") -> Json:
    condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
    return {**shown, "status": {"conditions": [condition]}}


def annotated(shown: Json, name: str, value: object) -> Json:
    text = value if isinstance(value, str) else json.dumps(value)
    return {**shown, "metadata": {**shown["metadata"], "annotations": {NOTES + name: text}}}


@pytest.mark.parametrize("status", [200, 202])
def test_a_bound_pod_passed_filter(status: int) -> None:
    server = Server(bound, status)
    assert asked(server) == Answer(Said.PASS)
    assert server.calls[0] == "PUT /api/v1/reset"
    assert server.calls.index("POST /api/v1/import") > server.calls.index("GET /api/v1/export")


def test_the_import_holds_the_question_and_nothing_else() -> None:
    server = Server(bound)
    asked(server)
    keys = {"pods", "nodes", "pvs", "pvcs", "storageClasses", "priorityClasses", "namespaces", "schedulerConfig"}
    assert set(server.imported) == keys
    assert [n["metadata"]["name"] for n in server.imported["nodes"]] == ["a"]
    (sent,) = server.imported["pods"]
    assert sent["spec"]["schedulerName"] == "simulated"
    assert server.imported["schedulerConfig"] == CONFIG
    assert list(server.imported).index("priorityClasses") < list(server.imported).index("pods")


def test_an_unschedulable_pod_did_not_pass() -> None:
    assert asked(Server(refused)) == Answer(Said.FAIL, "0/1 nodes are available: 1 no.")


def test_the_reason_is_the_plugin_s_where_the_simulator_noted_it() -> None:
    results = {"a": {"NodeName": "passed", "TaintToleration": "node(s) had untolerated taint(s)"}}
    server = Server(lambda shown: annotated(refused(shown), "filter-result", results))
    assert asked(server) == Answer(Said.FAIL, "TaintToleration: node(s) had untolerated taint(s)")


@pytest.mark.parametrize(
    "decide",
    [
        lambda shown: shown,
        lambda shown: None,
        lambda shown: refused(shown, "SchedulerError"),
        lambda shown: refused(shown, message="no nodes available to schedule pods"),
        lambda shown: {**shown, "spec": {**shown["spec"], "nodeName": "elsewhere"}},
        lambda shown: annotated(shown, "filter-result", "{not json"),
    ],
)
def test_anything_else_is_no_answer(decide: Callable[[Json], Json | None]) -> None:
    answer = asked(Server(decide))
    assert answer.said is Said.NO_ANSWER
    assert answer.reason


def test_a_recorded_filter_phase_counts_though_the_pod_was_never_bound() -> None:
    passed = Server(lambda shown: annotated(shown, "filter-result", {"a": {"NodeName": "passed"}}))
    assert asked(passed).said is Said.PASS


def test_a_refusal_that_may_be_too_early_must_stand() -> None:
    server = Server(refused)
    seen: list[int] = []

    def later(request: httpx.Request) -> httpx.Response:
        if server.imported and request.method == "GET":
            seen.append(1)
            if len(seen) == 2:
                server.state["pods"] = [bound(server.imported["pods"][0])]
        return server(request)

    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    assert asked(later, clean(volumes=volumes)).said is Said.PASS  # type: ignore[arg-type]  # it is called alike


@pytest.mark.parametrize("trouble", [500, httpx.ConnectError("refused"), httpx.ReadTimeout("slow")])
def test_a_failed_call_is_tried_again(trouble: int | Exception) -> None:
    server = Server(bound)
    server.trouble = [trouble, trouble]
    assert asked(server).said is Said.PASS


@pytest.mark.parametrize("trouble", [500, httpx.ConnectError("refused")])
def test_a_call_that_keeps_failing_is_no_answer_and_says_which(trouble: int | Exception) -> None:
    server = Server(bound)
    server.trouble = [trouble] * 3
    answer = asked(server)
    assert answer.said is Said.NO_ANSWER
    assert "PUT /api/v1/reset" in answer.reason
    assert len(server.calls) == 3


def test_a_simulator_that_is_gone_costs_one_attempt_a_pair_in_the_end() -> None:
    server = Server(bound)
    server.trouble = [httpx.ConnectError("refused")] * 50
    with Simulator(
        SimulatorOptions("http://sim.example"), transport=httpx.MockTransport(server), pause=lambda seconds: None
    ) as simulator:
        assert all(simulator.ask(clean()).said is Said.NO_ANSWER for _ in range(6))
    assert len(server.calls) == 3 * 3 + 3


def test_the_url_may_hold_the_path_of_the_api() -> None:
    server = Server(bound)
    options = SimulatorOptions("http://sim.example/api/v1/", settle_seconds=0)
    with Simulator(options, transport=httpx.MockTransport(server), pause=lambda seconds: None) as simulator:
        assert simulator.ask(clean()).said is Said.PASS


def test_what_the_import_cannot_carry_is_left_out_for_both_sides() -> None:
    question = Question(node("a"), pod("p"), {"csinodes": ({},), "namespaces": ({},), "resourceslices": ({},)})
    with Simulator(SimulatorOptions("http://sim.example")) as simulator:
        assert set(simulator.prepare(question).beside) == {"namespaces"}
