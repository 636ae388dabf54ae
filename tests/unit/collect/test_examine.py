"""What doctor finds, and what it says to do about it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ksolver_cli.collect import examine as module
from ksolver_cli.collect.access.settings import Access, Connection, Trust
from ksolver_cli.collect.api.client import REVIEWS, ApiClient
from ksolver_cli.collect.examine import Check, State, examine
from ksolver_cli.collect.usage.gather import UsageRequest
from tests.unit.collect.apiserver import Answer, ApiServer, Request, answer, on, status


def _examined(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch, connection: Connection | None = None, **access: Any
) -> Mapping[str, Check]:
    found = Access("https://api.test", "c", server.client().access.credentials, **access)
    monkeypatch.setattr(module, "find_access", lambda asked: found)
    monkeypatch.setattr(
        module,
        "ApiClient",
        lambda access, seconds: ApiClient(access, seconds=seconds, pause=lambda s: None, transport=server.transport()),
    )
    return {check.name: check for check in examine(connection or Connection(), UsageRequest())}


def _denying(*denied: tuple[str, str]) -> ApiServer:
    def review(request: Request) -> Answer | None:
        if request.path != REVIEWS:
            return None
        asked = json.loads(request.body)["spec"]["resourceAttributes"]
        return answer({"status": {"allowed": (asked["resource"], asked.get("namespace", "")) not in denied}})

    return ApiServer(faults=[review])


def test_all_is_well(monkeypatch: pytest.MonkeyPatch) -> None:
    checks = _examined(ApiServer(), monkeypatch)
    assert {name for name, check in checks.items() if check.state is State.OK} == {
        *("configuration", "reach", "version", "rights", "add-ons"),
    }
    assert checks["usage"].state is State.NOTE
    assert all(check.fix for check in checks.values() if check.state is not State.OK)


def test_missing_rights_weigh_by_what_they_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    minor = _examined(_denying(("services", "")), monkeypatch)["rights"]
    assert (minor.state, "services" in minor.found) == (State.NOTE, True)
    major = _examined(_denying(("nodes", ""), ("pods", "")), monkeypatch)["rights"]
    assert major.state is State.BAD
    assert "ksolver rbac | kubectl apply -f -" in major.fix


def test_rights_are_asked_for_each_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    checks = _examined(_denying(("pods", "b")), monkeypatch, Connection(namespaces=("a", "b")))
    assert checks["rights"].found == "may not be listed: pods in b"
    assert "ksolver rbac -n a -n b" in checks["rights"].fix


@pytest.mark.parametrize(
    ("version", "state"),
    [
        ("v1.36.3", State.OK),
        ("v1.25.16-gke.1", State.OK),
        ("v1.20.1", State.NOTE),
        ("v1.99.0", State.NOTE),
        ("x", State.NOTE),
    ],
)
def test_versions(version: str, state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _examined(ApiServer(version=version), monkeypatch)["version"].state is state


def test_an_unchecked_certificate_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _examined(ApiServer(), monkeypatch, trust=Trust(insecure=True))["trust"].state is State.NOTE


@pytest.mark.parametrize(("code", "word"), [(401, "credentials refused"), (503, "server error")])
def test_an_unusable_server_ends_the_checks(code: int, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    checks = _examined(ApiServer(faults=[on("/version", status(code))]), monkeypatch)
    assert checks["reach"].state is State.BAD
    assert word in checks["reach"].found
    assert "rights" not in checks


def test_apis_that_are_down_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    server = ApiServer(faults=[on("/apis/metrics.k8s.io/v1beta1", status(503, "unavailable"))])
    server.groups = {**server.groups, "metrics.k8s.io": "v1beta1"}
    assert "unavailable" in _examined(server, monkeypatch)["discovery"].found


def test_no_kubeconfig_is_the_only_finding(tmp_path: Path) -> None:
    (check,) = examine(Connection(kubeconfig=str(tmp_path / "gone")), UsageRequest())
    assert (check.name, check.state) == ("configuration", State.BAD)
