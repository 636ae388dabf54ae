"""No canary of a hostile cluster gets into a file, and what matched before still matches."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ksolver_cli.domain.gpu_workload.fingerprint import fingerprint
from ksolver_cli.domain.gpu_workload.hints import sniff
from ksolver_cli.domain.gpu_workload.kept import kept_hints
from ksolver_cli.snapshot.kinds import KINDS
from ksolver_cli.snapshot.naming.known import has_public_value, is_known
from ksolver_cli.snapshot.naming.publish import Document, Draft, anonymized, redacted
from ksolver_cli.snapshot.naming.selected import looks_secret
from ksolver_cli.snapshot.prune import prune
from ksolver_cli.snapshot.shape.table import OBJECTS
from ksolver_cli.snapshot.spool import Spool
from ksolver_cli.snapshot.write import encode_document
from tests.paths import ROOT
from tests.unit.snapshot.hostile import CANARY, TOKEN, objects

PLURALS = tuple(kind.plural for kind in KINDS)
CLUSTER_SCOPED = frozenset(kind.plural for kind in KINDS if not kind.namespaced)


def _draft(found: dict[str, list[dict[str, Any]]]) -> Draft:
    spool = Spool()
    for plural, items in found.items():
        spool.begin(plural)
        spool.add(plural, [prune(plural, item) for item in items])
    return Draft(spool)


def _text(document: Document) -> str:
    return b"".join(encode_document(document)).decode()


def _strings(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, entry in value.items():
            yield f"{path}.{key} (key)", str(key)
            yield from _strings(entry, f"{path}.{key}")
    elif isinstance(value, list):
        for entry in value:
            yield from _strings(entry, f"{path}[]")
    elif isinstance(value, str):
        yield path, value


def test_every_kind_has_a_shape() -> None:
    assert set(OBJECTS) == set(PLURALS)


@pytest.mark.parametrize("make", [redacted, anonymized])
def test_no_canary_gets_into_a_file(make: Any) -> None:
    hostile = objects(PLURALS, CLUSTER_SCOPED)
    assert all(CANARY in json.dumps(items) for items in hostile.values())
    document = json.loads(_text(make(_draft(hostile))))
    assert [(path, text) for path, text in _strings(document) if CANARY in text] == []
    assert {plural: len(items) for plural, items in document["objects"].items()} == dict.fromkeys(PLURALS, 1)


def test_a_token_that_is_selected_by_is_replaced_and_still_matches() -> None:
    document = redacted(_draft(objects(PLURALS, CLUSTER_SCOPED)))
    (deployment,) = document.objects("deployments")
    selector = deployment["spec"]["selector"]["matchLabels"]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert selector["session"] == labels["session"] != TOKEN
    assert selector["app"] == labels["app"] == "web"


def test_labels_that_nobody_looks_at_go_and_known_ones_stay() -> None:
    labels = {"kubernetes.io/arch": "arm64", "team": "payments", "pool": "x", "acme.example/cost": "7"}
    node = {"metadata": {"name": "n", "labels": labels}}
    pod = {"metadata": {"name": "p", "namespace": "d"}, "spec": {"nodeSelector": {"pool": "x"}}}
    draft = _draft({"nodes": [node], "pods": [pod]})
    (kept,) = redacted(draft).objects("nodes")
    assert kept["metadata"]["labels"] == {"kubernetes.io/arch": "arm64", "pool": "x"}
    (asked,) = redacted(draft, ["team", "acme.example/*"]).objects("nodes")
    assert asked["metadata"]["labels"] == labels


@pytest.mark.parametrize(
    ("key", "value", "secret"),
    [
        ("app", "web", False),
        ("version", "v1.2.3-rc1", False),
        ("app", "checkout-service-frontend-eu-west", False),
        ("kubernetes.io/hostname", "ip-10-0-0-1.ec2.internal", False),
        ("controller-uid", "7b8c1a52-3f57-4f0e-9a5d-0f6f2d0c7e11", False),
        ("api-token", "web", True),
        ("session", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", True),
        ("ci", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", True),
        ("aws", "AKIAIOSFODNN7EXAMPLE", True),
        ("x", "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5", True),
    ],
)
def test_what_looks_like_a_credential(key: str, value: str, secret: bool) -> None:
    assert looks_secret(key, value) is secret


def test_facts_of_gpu_memory_are_taken_before_the_command_line_goes() -> None:
    container = {
        "name": "train",
        "image": "trainer:1",
        "command": ["python", "train.py"],
        "args": ["--bs", "8", "--model", f"/models/{CANARY}"],
        "env": [{"name": "HF_TOKEN", "value": CANARY}],
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
    }
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [container]}}
    kept = prune("pods", pod)
    assert fingerprint(kept) == fingerprint(pod)
    assert kept_hints(kept).numbers == sniff(pod).numbers == {"batch_size": 8.0}
    assert CANARY not in json.dumps(kept)
    template = prune("jobs", {"metadata": {"name": "j"}, "spec": {"template": pod}})["spec"]["template"]
    assert fingerprint(template) == fingerprint(pod)


_KEYS = ["spec", "status", "metadata", "labels", "containers", "template", "volumes", "name", "conditions", "x", CANARY]
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(CANARY),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=4),
    max_leaves=25,
)


@given(st.sampled_from(PLURALS), st.dictionaries(st.sampled_from(_KEYS), _JSON, max_size=6))
def test_pruning_survives_any_shape_and_twice_is_once(plural: str, raw: dict[str, Any]) -> None:
    once = prune(plural, raw)
    assert prune(plural, once) == once


def test_wrong_types_stay_wrong_but_say_nothing() -> None:
    kept = prune("pods", {"metadata": {"name": "p", "labels": CANARY}, "spec": CANARY, "status": [CANARY]})
    assert CANARY not in json.dumps(kept)
    assert not isinstance(kept["spec"], dict)
    assert not isinstance(kept["status"], dict)


def test_labels_that_pricing_reads_are_known_with_their_values() -> None:
    spelled = re.compile(r'"([a-z0-9.-]+\.[a-z]+/[A-Za-z0-9._-]+)"')
    read = {
        key
        for file in ("locate.py", "gpus.py")
        for key in spelled.findall((ROOT / "ksolver_cli/catalog" / file).read_text(encoding="utf-8"))
    }
    named = {"kops.k8s.io/instancegroup", "doks.digitalocean.com/node-pool", "node.openshift.io/machine-set"}
    assert len(read) > 10
    assert {key for key in read if not is_known(key)} == set()
    assert {key for key in read if not has_public_value(key)} <= named | {key for key in read if key.endswith("-")}
