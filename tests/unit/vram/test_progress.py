"""What is being asked is told before the answer, on one short line, and nothing is drawn off a terminal."""

import pytest

from ksolver_cli.cli.gpu_memory.progress import Told, telling
from ksolver_cli.collect.prometheus_answer import Answer


def test_each_question_is_told_before_it_is_asked() -> None:
    events: list[str] = []

    class Server:
        def query(self, promql: str, at: float | None = None) -> Answer:
            events.append(f"asked at {at}")
            return Answer()

    assert Told(Server(), events.append).query("max_over_time(x[24h])" + " " * 200, 1.0).series == ()
    assert events[0].startswith("asking Prometheus: max_over_time(x[24h])")
    assert len(events[0]) < 80
    assert events[1:] == ["asked at 1.0"]


def test_nothing_is_drawn_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with telling() as say:
        say("reading pods and nodes")
    assert capsys.readouterr() == ("", "")
