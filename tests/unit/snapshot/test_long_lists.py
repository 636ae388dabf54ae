"""Lists as kubectl prints them are read object by object, and give what the whole parser gives."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ksolver_cli.snapshot.files.long_lists import NotALongListError, batches, is_long_list
from ksolver_cli.snapshot.model import SnapshotError
from ksolver_cli.snapshot.read import read_snapshot

_TRICKY = ['"', "\\", "}", "},", "{", "]", "\n        },\n        {\n", "ü", "\u2028", '\\"},\n']
_VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=5) | st.sampled_from(_TRICKY),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)
_ITEMS = st.lists(
    st.dictionaries(st.text(max_size=4), _VALUES, max_size=4).map(
        lambda more: {**more, "apiVersion": "v1", "kind": "Pod"}
    ),
    min_size=1,
    max_size=6,
)


def _list(items: list[Any], indent: int | str = 4) -> bytes:
    document = {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}}
    return (json.dumps(document, indent=indent, ensure_ascii=False) + "\n").encode()


@given(_ITEMS, st.sampled_from([1, 2, 4, "\t"]), st.integers(1, 400))
def test_what_comes_out_is_what_went_in(items: list[Any], indent: int | str, chunk: int) -> None:
    text = _list(items, indent)
    assert is_long_list(text)
    pieces = [text[at : at + chunk] for at in range(0, len(text), chunk)]
    assert [item for group in batches(pieces) for item in group] == items


@given(_ITEMS, st.data())
def test_a_text_that_breaks_off_or_goes_on_is_never_taken_for_whole(items: list[Any], data: Any) -> None:
    text = _list(items)
    broken = text[: data.draw(st.integers(1, len(text) - 3))]
    with pytest.raises(NotALongListError):
        list(batches([broken]))
    with pytest.raises(NotALongListError):
        list(batches([text, b"{}"]))


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}",
        b'{"items": []}',
        b"[\n    {\n",
        _list([]),
        json.dumps({"apiVersion": "v1", "items": [{"a": 1}]}).encode(),
    ],
)
def test_other_texts_are_not_long_lists(text: bytes) -> None:
    assert not is_long_list(text)


def _pods(count: int) -> list[dict[str, Any]]:
    return [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{i}", "namespace": "d"}} for i in range(count)]


@pytest.mark.parametrize("count", [1, 499, 500, 501, 1200])
def test_a_file_gives_the_same_snapshot_either_way(count: int, tmp_path: Path) -> None:
    (tmp_path / "long.json.gz").write_bytes(gzip.compress(_list(_pods(count))))
    (tmp_path / "whole.json").write_text(json.dumps({"kind": "List", "items": _pods(count)}))
    long, whole = read_snapshot([tmp_path / "long.json.gz"]), read_snapshot([tmp_path / "whole.json"])
    assert long.objects == whole.objects
    assert long.gaps == whole.gaps


def test_items_without_a_kind_are_left_to_the_whole_parser(tmp_path: Path) -> None:
    items = [{"metadata": {"name": "p", "namespace": "d"}}]
    document = {"apiVersion": "v1", "items": items, "kind": "PodList"}
    (tmp_path / "x.json").write_text(json.dumps(document, indent=4))
    assert is_long_list((tmp_path / "x.json").read_bytes())
    assert read_snapshot([tmp_path / "x.json"]).count("pods") == 1


def test_a_broken_file_says_where_and_broken_stdin_that_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = _list(_pods(3))[:-60]
    (tmp_path / "x.json").write_bytes(text)
    with pytest.raises(SnapshotError, match="line"):
        read_snapshot([tmp_path / "x.json"])
    reader, writer = os.pipe()
    os.write(writer, text)
    os.close(writer)
    with os.fdopen(reader) as stream:
        monkeypatch.setattr("sys.stdin", stream)
        with pytest.raises(SnapshotError, match="breaks off"):
            read_snapshot(["-"])
