"""An anonymous file gives the same answers as the cluster it was made from, but for names."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ksolver_cli.domain.plan import Limits
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.pipeline import Request, Watch, analyze
from ksolver_cli.render.json_report import to_json
from ksolver_cli.snapshot.model import Snapshot
from ksolver_cli.snapshot.naming.publish import Document, Draft, anonymized, redacted
from ksolver_cli.snapshot.read import read_snapshot
from ksolver_cli.snapshot.spool import Spool
from ksolver_cli.snapshot.write import encode_document, write_file
from tests.paths import DATA, ROOT

SAMPLES = ("two-idle-nodes", "pdb-allows-none", "anti-affinity-three", "zonal-volumes", "gpu-fleet", "mixed-prices")


def _sample(name: str) -> Snapshot:
    return read_snapshot([ROOT / "snapshots" / name / "snapshot.json"])


def _draft(snapshot: Snapshot) -> Draft:
    spool = Spool()
    for plural, items in snapshot.objects.items():
        spool.begin(plural)
        spool.add(plural, items)
    return Draft(spool, snapshot.gaps, snapshot.server_version, snapshot.cluster_name, snapshot.collected_at)


def _again(document: Document, folder: Path) -> Snapshot:
    write_file(encode_document(document), folder / "again.json")
    return read_snapshot([folder / "again.json"])


def _report(snapshot: Snapshot) -> dict[str, Any]:
    found = analyze(snapshot, Request(limits=Limits(0, 1, 60.0, 0.1)), Watch())
    report: dict[str, Any] = json.loads(to_json(found))
    return report


def _unmapped(report: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    back = {other: name for name, other in names.items()}
    token = r"(?:vol-)?x\d{4,}-[a-z]+"
    text = re.sub(token, lambda match: json.dumps(back[match[0]])[1:-1], json.dumps(report))
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.mark.parametrize("name", SAMPLES)
def test_the_report_is_the_same_but_for_names(name: str, tmp_path: Path) -> None:
    snapshot = _sample(name)
    document = anonymized(_draft(snapshot))
    assert document.names
    expected, told = _report(snapshot), _report(_again(document, tmp_path))
    assert told != expected, "nothing was renamed: the test shows nothing"
    report = _unmapped(told, document.names)
    for part in (report, expected):
        part.get("cluster", {}).pop("name", None)
    assert report == expected


@pytest.mark.parametrize("name", SAMPLES)
def test_the_report_of_a_redacted_file_is_the_same(name: str, tmp_path: Path) -> None:
    snapshot = _sample(name)
    assert _report(_again(redacted(_draft(snapshot)), tmp_path)) == _report(snapshot)


@pytest.mark.parametrize("name", SAMPLES)
def test_no_name_is_left_and_equal_names_stay_equal(name: str, tmp_path: Path) -> None:
    snapshot = _sample(name)
    document = anonymized(_draft(snapshot))
    text = b"".join(encode_document(document)).decode()
    for items in snapshot.objects.values():
        for item in items:
            for field in ("name", "namespace", "uid"):
                value = str(item["metadata"].get(field) or "")
                assert len(value) < 6 or f'"{value}"' not in text, value
    assert document.names is not None
    assert len(set(document.names.values())) == len(document.names)
    ordered = sorted(document.names)
    plain = [document.names[name] for name in ordered if "-name" not in document.names[name]]
    assert plain == sorted(plain)


def test_a_replica_sets_name_still_tells_its_deployment(tmp_path: Path) -> None:
    pod = {
        "metadata": {
            "name": "web-5d8f7c9b4-abcde",
            "namespace": "shop",
            "labels": {"pod-template-hash": "5d8f7c9b4"},
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d8f7c9b4", "controller": True}
            ],
        },
        "spec": {"containers": [{"name": "c", "image": "a:1"}]},
    }
    document = anonymized(_draft(Snapshot({"pods": (pod,)})))
    assert document.names is not None
    (found,) = normalise(_again(document, tmp_path)).pods
    assert found.workload.kind == "Deployment"
    assert found.workload.name == document.names["web"]


@pytest.mark.parametrize("name", ["insights-archive", "honeycomb", "nri-k8s-1_35", "sonobuoy-aws-2018", "cloudability"])
def test_real_clusters_give_the_same_reports(name: str, tmp_path: Path) -> None:
    if not (DATA / "dumps").is_dir():
        pytest.skip(f"no shared data at {DATA}")
    snapshot = read_snapshot([DATA / "dumps" / name])
    expected, plain = _report(snapshot), _report(_again(redacted(_draft(snapshot)), tmp_path))
    assert plain == expected
    document = anonymized(_draft(snapshot))
    assert document.names
    told = _unmapped(_report(_again(document, tmp_path)), document.names)
    for part in (told, expected):
        # Gaps name files here, which an anonymous file must not.
        part.pop("gaps")
        part["cluster"].pop("name", None)
    assert told == expected
