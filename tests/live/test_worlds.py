"""Random worlds, judged by the scheduler of three versions and by us, in the same words."""

from pathlib import Path

import pytest

from tests.live import fuzz
from tests.live.fuzz import World
from tests.live.oracle import Oracle
from tests.live.worlds import devices, storage

VERSIONS = {"oracle_134": "1.34.4", "oracle": "1.36.3", "oracle_137": "1.37.2"}
WORLDS: dict[str, tuple[World, frozenset[str]]] = {
    "storage": (
        storage.world,
        frozenset({"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"}),
    ),
    "devices": (devices.world, frozenset({"DynamicResources"})),
}
"""Kind to its worlds, and the plugins that some of them must set against a node."""


@pytest.mark.parametrize("oracle_name", VERSIONS)
@pytest.mark.parametrize("kind", WORLDS)
def test_worlds(kind: str, oracle_name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    oracle: Oracle = request.getfixturevalue(oracle_name)
    world, plugins = WORLDS[kind]
    if kind == "devices" and oracle_name == "oracle_134":
        world = devices.plain_world
    run = fuzz.put(world, oracle, VERSIONS[oracle_name])
    saved = [found.save(tmp_path, kind) for found in run.disagreements]
    assert not saved, [
        (found.seed, found.differs, str(path)) for found, path in zip(run.disagreements, saved, strict=True)
    ]
    assert run.pairs >= fuzz.COUNT
    assert plugins <= run.agreed.keys()


def test_a_wrong_rule_is_found_and_made_small(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ksolver_cli.constraints.volumes.restrictions.conflicts", lambda disk, other: False)
    run = fuzz.put(storage.world, oracle, "1.36.3", count=1000, seed=1, stop=1)
    (found,) = run.disagreements
    assert all("VolumeRestrictions" in line for line in found.differs)
    assert len(found.case["nodes"]) == len(found.case["pods"]) == 1
    assert sum(len(objects) for kind, objects in found.case.items() if kind != "pod") <= 3
