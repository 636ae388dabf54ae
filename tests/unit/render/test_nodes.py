"""The nodes section: as many lines as there are ways of being blocked, and rows that fit the width."""

import pytest

from ksolver_cli.domain.report.nodes import NodeBlocker, NodeRow
from ksolver_cli.domain.verdict import ObjectRef
from ksolver_cli.render.console import capture, tidy
from ksolver_cli.render.text.nodes import render_nodes

NAME = "ip-10-20-0-100.eu-central-1.compute.internal"


def _row(number: int, blockers: tuple[NodeBlocker, ...] = (), price: int | None = 192_000) -> NodeRow:
    name = f"{number}-{NAME}"
    return NodeRow(name, "m5.xlarge", "general", "z", price, 3, 2, 999, 4, not blockers, False, blockers, ())


def _text(rows: list[NodeRow], width: int) -> str:
    console, buffer = capture(width)
    render_nodes(console, rows, "USD", every=True)
    return tidy(buffer.getvalue())


def _bare(number: int) -> NodeBlocker:
    return NodeBlocker("bare-pod", f"a/p{number}", ObjectRef("Pod", f"a/p{number}"), "")


def test_nodes_blocked_in_the_same_way_share_a_line_that_names_every_object() -> None:
    text = _text([_row(n, (_bare(n), _bare(n + 100))) for n in range(30)], 200)
    lines = [
        line for line in text.splitlines() if line.startswith("  30 nodes: no controller would bring the pod back:")
    ]
    assert len(lines) == 1
    assert all(f"Pod a/p{n}" in lines[0] and f"Pod a/p{n + 100}" in lines[0] for n in range(30))


@pytest.mark.parametrize("width", [80, 100, 130, 200])
def test_no_line_of_the_table_is_wider_than_the_terminal(width: int) -> None:
    text = _text([_row(1, (_bare(1), _bare(2))), _row(2, price=None)], width)
    table = text[text.index("Node ") :].splitlines()
    assert max(map(len, table)) <= width
    assert "unpriced" in text
    assert "$0" not in text


def test_a_narrow_row_still_says_what_blocks_it() -> None:
    assert "bare pod × 2" in _text([_row(1, (_bare(1), _bare(2)))], 80).replace("\n", " ")


def test_what_is_not_known_of_a_node_is_a_dash() -> None:
    unknown = NodeRow("n", "", "", "", None, None, None, None, None, False, False, (), ())
    assert "unpriced   –   –    – keep nothing" in _text([unknown], 80)
