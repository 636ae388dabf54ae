"""What a report promises comes true: its commands run as printed, the real scheduler places what they evict."""

import os
import secrets
from pathlib import Path

import pytest

from tests.live.executed.cluster import Cluster
from tests.live.executed.drill import Analysis, Drill
from tests.live.executed.world import draw
from tests.live.plane import Plane

SIZES = (10, 14, 18)
BASE = int(os.environ.get("KSOLVER_LIVE_SEED", "0")) or secrets.randbelow(10**6)
"""Fresh for each run; a failing test's name tells it."""


@pytest.mark.parametrize(("seed", "nodes"), [(BASE + n, nodes) for n, nodes in enumerate(SIZES)])
def test_the_plan_comes_true(clean_plane: Plane, tmp_path: Path, seed: int, nodes: int) -> None:
    cluster = Cluster(clean_plane, draw(seed, nodes))
    cluster.build()
    drill = Drill(cluster, tmp_path)
    analysis = drill.analyse(drill.snapshot("before") if seed % 2 else drill.listed("before"))
    plan = analysis.facts["plan"]
    assert plan["cost_before_micros"] == cluster.cost()
    assert analysis.drains, "there is nothing to drain in this cluster"
    check_printed(analysis)
    for printed, facts in zip(analysis.printed, analysis.drains, strict=False):
        drill.run(printed)
        check_wave(cluster, set(facts["nodes"]))
    assert cluster.cost() == plan["cost_after_micros"]
    after = drill.analyse(drill.snapshot("after"))
    assert after.facts["prices"]["cost_micros"] == plan["cost_after_micros"]


def check_printed(analysis: Analysis) -> None:
    """The text says what the JSON says, and nothing that forces."""
    for printed, facts in zip(analysis.printed, analysis.facts["actions"], strict=True):
        assert printed.id == facts["id"]
        assert printed.commands == [command["argv"] for command in facts["commands"]]
        assert "--force" not in printed.script
        assert "--disable-eviction" not in printed.script


def check_wave(cluster: Cluster, removed: set[str]) -> None:
    """The wave's nodes are gone with nothing on them; nothing pends; every workload is whole."""
    assert not removed & cluster.node_names()
    try:
        cluster.plane.wait("every workload is whole", cluster.is_whole, 20)
    except Exception:
        print("pending", cluster.pending(), {k: v for k, v in cluster.ready().items() if v != cluster.wanted()[k]})
        raise
    assert cluster.pending() == []
