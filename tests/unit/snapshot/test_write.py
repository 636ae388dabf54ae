"""Our own file: what is written comes back, byte for byte the same each time."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ksolver_cli.domain.cluster import Gap
from ksolver_cli.snapshot.kinds import KINDS
from ksolver_cli.snapshot.model import Snapshot
from ksolver_cli.snapshot.read import read_snapshot
from ksolver_cli.snapshot.write import to_bytes, write_snapshot
from tests.paths import ROOT

_NAMES = st.text(min_size=1, max_size=12)
_PODS = st.builds(
    lambda name, labels: {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}},
    _NAMES,
    st.dictionaries(_NAMES, _NAMES, max_size=3),
)
_SNAPSHOTS = st.builds(
    lambda pods, name, gaps: Snapshot(
        {"pods": tuple(pods), "services": ()}, tuple(gaps), "v1.33.1", name, "2026-01-01T00:00:00Z"
    ),
    st.lists(_PODS, min_size=1, max_size=4),
    _NAMES,
    st.lists(st.builds(Gap, _NAMES, _NAMES, _NAMES), max_size=2, unique=True),
)


@given(_SNAPSHOTS, st.sampled_from(["", ".gz", ".zst"]))
def test_written_and_read_again_is_the_same(tmp_path_factory: Any, snapshot: Snapshot, suffix: str) -> None:
    path = tmp_path_factory.mktemp("s") / f"cluster.json{suffix}"
    write_snapshot(snapshot, path)
    assert read_snapshot([path]) == snapshot
    assert path.read_bytes() == to_bytes(snapshot, path.name)


def test_the_file_holds_to_its_schema(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "docs/reference/snapshot.schema.json").read_text())
    snapshot = Snapshot(
        {"pods": ({"metadata": {"name": "p"}},)}, (Gap("nodes", "forbidden"),), "v1.33.1", "c", "2026-01-01T00:00:00Z"
    )
    jsonschema.validate(json.loads(to_bytes(snapshot)), schema)
    assert set(schema["properties"]["objects"]["properties"]) == {kind.plural for kind in KINDS}


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    target = tmp_path / "cluster.json"
    target.write_text("before")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_snapshot(Snapshot({"pods": ()}), target)
    assert target.read_text() == "before"
    assert os.listdir(tmp_path) == ["cluster.json"]
