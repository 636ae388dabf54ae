"""Which actions a plan leads to: commands for rules that hold today, sizes for pools that have one."""

from fractions import Fraction

import pytest

from ksolver_cli.domain.plan import Limits
from ksolver_cli.domain.report.actions import ActionKind
from ksolver_cli.explain.whatif.options import WhatIf
from ksolver_cli.pipeline import Request, Watch, analyze
from ksolver_cli.snapshot.model import Snapshot
from tools.samples.world import World, anti_affinity, requests

DRAINS = (ActionKind.DRAIN_NODES, ActionKind.REMOVE_IDLE_NODES)


def _snapshot(pool_label: str = "eks.amazonaws.com/nodegroup") -> Snapshot:
    """Four nodes, three of them with a small pod; the pods repel one another."""
    world = World("loose")
    for name in ("n0", "n1", "n2", "n3"):
        labels = world.node(name, "m5.xlarge", "a", "general")["metadata"]["labels"]
        labels[pool_label] = labels.pop("eks.amazonaws.com/nodegroup")
    world.deployment("shop", "web", 3, requests("100m", "64Mi"), affinity=anti_affinity("web"))
    for pod, node in zip(world.objects["pods"], ("n0", "n1", "n2"), strict=True):
        pod["spec"]["nodeName"] = node
    return Snapshot({kind: tuple(items) for kind, items in world.objects.items()})


@pytest.mark.parametrize(
    ("asked", "printed"),
    [
        (WhatIf(), True),
        (WhatIf(cpu_headroom=Fraction(1, 10)), True),
        (WhatIf(overcommit=Fraction(3, 2)), False),
        (WhatIf(relax_anti_affinity=True), False),
        (WhatIf(ignore_taints=True), False),
    ],
)
def test_commands_are_for_todays_rules(asked: WhatIf, printed: bool) -> None:
    request = Request(limits=Limits(effort=0.1), what_if=asked, complete=True)
    drains = [action for action in analyze(_snapshot(), request, Watch()).actions if action.kind in DRAINS]
    assert drains
    assert all(bool(action.commands) is printed and bool(action.undo) is printed for action in drains)
    assert all(bool(action.reasons) for action in drains)


@pytest.mark.parametrize(
    ("label", "pools"), [("eks.amazonaws.com/nodegroup", ["general from 4 to 3 nodes"]), ("karpenter.sh/nodepool", [])]
)
def test_only_pools_with_a_size_are_resized(label: str, pools: list[str]) -> None:
    request = Request(limits=Limits(effort=0.1), complete=True)
    found = analyze(_snapshot(label), request, Watch()).actions
    assert [action.subject for action in found if action.kind is ActionKind.RESIZE_POOL] == pools
    ends = [reason for action in found if action.kind in DRAINS for reason in action.reasons]
    assert any("Karpenter" in reason for reason in ends) is not bool(pools)
