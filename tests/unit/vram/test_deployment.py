"""The CronJob's manifest: options that exist, rights to list and no more, and no secret in sight."""

import yaml
from typer.testing import CliRunner

from tests.paths import ROOT
from tests.unit.vram.test_cli_observe import app

OBJECTS = [*yaml.safe_load_all((ROOT / "deploy" / "vram-observe-cronjob.yaml").read_text())]


def the(kind: str) -> dict[str, dict[str, object]]:
    (found,) = [entry for entry in OBJECTS if entry["kind"] == kind]
    return found


def container() -> dict[str, list[object]]:
    return the("CronJob")["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]  # type: ignore[index]


def test_every_option_exists() -> None:
    text = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "300", "TERM": "dumb"}).output
    options = [str(argument).partition("=")[0] for argument in container()["args"]]
    assert options
    assert all(option in text for option in options)


def test_the_role_may_only_list() -> None:
    rules = the("ClusterRole")["rules"]
    assert {verb for rule in rules for verb in rule["verbs"]} == {"list"}  # type: ignore[index]
    resources = {resource for rule in rules for resource in rule["resources"]}  # type: ignore[index]
    assert resources == {"pods", "nodes", "replicasets", "jobs"}


def test_no_secret_is_written_down() -> None:
    assert not any(entry["kind"] == "Secret" for entry in OBJECTS)
    assert not any("token" in str(argument) for argument in container()["args"])
    (token,) = [entry for entry in container()["env"] if entry["name"].endswith("TOKEN")]  # type: ignore[index]
    assert set(token) == {"name", "valueFrom"}  # type: ignore[arg-type]


def test_the_pod_keeps_to_itself() -> None:
    security = container()["securityContext"]
    assert security["readOnlyRootFilesystem"] is True  # type: ignore[call-overload]
    assert security["allowPrivilegeEscalation"] is False  # type: ignore[call-overload]
    mounts = {mount["mountPath"] for mount in container()["volumeMounts"]}  # type: ignore[index]
    assert any(str(argument).startswith("--store=/var/lib/ksolver/") for argument in container()["args"])
    assert mounts == {"/var/lib/ksolver"}
