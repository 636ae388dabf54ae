"""Inputs of every accepted shape, and broken ones."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from ksolver_cli.domain.cluster import Gap
from ksolver_cli.snapshot.model import SnapshotError
from ksolver_cli.snapshot.read import read_snapshot
from ksolver_cli.snapshot.source import read_bounded

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p1", "namespace": "default"},
    "spec": {"containers": []},
}


def _file(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def _bare(item: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key not in ("kind", "apiVersion")}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("list.json", {"kind": "List", "apiVersion": "v1", "items": [NODE, POD]}),
        ("array.json", [NODE, POD]),
        ("nested.json", {"kind": "List", "items": [{"kind": "NodeList", "items": [_bare(NODE)]}, POD]}),
        ("bundle.json", {"nodes": [_bare(NODE)], "pods": {"kind": "List", "items": [POD]}}),
        (
            "simulator.json",
            {"nodes": [NODE], "pods": [POD], "pvs": [], "pvcs": [], "schedulerConfig": {"profiles": []}},
        ),
        ("several.json", (json.dumps(NODE) + "\n" + json.dumps(POD)).encode()),
        (
            "several.yaml",
            b"kind: Node\napiVersion: v1\nmetadata: {name: n1}\n---\nkind: Pod\nmetadata: {name: p1}\n---\n",
        ),
        (
            "list.yaml",
            b"kind: List\nitems:\n- {kind: Node, metadata: {name: n1}}\n- {kind: Pod, metadata: {name: p1}}\n",
        ),
        ("bom.json", b"\xef\xbb\xbf" + json.dumps([NODE, POD]).encode()),
        ("packed.json.gz", gzip.compress(json.dumps([NODE, POD]).encode())),
        ("packed.json.zst", zstandard.compress(json.dumps([NODE, POD]).encode())),
        ("misnamed.json", gzip.compress(json.dumps([NODE, POD]).encode())),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_shape_gives_the_same_objects(tmp_path: Path, name: str, content: Any) -> None:
    snapshot = read_snapshot([_file(tmp_path, name, content)])
    assert [item["metadata"]["name"] for item in snapshot.objects["nodes"]] == ["n1"]
    assert [item["metadata"]["name"] for item in snapshot.objects["pods"]] == ["p1"]


def test_a_directory_is_all_its_files(tmp_path: Path) -> None:
    _file(tmp_path, "nodes.json", {"items": [_bare(NODE)]})
    (tmp_path / "more").mkdir()
    _file(tmp_path / "more", "pods.yaml", b"kind: Pod\nmetadata: {name: p1}\n")
    _file(tmp_path, "notes.txt", b"not read")
    snapshot = read_snapshot([tmp_path])
    assert (snapshot.count("nodes"), snapshot.count("pods")) == (1, 1)


def test_files_that_hold_something_else_are_gaps_in_a_directory(tmp_path: Path) -> None:
    _file(tmp_path, "nodes.json", [NODE])
    odd = _file(tmp_path, "stats-summary.json", {"node": {"nodeName": "n1"}, "pods": [{"podRef": {"name": "p1"}}]})
    snapshot = read_snapshot([tmp_path])
    assert "pods" not in snapshot.objects
    assert Gap("file", "holds no Kubernetes object", str(odd)) in snapshot.gaps


def test_a_list_of_nothing_says_that_the_kind_was_seen(tmp_path: Path) -> None:
    _file(tmp_path, "nodes.json", [NODE])
    _file(tmp_path, "persistentvolumeclaims.json", {"kind": "List", "items": []})
    snapshot = read_snapshot([tmp_path])
    assert snapshot.objects["persistentvolumeclaims"] == ()
    assert "persistentvolumes" not in snapshot.objects


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("empty.json", b"", "empty"),
        ("blank.yaml", b"\n  \n", "empty"),
        ("cut.json", b'{"kind": "List", "items": [{"kind":', "line 1"),
        ("deep.json", b"[" * 10_000, "not valid JSON"),
        ("deep.yaml", b"a: " + b"[" * 10_000, "not valid YAML"),
        ("nan.json", b'{"kind": "Node", "metadata": {"name": NaN}}', "line 1"),
        ("cut.json.gz", gzip.compress(b"{}" * 500)[:-6], "damaged or cut short"),
        ("cut.json.zst", zstandard.compress(b"{}" * 500)[:12], "damaged or cut short"),
        ("binary.json", bytes(range(256)), "YAML"),
        ("tabs.yaml", b"kind: Node\n\tmetadata: x\n", "line 2"),
        ("bomb.yaml", b"a: &a [1]\nb: *a\n", "anchors"),
        ("other.json", {"hello": "world"}, "no Kubernetes object"),
        ("number.json", b"17", "no Kubernetes object"),
        (
            "secrets.json",
            {"kind": "List", "items": [{"kind": "Secret", "metadata": {"name": "s"}}]},
            "no Kubernetes object",
        ),
        ("future.json", {"schema": "ksolver.snapshot/99", "objects": {}}, "ksolver.snapshot/99"),
        ("hollow.json", {"schema": "ksolver.snapshot/1", "objects": []}, "objects is not an object"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_broken_input_names_the_file_and_what_is_wrong(tmp_path: Path, name: str, content: Any, word: str) -> None:
    path = _file(tmp_path, name, content)
    with pytest.raises(SnapshotError) as caught:
        read_snapshot([path])
    assert str(path) in caught.value.what
    assert word in caught.value.what
    assert caught.value.hint


def test_missing_and_unreadable_paths(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="No such file"):
        read_snapshot([tmp_path / "absent.json"])
    with pytest.raises(SnapshotError, match=r"no \.json or \.yaml"):
        read_snapshot([tmp_path])


def test_a_small_archive_cannot_fill_the_memory() -> None:
    with pytest.raises(SnapshotError, match="more than 1 MiB"):
        read_bounded("bomb", (b" " * 1000 for _ in range(10_000)), limit=1 << 20)


def test_items_that_are_no_objects_become_gaps(tmp_path: Path) -> None:
    path = _file(
        tmp_path, "odd.json", {"kind": "List", "items": [NODE, 17, {"kind": "Pod"}, {"metadata": {"name": "x"}}]}
    )
    snapshot = read_snapshot([path])
    assert snapshot.count("nodes") == 1
    assert [gap.reason for gap in snapshot.gaps] == [
        "item 1 is not an object",
        "item 2 has no metadata",
        "item 3 says no kind",
    ]
