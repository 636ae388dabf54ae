"""The named cases as people ask them: a kubectl list in a file, put to `ksolver why --complete`."""

import json
from pathlib import Path

import pytest

from ksolver_cli.explain.why import why_in_snapshot
from ksolver_cli.render.why import why_record
from ksolver_cli.snapshot.read import read_snapshot
from tests.conformance.filter_truth import BESIDE, Case, case_lines, named_cases, require

FUZZ_STEP = 10
"""Every tenth fuzz case is enough to see that reading and pruning lose nothing; all of them are judged elsewhere."""


def case_id(case: Case) -> str:
    return case.get("id", "absent")


def ask(case: Case, folder: Path) -> dict[str, dict]:
    items = [*case["nodes"], *case["pods"], case["pod"]]
    for kind, objects in case.items():
        if kind not in BESIDE and isinstance(objects, list):
            items += [item for item in objects if isinstance(item, dict)]
    path = folder / "list.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    metadata = case["pod"]["metadata"]
    name = f"{metadata.get('namespace', 'default')}/{metadata['name']}"
    record = json.loads(json.dumps(why_record(why_in_snapshot(read_snapshot([path]), name, complete=True))))
    assert record["pod"] == name
    return {node["node"]: node for node in record["nodes"]}


@pytest.mark.parametrize("case", require(named_cases()), ids=case_id)
def test_named_cases(case: Case, tmp_path: Path) -> None:
    nodes = ask(case, tmp_path)
    assert {name: node["verdict"] for name, node in nodes.items()} == case["expect"]
    for name, expected in case["first_fail"].items():
        first = nodes[name]["rejections"][0]
        stage, _, code = expected["code"].rpartition("/")
        if stage == "PreFilterResult":
            assert first["stage"] == stage
        else:
            told = (first["plugin"], first["stage"], first["code"], first["reasons"])
            assert told == (expected["plugin"], stage or "Filter", code, expected["reasons"])


@pytest.mark.parametrize("case", require(case_lines("filter_fuzz.jsonl.gz"))[::FUZZ_STEP], ids=case_id)
def test_fuzz_cases(case: Case, tmp_path: Path) -> None:
    nodes = ask(case, tmp_path)
    plugins = {name: sorted(r["plugin"] for r in node["rejections"]) for name, node in nodes.items()}
    assert plugins == {name: sorted(found) for name, found in case["failing_plugins"].items()}
