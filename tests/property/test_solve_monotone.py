"""Relaxing never costs more, reserving never less; and the bound moves the same way."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ksolver_cli.constraints.eviction import eviction_blockers, node_blockers
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.plan import Limits
from ksolver_cli.solve.build import Pins, build, model_of
from ksolver_cli.solve.components import components
from ksolver_cli.solve.options import NO_OPTIONS, Options
from ksolver_cli.solve.solution import Solution
from ksolver_cli.solve.solve import solve
from tests.bench.instances import PRICES, TYPE
from tests.property.tiny import tiny_problem
from tools.generate_cluster import Settings, generate

LOOSER = [
    Options(ignore_taints=True),
    Options(relax_anti_affinity=True),
    Options(relax_affinity=True),
    Options(overcommit=Fraction(3, 2)),
    Options(ignore_taints=True, relax_anti_affinity=True, relax_affinity=True, overcommit=Fraction(2)),
]
TIGHTER = [
    Options(cpu_headroom=Fraction(1, 5)),
    Options(memory_headroom=Fraction(1, 4)),
    Options(overcommit=Fraction(4, 5)),
]
LIMITS = Limits(seconds=20.0, effort=0.1)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    import json

    from ksolver_cli.normalise.cluster import normalise
    from ksolver_cli.snapshot.read import read_snapshot

    path = tmp_path_factory.mktemp("cluster") / "list.json"
    settings_ = Settings(nodes=14, seed=5, node_classes=6, pods_per_node=8, affinity_share=0.1)
    path.write_text(json.dumps(generate(settings_)), encoding="utf-8")
    return normalise(read_snapshot([path]))


def _solve(cluster: Cluster, options: Options, start: Solution | None = None) -> Solution:
    prices = {node.name: PRICES[node.labels[TYPE]] for node in cluster.nodes}
    pins = Pins(frozenset(eviction_blockers(cluster)), frozenset(node_blockers(cluster, prices)))
    problem = build(model_of(cluster, options), prices, pins, options)
    return solve(problem, LIMITS, start=None if start is None else start.node_of)


@pytest.mark.parametrize("options", LOOSER)
def test_relaxing_never_costs_more(cluster: Cluster, options: Options) -> None:
    strict = _solve(cluster, NO_OPTIONS)
    loose = _solve(cluster, options, strict)
    assert loose.proof.cost_micros <= strict.proof.cost_micros
    assert loose.proof.bound_micros <= strict.proof.cost_micros


@pytest.mark.parametrize("options", TIGHTER)
def test_a_reserve_never_makes_it_cheaper(cluster: Cluster, options: Options) -> None:
    tight = _solve(cluster, options)
    plain = _solve(cluster, NO_OPTIONS, tight)
    assert plain.proof.cost_micros <= tight.proof.cost_micros


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_without_its_rules_a_problem_costs_no_more(random: Random) -> None:
    problem = tiny_problem(random)
    with_rules = solve(problem, LIMITS)
    without = solve(replace(problem, rules=()), LIMITS, start=with_rules.node_of)
    assert without.proof.cost_micros <= with_rules.proof.cost_micros
    assert without.proof.bound_micros <= with_rules.proof.cost_micros


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_components_share_nothing_and_lose_nothing(random: Random) -> None:
    problem = tiny_problem(random)
    parts = components(problem)
    pods = sorted(p for part in parts for p in part.pods.tolist())
    nodes = sorted(n for part in parts for n in part.nodes.tolist())
    assert pods == list(range(problem.num_pods))
    assert nodes == list(range(problem.num_nodes))
    assert sum(len(part.problem.rules) for part in parts) == len(problem.rules)
    for part in parts:
        for local, whole in enumerate(part.pods.tolist()):
            home = int(part.problem.pod_node[local])
            assert problem.pod_node[whole] == (part.nodes[home] if home >= 0 else -1)
