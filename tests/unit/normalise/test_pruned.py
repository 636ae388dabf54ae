"""A snapshot keeps everything that a cluster is made of: pruning objects changes nothing but annotations."""

import json
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.snapshot.kinds import by_plural
from ksolver_cli.snapshot.model import Snapshot
from ksolver_cli.snapshot.prune import prune
from tests.paths import CASES, DATA

if not CASES.exists():
    pytest.skip("no recorded objects to prune", allow_module_level=True)

Objects = dict[str, tuple[dict, ...]]


def of_case(case: dict) -> Objects:
    found = {kind: tuple(items) for kind, items in case.items() if isinstance(items, list) and by_plural(kind)}
    return found | {"pods": (*found.get("pods", ()), case["pod"])}


def of_dump(folder: Path) -> Objects:
    found = {}
    for path in sorted(folder.glob("*.json")):
        kind, document = by_plural(path.stem), json.loads(path.read_text())
        items = document.get("items", []) if isinstance(document, dict) else document
        if kind is not None:
            found[kind.plural] = tuple(item for item in items if isinstance(item, dict))
    return found


def said(value: object) -> object:
    """Everything in a value but annotations, comparable."""
    if is_dataclass(value):
        return [(f.name, said(getattr(value, f.name))) for f in fields(value) if f.name != "annotations"]
    if isinstance(value, dict):
        return {key: said(item) for key, item in value.items()}
    return [said(item) for item in value] if isinstance(value, (tuple, list)) else value


def read(objects: Objects) -> Cluster:
    return normalise(Snapshot(objects=objects))


def assert_pruning_changes_nothing(objects: Objects) -> None:
    pruned = {plural: tuple(prune(plural, raw) for raw in items) for plural, items in objects.items()}
    whole, kept = read(objects), read(pruned)
    for part in fields(Cluster):
        assert said(getattr(whole, part.name)) == said(getattr(kept, part.name)), part.name


@pytest.mark.parametrize("name", ["filter_cases.json", "podrequests_cases.json"])
def test_recorded_cases_lose_nothing_by_pruning(name: str) -> None:
    for case in json.loads((CASES / name).read_text())["cases"]:
        assert_pruning_changes_nothing(of_case(case))


@pytest.mark.parametrize("folder", sorted(p for p in DATA.glob("dumps/*") if p.is_dir()), ids=lambda p: p.name)
def test_real_clusters_lose_nothing_by_pruning(folder: Path) -> None:
    assert_pruning_changes_nothing(of_dump(folder))
