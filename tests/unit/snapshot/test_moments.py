"""Which inputs are pieces of one picture, which show another time, and which cannot be of one cluster."""

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from ksolver_cli.snapshot.model import SnapshotError
from ksolver_cli.snapshot.moments import Moment, read_moments


def node(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}


def pod(name: str, namespace: str = "d") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "spec": {}}


def listed(folder: Path, name: str, *items: dict[str, Any]) -> Path:
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(items)}))
    return file


def own(folder: Path, name: str, at: str = "", nodes: tuple[str, ...] = ("n1",), **more: Any) -> Path:
    objects = {"nodes": [node(n) for n in nodes], "pods": [pod(f"p-{name}")], **more.pop("objects", {})}
    document = {"schema": "ksolver.snapshot/1", "collected_at": at, "objects": objects, "gaps": [], **more}
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(document))
    return file


def sources(moments: tuple[Moment, ...]) -> list[str]:
    return [Path(moment.source).name for moment in moments]


def refused(*paths: Path) -> SnapshotError:
    with pytest.raises(SnapshotError) as caught:
        read_moments(paths)
    return caught.value


def test_the_newest_comes_first_in_whatever_order_they_are_given(tmp_path: Path) -> None:
    times = {"a.json": "2026-03-01T08:00:00Z", "b.json": "2026-03-01T10:00:00+01:00", "c.json": "2026-02-28T23:00:00Z"}
    files = [own(tmp_path, name, at) for name, at in times.items()]
    for order in permutations(files):
        assert sources(read_moments(order)) == ["b.json", "a.json", "c.json"]


@pytest.mark.parametrize("other", ["", "yesterday"])
def test_without_a_time_on_each_the_last_given_is_the_newest(tmp_path: Path, other: str) -> None:
    files = [own(tmp_path, "new.json", "2026-03-01T08:00:00Z"), own(tmp_path, "unknown.json", other)]
    assert sources(read_moments(files)) == ["unknown.json", "new.json"]
    assert sources(read_moments(files[::-1])) == ["new.json", "unknown.json"]


def test_lists_of_several_kinds_are_one_picture(tmp_path: Path) -> None:
    files = [listed(tmp_path, "nodes.json", node("n1")), listed(tmp_path, "pods.json", pod("p1"))]
    (moment,) = read_moments(files)
    assert moment.source == f"{files[0]}, {files[1]}"
    assert [moment.snapshot.count(kind) for kind in ("nodes", "pods")] == [1, 1]


def test_lists_of_other_namespaces_are_one_picture(tmp_path: Path) -> None:
    files = [listed(tmp_path, f"{name}.json", node("n1"), pod("p", name)) for name in ("shop", "bank", "post")]
    (moment,) = read_moments(files)
    assert moment.snapshot.count("pods") == 3


def test_a_list_beside_one_snapshot_adds_to_it(tmp_path: Path) -> None:
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "d"}}
    (moment,) = read_moments([own(tmp_path, "a.json"), listed(tmp_path, "pdb.json", budget)])
    assert moment.snapshot.count("poddisruptionbudgets") == 1


def test_lists_of_the_same_nodes_and_namespaces_are_two_times(tmp_path: Path) -> None:
    files = [listed(tmp_path, f"{day}.json", node("n1"), pod(f"p-{day}")) for day in ("monday", "tuesday")]
    newest, other = read_moments(files)
    assert (newest.source, other.source) == (str(files[1]), str(files[0]))
    assert newest.snapshot.count("pods") == 1


def test_a_list_that_shows_again_what_a_snapshot_shows_is_another_time(tmp_path: Path) -> None:
    assert len(read_moments([own(tmp_path, "a.json"), listed(tmp_path, "l.json", node("n1"), pod("q"))])) == 2


def test_a_directory_is_one_time_and_a_directory_of_snapshots_several(tmp_path: Path) -> None:
    for day in ("monday", "tuesday"):
        listed(tmp_path, f"{day}/nodes.json", node("n1"))
        listed(tmp_path, f"{day}/pods.json", pod(f"p-{day}"))
    assert sources(read_moments([tmp_path / "monday", tmp_path / "tuesday"])) == ["tuesday", "monday"]
    for hour in range(3):
        own(tmp_path, f"nightly/{hour}.json", f"2026-03-01T0{hour}:00:00Z")
    assert sources(read_moments([tmp_path / "nightly"])) == ["2.json", "1.json", "0.json"]


def test_what_belongs_to_no_certain_time_is_refused(tmp_path: Path) -> None:
    first, second = own(tmp_path, "a.json"), own(tmp_path, "b.json")
    piece = listed(tmp_path, "pods.json", pod("q"))
    for order in permutations((first, second, piece)):
        assert str(piece) in str(refused(*order))
    other_namespace = listed(tmp_path, "bank.json", node("n9"), pod("q", "bank"))
    assert str(other_namespace) in str(refused(first, second, other_namespace))


def test_what_is_no_object_does_not_matter(tmp_path: Path) -> None:
    readme = tmp_path / "notes.json"
    readme.write_text('{"note": "hello"}')
    moments = read_moments([own(tmp_path, "a.json"), own(tmp_path, "b.json"), readme])
    assert [gap.object for moment in moments for gap in moment.snapshot.gaps] == [str(readme)] * 2


def test_the_same_counts_once(tmp_path: Path) -> None:
    file = own(tmp_path, "a.json", "2026-03-01T08:00:00Z")
    copy = tmp_path / "copy.json"
    copy.write_bytes(file.read_bytes())
    (moment,) = read_moments([file, copy, file])
    assert moment.source == str(file)
    assert moment.again == (str(copy), str(file))


def test_other_clusters_are_refused(tmp_path: Path) -> None:
    def named(name: str, cluster: str, uid: str = "", nodes: tuple[str, ...] = ("n1",)) -> Path:
        spaces = [{"metadata": {"name": "kube-system", "uid": uid}}] if uid else []
        return own(tmp_path, name, nodes=nodes, cluster_name=cluster, objects={"namespaces": spaces})

    prod, stage = named("prod.json", "prod"), named("stage.json", "stage")
    error = refused(prod, stage)
    assert "prod.json: is of cluster prod, and" in str(error)
    assert "stage" in str(error)
    assert len(read_moments([prod, named("unnamed.json", "")])) == 2
    assert len(read_moments([named("a.json", "prod", "u1"), named("b.json", "alias", "u1")])) == 2
    assert "another cluster" in str(refused(named("a.json", "prod", "u1"), named("b.json", "prod", "u2")))
    assert "no node in common" in str(refused(prod, named("far.json", "prod", nodes=("n7", "n8"))))
    assert "no node in common" in str(refused(prod, named("none.json", "prod", nodes=())))


def test_anonymous_snapshots_have_names_of_their_own(tmp_path: Path) -> None:
    hidden = own(tmp_path, "hidden.json", extras={"redaction": {"anonymous": True}})
    assert "hidden.json: is anonymous" in str(refused(own(tmp_path, "a.json"), hidden))
    assert len(read_moments([hidden])) == 1


@pytest.mark.parametrize("content", ["", "{", '{"schema": "ksolver.snapshot/9", "objects": {}}', "[]"])
def test_a_second_file_that_is_broken_is_named(tmp_path: Path, content: str) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text(content)
    first = own(tmp_path, "a.json")
    if content == "[]":
        assert len(read_moments([first, broken])) == 1
        return
    assert str(refused(first, broken)).startswith(str(broken))


def test_a_snapshot_without_objects_is_named(tmp_path: Path) -> None:
    empty = tmp_path / "empty.json"
    empty.write_text('{"schema": "ksolver.snapshot/1", "objects": {}}')
    assert str(refused(own(tmp_path, "a.json"), empty)).startswith(str(empty))
