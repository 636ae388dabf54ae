"""What is deployed: a small image that is not root, manifests that fit it, rights that are the printed ones."""

import re
import tomllib
from typing import Any

import pytest
import yaml

from ksolver_cli import __version__
from ksolver_cli.collect.rights import VERBS, Scope, manifests
from tests.paths import ROOT
from tools import snapshot_reference

DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def _instructions() -> list[tuple[str, str]]:
    joined = re.sub(r"\\\n\s*", " ", DOCKERFILE)
    lines = (line.strip() for line in joined.splitlines())
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in lines if line and not line.startswith("#")]


def _documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((DEPLOY / name).read_text()))


def test_the_image_is_built_in_one_stage_and_run_in_another() -> None:
    stages = [argument for word, argument in _instructions() if word == "FROM"]
    assert len(stages) == 2
    for stage in stages:
        assert re.fullmatch(r"python:3\.\d+-slim(?: AS \w+)?", stage)
    lowest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert all(f"python:{lowest}-slim" in stage for stage in stages)
    last = _instructions()[max(i for i, (word, _) in enumerate(_instructions()) if word == "FROM") :]
    assert [argument for word, argument in last if word == "COPY"] == ["--from=build /opt/ksolver /opt/ksolver"]
    assert not any(word == "RUN" for word, _ in last)


def test_the_image_does_not_run_as_root() -> None:
    users = [argument for word, argument in _instructions() if word == "USER"]
    assert users
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", users[-1])


def test_the_image_starts_the_command_and_holds_no_secret() -> None:
    entry = [argument for word, argument in _instructions() if word == "ENTRYPOINT"]
    assert entry == ['["ksolver"]']
    assert "ksolver" in PROJECT["project"]["scripts"]
    assert not any(word in ("ADD", "ARG") for word, _ in _instructions())
    assert not re.search(r"token|password|secret", DOCKERFILE, re.IGNORECASE)
    installs = [argument for word, argument in _instructions() if word == "RUN"]
    assert all("--no-cache-dir" in line and "-c constraints.txt" in line for line in installs if "pip install" in line)


def test_what_the_image_copies_is_there_and_let_through() -> None:
    let_through = {line[1:] for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines() if line[0] == "!"}
    copied: set[str] = set()
    for word, argument in _instructions():
        if word == "COPY" and "--from" not in argument:
            copied |= set(argument.split()[:-1])
    assert copied == let_through
    assert all((ROOT / name).exists() for name in copied)
    sources = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert all(source.split("/")[0] in copied for source in sources)


@pytest.mark.parametrize("name", ["snapshot-job.yaml", "snapshot-cronjob.yaml"])
def test_the_pod_is_restricted_and_starts_this_version(name: str) -> None:
    (document,) = _documents(name)
    spec = document["spec"]["jobTemplate"]["spec"] if document["kind"] == "CronJob" else document["spec"]
    pod = spec["template"]["spec"]
    user = re.search(r"^USER (\d+):", DOCKERFILE, re.MULTILINE)
    assert user is not None
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == int(user[1])
    (container,) = pod["containers"]
    assert container["image"] == f"ksolver:{__version__}"
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    mounts = [mount["mountPath"] for mount in container["volumeMounts"]]
    out = container["args"][container["args"].index("--out") + 1]
    assert any(out.startswith(f"{mount}/") for mount in mounts)
    assert not any("token" in argument for argument in container["args"])


def test_the_rights_are_the_printed_ones_and_only_reads() -> None:
    assert _documents("rbac.yaml") == manifests(Scope())
    accounts = [d["metadata"] for d in _documents("base.yaml") if d["kind"] == "ServiceAccount"]
    assert [(a["namespace"], a["name"]) for a in accounts] == [(Scope().service_namespace, Scope().service_account)]


@pytest.mark.parametrize("scope", [Scope(), Scope(namespaces=("a", "b")), Scope(prometheus_proxy=True)])
def test_no_role_grants_more_than_reading(scope: Scope) -> None:
    rules: list[Any] = [rule for entry in manifests(scope) for rule in entry.get("rules", [])]  # type: ignore[attr-defined]
    assert rules
    for rule in rules:
        assert set(rule["verbs"]) <= set(VERBS) == {"get", "list"}
        assert not {"secrets", "configmaps", "*"} & set(rule["resources"])
        assert "*" not in rule["apiGroups"]


def test_the_snapshot_page_lists_the_allow_list() -> None:
    assert snapshot_reference.main(["--check"]) == 0, "run python -m tools.snapshot_reference"
