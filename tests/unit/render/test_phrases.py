"""Every reason has words, and words are the scheduler's."""

import pytest

from ksolver_cli.domain.verdict import Family, Reason, Rejection, Unknown
from ksolver_cli.render.phrases import WORDS, reasons, sentence


def test_every_reason_has_words() -> None:
    assert set(WORDS) == set(Reason)


@pytest.mark.parametrize("reason", sorted(Reason))
def test_words_need_no_more_than_their_params(reason: Reason) -> None:
    binder = WORDS[reason].startswith("node(s) d") or reason is Reason.VOLUME_GONE
    params = () if binder else ("one", "two", "three", "four")
    assert all(text and "{" not in text for text in reasons(Rejection(Family.NODE_NAME, reason, params)))


def test_a_shortage_is_told_for_each_resource() -> None:
    rejection = Rejection(Family.NODE_RESOURCES_FIT, Reason.INSUFFICIENT, ("pods", "cpu", "example.com/gpu"))
    assert reasons(rejection) == ("Too many pods", "Insufficient cpu", "Insufficient example.com/gpu")


def test_what_is_not_known_is_named() -> None:
    assert sentence(Unknown(Family.VOLUME_ZONE, "persistentvolumes")) == "unknown: the input holds no persistentvolumes"
    assert sentence(Unknown(Family.DYNAMIC_RESOURCES, "unmodelled: a")) == "unknown: unmodelled: a"
