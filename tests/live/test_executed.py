"""What a report promises comes true: its commands run as printed, the real scheduler places what they evict."""

import json
import logging
import os
import secrets
import shlex
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.executed.cluster import Cluster
from tests.live.executed.drill import Analysis, Drill
from tests.live.executed.lingering import lingering
from tests.live.executed.world import HOST, ZONES, App, World, draw, spread
from tests.live.plane import Plane

LOG = logging.getLogger(__name__)
logging.getLogger("httpx").setLevel(logging.WARNING)
SIZES = tuple(int(size) for size in os.environ.get("KSOLVER_LIVE_NODES", "9 12 15").split())
ROUNDS = 12
BASE = int(os.environ.get("KSOLVER_LIVE_SEED", "0")) or secrets.randbelow(10**6)
"""Fresh for each run; the names of the tests tell it."""


@pytest.fixture
def real_plane(clean_plane: Plane) -> Iterator[Plane]:
    """The control plane with pods that take their time to end, emptied while they may."""
    with lingering(clean_plane):
        yield clean_plane
        clean_plane.clear()


@pytest.mark.parametrize(("seed", "nodes"), [(BASE + n, nodes) for n, nodes in enumerate(SIZES)])
def test_the_plan_comes_true(real_plane: Plane, tmp_path: Path, seed: int, nodes: int) -> None:
    cluster = Cluster(real_plane, draw(seed, nodes))
    cluster.build()
    drill = Drill(cluster, tmp_path)
    analysis = drill.analyse(drill.snapshot("before") if seed % 2 else drill.listed("before"))
    plan = analysis.facts["plan"]
    LOG.info("seed %d: %s", seed, analysis.summary)
    assert plan["cost_before_micros"] == cluster.cost()
    assert analysis.drains, "there is nothing to drain in this cluster"
    check_printed(analysis)
    for printed, facts, wave in zip(analysis.printed, analysis.drains, plan["waves"], strict=False):
        began = time.monotonic()
        drill.run(printed.pasted, waits=wave["alone"])
        check_wave(cluster, set(facts["nodes"]))
        LOG.info("seed %d: %s in %.1f s", seed, printed.id, time.monotonic() - began)
    assert cluster.cost() == plan["cost_after_micros"]


def test_nodes_go_by_themselves_where_pods_can_only_come_back_once_they_are_gone(
    real_plane: Plane, tmp_path: Path
) -> None:
    """Hard spread over hosts, one replica a host: no two nodes can be cordoned together."""
    nodes = tuple((f"node-{number}", "even.4", ZONES[number % 3], "web") for number in range(6))
    even = App("even", 6, 6, 800, 512, spec=spread("even", HOST, 1), budget={"maxUnavailable": 3}, lingers=True)
    cluster = Cluster(real_plane, World(2, nodes, (even, App("free", 4, 4, 300, 256))))
    cluster.build()
    drill = Drill(cluster, tmp_path)
    analysis = drill.analyse(drill.snapshot("before"))
    plan = analysis.facts["plan"]
    assert len([wave for wave in plan["waves"] if wave["alone"]]) >= 2
    for printed, facts, wave in zip(analysis.printed, analysis.drains, plan["waves"], strict=False):
        drill.run(printed.pasted, waits=wave["alone"])
        check_wave(cluster, set(facts["nodes"]))
    assert cluster.cost() == plan["cost_after_micros"]


def test_a_plan_is_carried_on_with_a_fresh_look_after_each_wave(real_plane: Plane, tmp_path: Path) -> None:
    seed = BASE + len(SIZES)
    cluster = Cluster(real_plane, draw(seed, sorted(SIZES)[len(SIZES) // 2]))
    cluster.build()
    drill = Drill(cluster, tmp_path)
    analysis = drill.analyse(drill.snapshot("before"))
    LOG.info("seed %d: %s", seed, analysis.summary)
    drill.run(analysis.printed[0].pasted, waits=analysis.facts["plan"]["waves"][0]["alone"])
    check_wave(cluster, set(analysis.drains[0]["nodes"]))
    plan = analysis.file
    for number in range(1, ROUNDS):
        commands, plan = drill.go_on(plan, drill.snapshot(f"wave-{number}"))
        facts = json.loads(plan.read_text())
        LOG.info("seed %d: %s", seed, commands[:2])
        drill.run(commands, waits=any(wave["alone"] for wave in facts["plan"]["waves"][:1]))
        if not facts["plan"]["waves"]:
            break
        check_wave(cluster, set(facts["plan"]["waves"][0]["nodes"]))
    else:
        pytest.fail(f"the plan is not over after {ROUNDS} waves")
    assert cluster.cost() == facts["plan"]["cost_after_micros"]
    assert not any(node["spec"].get("unschedulable") for node in cluster.plane.items("api/v1/nodes"))


def test_no_node_is_deleted_under_a_pod_that_came_later(clean_plane: Plane, tmp_path: Path) -> None:
    """The commands are old by the time they run; what nobody would bring back makes them stop."""
    nodes = tuple((f"node-{number}", "even.4", ZONES[number], "web") for number in range(3))
    cluster = Cluster(clean_plane, World(1, nodes, (App("web", 3, 3, 200, 256),)))
    cluster.build()
    drill = Drill(cluster, tmp_path)
    (drain,) = drill.analyse(drill.snapshot("before")).drains
    container = {"name": "c", "image": "registry.example/app:1"}
    spec = {"containers": [container], "nodeName": drain["nodes"][-1]}
    late = {"metadata": {"name": "late", "labels": {"app": "late"}}, "spec": spec}
    clean_plane.create("api/v1/namespaces/shop/pods", late)
    results = [drill.paste(shlex.join(command["argv"])) for command in drain["commands"][:-1]]
    assert [done.returncode for done in results] == [0] * (len(results) - 1) + [1]
    assert "shop/late" in results[-1].stderr
    assert drain["commands"][-1]["argv"][:3] == ["kubectl", "delete", "node"]
    assert [pod["metadata"]["name"] for pod in cluster.pods()].count("late") == 1


def check_printed(analysis: Analysis) -> None:
    """The text says what the JSON says, and nothing that forces."""
    for printed, facts in zip(analysis.printed, analysis.facts["actions"], strict=True):
        assert printed.id == facts["id"]
        assert printed.commands == [command["argv"] for command in facts["commands"]]
        assert "--force" not in " ".join(printed.pasted)
        assert "--disable-eviction" not in " ".join(printed.pasted)


def check_wave(cluster: Cluster, removed: set[str]) -> None:
    """The wave's nodes are gone; nothing pends; every workload is whole."""
    assert not removed & cluster.node_names()
    cluster.settle()
    assert cluster.pending() == []
