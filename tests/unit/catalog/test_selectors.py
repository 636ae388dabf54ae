"""Selectors as kubectl's -l takes them."""

import pytest

from ksolver_cli.catalog.selectors import parse_selector, selects

LABELS = {"pool": "batch", "tier": "gold", "empty": ""}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("pool=batch", True),
        ("pool==batch", True),
        ("pool = batch", True),
        ("pool=web", False),
        ("pool!=web", True),
        ("absent!=web", True),
        ("pool", True),
        ("absent", False),
        ("!absent", True),
        ("!pool", False),
        ("pool in (web, batch)", True),
        ("pool notin (web,batch)", False),
        ("absent notin (web)", True),
        ("absent in (web)", False),
        ("empty=", True),
        ("pool=batch,tier=gold", True),
        ("pool=batch, tier in (silver, bronze)", False),
    ],
)
def test_selectors(text: str, holds: bool) -> None:
    assert selects(parse_selector(text), LABELS) is holds


@pytest.mark.parametrize("text", ["", "a=b=c", "a in", "in (b)", "a in (b", "(a)", "a,,b"])
def test_what_is_no_selector_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="label requirement"):
        parse_selector(text)
