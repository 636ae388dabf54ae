"""A disposable control plane as a source of verdicts: which are refused, what is left behind, what is not reached."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from typer.testing import CliRunner, Result

from ksolver_cli.cli.main import app
from ksolver_cli.collect.access.credentials import TokenFile
from ksolver_cli.collect.access.settings import Access, Credentials
from ksolver_cli.collect.schedulers.exchange import SchedulerUnusableError
from ksolver_cli.collect.schedulers.scratch_api import ScratchApi
from ksolver_cli.collect.schedulers.scratch_cluster import ScratchCluster, ScratchOptions
from ksolver_cli.collect.schedulers.scratch_world import MARK
from ksolver_cli.conform.choose import Choice, Pods
from ksolver_cli.conform.facts import Gate
from ksolver_cli.conform.run import Options, compare
from tests.unit.collect.apiserver import ApiServer, Request, status
from tests.unit.collect.sockets import serve
from tests.unit.conform.samples import Json, node, pod, snapshot

Trouble = Callable[[httpx.Request], httpx.Response | None]


class ControlPlane:
    """Keeps objects by path; its scheduler binds every pod to the one node there is."""

    def __init__(self, trouble: Trouble = lambda request: None) -> None:
        self.objects: dict[str, Json] = {}
        self.sent: list[tuple[str, str]] = []
        self.trouble = trouble

    def handle(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        self.sent.append((request.method, path))
        given = self.trouble(request)
        if given is not None:
            return given
        if path == "/version":
            return httpx.Response(200, json={"gitVersion": "v1.36.3"})
        answer = getattr(self, request.method.lower())(path, json.loads(request.content or b"null"))
        return (
            httpx.Response(404, json={"message": "not found"}) if answer is None else httpx.Response(200, json=answer)
        )

    def post(self, path: str, body: Json) -> Json:
        name = body["metadata"]["name"]
        if path.endswith("/pods"):
            nodes = [key for key in self.objects if key.startswith("/api/v1/nodes/")]
            body["spec"]["nodeName"] = nodes[0].rsplit("/", 1)[1] if nodes else ""
        self.objects[f"{path}/{name}"] = body
        return body

    def get(self, path: str, _: object) -> Json | None:
        if path in self.objects:
            return self.objects[path]
        plural = path.rsplit("/", 1)[1]
        items = [raw for key, raw in self.objects.items() if key.split("/")[-2] == plural]
        return {"items": items}

    def patch(self, path: str, _: object) -> Json | None:
        return self.objects.get(path.removesuffix("/status"))

    def delete(self, path: str, _: object) -> Json | None:
        return self.objects.pop(path, None)

    @contextmanager
    def asked(self, credentials: Credentials | None = None) -> Iterator[ScratchCluster]:
        access = Access("http://plane.test", "plane", credentials or _Nobody())
        api = ScratchApi(access, httpx.Client(transport=httpx.MockTransport(self.handle)), lambda seconds: None)
        with ScratchCluster(ScratchOptions(Path("kubeconfig"), seconds=1), pause=lambda seconds: None, api=api) as it:
            yield it


class _Nobody:
    def header(self) -> str | None:
        return None

    def key_pair(self) -> None:
        return None

    def renew(self) -> bool:
        return False


EVERYTHING = Options(Choice(Pods.ALL, 0), strict_all=True)
TWO = snapshot([node("a"), node("b")], [pod("p"), pod("q")])


def test_what_was_made_is_taken_back() -> None:
    plane = ControlPlane()
    with plane.asked() as scheduler:
        found = compare(TWO, scheduler, EVERYTHING)
    assert (found.strict.answered, found.gate) == (4, Gate.PASS)
    assert [path for path in plane.objects if "/serviceaccounts/" not in path] == []


def test_what_a_killed_run_left_is_cleared_and_nothing_else() -> None:
    plane = ControlPlane()
    left = {"metadata": {"name": "left", "namespace": "ksolver-conform-1", "annotations": {MARK: "scratch"}}}
    plane.objects["/api/v1/nodes/left"] = plane.objects["/api/v1/namespaces/ksolver-conform-1/pods/left"] = left
    plane.objects["/apis/storage.k8s.io/v1/storageclasses/mine"] = {"metadata": {"name": "mine"}}
    with plane.asked():
        assert not any("left" in path for path in plane.objects)
    assert "/apis/storage.k8s.io/v1/storageclasses/mine" in plane.objects


@pytest.mark.parametrize("path", ["/api/v1/nodes/mine", "/api/v1/namespaces/default/pods/mine"])
def test_a_cluster_in_use_is_refused_before_anything_is_changed(path: str) -> None:
    plane = ControlPlane()
    plane.objects[path] = {"metadata": {"name": "mine", "namespace": "default"}}
    plane.objects["/api/v1/nodes/left"] = {"metadata": {"name": "left", "annotations": {MARK: "scratch"}}}
    with pytest.raises(SchedulerUnusableError, match=r"of its own \(mine\)"), plane.asked():
        pass
    assert {method for method, _ in plane.sent} == {"GET"}


@pytest.mark.parametrize("name", ["../namespaces/default", "..", "a/b", "a?dryRun=All", "ä #1"])
def test_a_name_reaches_no_other_object(name: str) -> None:
    def refuse(request: httpx.Request) -> httpx.Response | None:
        return httpx.Response(422, json={"message": "bad name"}) if request.url.path == "/api/v1/nodes" else None

    plane = ControlPlane(lambda r: refuse(r) if r.method == "POST" else None)
    with plane.asked() as scheduler:
        found = compare(snapshot([node(name)], [pod("p")]), scheduler, EVERYTHING)
    assert (found.gate, found.strict.answered) == (Gate.EMPTY, 0)
    assert "bad name" in found.strict.mismatches[0].theirs.reason
    touched = {path for method, path in plane.sent if method not in ("GET", "POST")}
    assert all(unquote(path).startswith("/api/v1/namespaces/ksolver-conform-") for path in touched)


@pytest.mark.parametrize("code", [429, 500, 503])
def test_what_passes_by_itself_is_tried_again(code: int) -> None:
    seen: list[str] = []

    def once(request: httpx.Request) -> httpx.Response | None:
        seen.append(request.url.path)
        return httpx.Response(code) if seen.count(request.url.path) == 1 else None

    with ControlPlane(once).asked() as scheduler:
        assert compare(TWO, scheduler, EVERYTHING).gate is Gate.PASS


@pytest.mark.parametrize(("times", "gate"), [(1, Gate.PASS), (2, Gate.EMPTY)])
def test_a_pod_that_something_took_away_is_asked_about_once_more(times: int, gate: Gate) -> None:
    taken: list[str] = []

    def take(request: httpx.Request) -> httpx.Response | None:
        path = request.url.path
        if request.method != "GET" or not path.endswith("/pods/p") or len(taken) == times:
            return None
        taken.append(path)
        return httpx.Response(404, json={"message": "pod not found"})

    plane = ControlPlane(take)
    with plane.asked() as scheduler:
        found = compare(snapshot([node("a")], [pod("p")]), scheduler, EVERYTHING)
    assert (found.gate, len(taken)) == (gate, times)


def test_an_answer_that_is_no_json_is_no_answer() -> None:
    def page(request: httpx.Request) -> httpx.Response | None:
        login = request.method == "POST" and request.url.path.endswith("/pods")
        return httpx.Response(200, text="<html>") if login else None

    with ControlPlane(page).asked() as scheduler:
        found = compare(TWO, scheduler, EVERYTHING)
    assert found.gate is Gate.EMPTY
    assert all("no JSON object" in pair.theirs.reason for pair in found.strict.mismatches)


def test_credentials_that_expire_on_the_way_are_renewed(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("old")
    token = TokenFile(tmp_path / "token")

    def guard(request: httpx.Request) -> httpx.Response | None:
        (tmp_path / "token").write_text("new" if request.method == "POST" else "old")
        wanted = "Bearer new" if request.method == "POST" else request.headers["Authorization"]
        return None if request.headers["Authorization"] == wanted else httpx.Response(401)

    with ControlPlane(guard).asked(token) as scheduler:
        assert compare(TWO, scheduler, EVERYTHING).gate is Gate.PASS


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pause between attempts."""
    monkeypatch.setattr("ksolver_cli.collect.schedulers.scratch_api._PAUSE_SECONDS", 0.001)


def _conform(kubeconfig: Path) -> Result:
    return CliRunner().invoke(
        app, ["conform", "--demo", "--scheduler", "cluster", "--scheduler-kubeconfig", str(kubeconfig)]
    )


def _config(**cluster: Any) -> str:
    body = {"server": "https://127.0.0.1:9", **cluster}
    contexts = [{"name": "x", "context": {"cluster": "c"}}]
    return json.dumps({"current-context": "x", "clusters": [{"name": "c", "cluster": body}], "contexts": contexts})


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("bad: [", "not valid YAML"),
        ("- a", "is not a kubeconfig"),
        ("clusters: 3", "clusters is not a list"),
        ("current-context: x", "there is no context x"),
        ("", "no current-context"),
        (_config(server="ftp://x"), "no usable server"),
        (_config(**{"certificate-authority-data": "bm90IGEgY2VydA=="}), "not a PEM certificate"),
        (_config(**{"certificate-authority-data": "%"}), "is not base64"),
        (_config(**{"certificate-authority": "gone.crt"}), "No such file"),
        (_config(**{"proxy-url": "socks5://127.0.0.1:1"}), "proxy"),
        (_config(server="http://127.0.0.1:9"), "GET /version"),
    ],
)
def test_a_kubeconfig_that_leads_nowhere_is_said_in_two_lines(text: str, word: str, tmp_path: Path) -> None:
    (tmp_path / "kubeconfig").write_text(text)
    done = _conform(tmp_path / "kubeconfig")
    assert (done.exit_code, done.stdout) == (3, "")
    assert len(done.stderr.splitlines()) == 2, done.stderr
    assert word in done.stderr
    assert " --kubeconfig" not in done.stderr


def test_a_server_that_refuses_or_shows_a_login_page_is_said(tmp_path: Path) -> None:
    html = (200, {"Content-Type": "text/html"}, b"<html>log in</html>")
    for given, word in ((status(403, "not for you"), "not for you"), (html, "no JSON object")):
        server = ApiServer(faults=[lambda request, given=given: _on_nodes(request, given)])
        with serve(server) as url:
            (tmp_path / "kubeconfig").write_text(_config(server=url))
            done = _conform(tmp_path / "kubeconfig")
        assert (done.exit_code, done.stdout) == (3, "")
        assert word in done.stderr
        assert {request.method for request in server.requests} == {"GET"}


def _on_nodes(request: Request, given: Any) -> Any:
    return given if request.path == "/api/v1/nodes" else None
