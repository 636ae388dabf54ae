"""Measure one instance in this process: the product and its rivals, each placement judged."""

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np

from ksolver_cli.domain.plan import Limits
from ksolver_cli.solve.place.check import faults
from ksolver_cli.solve.place.realise import Incumbent
from ksolver_cli.solve.problem import Problem
from ksolver_cli.solve.solution import Progress
from ksolver_cli.solve.solve import solve
from tests.bench import rivals
from tests.bench.instances import instance, stored

Row = dict[str, object]
CPSAT_SECONDS = 15.0
CPSAT_NODES = 200
PASSES_NODES, PASSES_SECONDS = 1000, 40.0
"""Larger clusters have only the one-way drains as rivals: passes over candidates would take hours."""


def measure(nodes: int, seed: int, seconds: float, options: argparse.Namespace) -> Row:
    """One row: instance, product, rivals. Seconds are wall clock; `cpu` is this process's own."""
    item = instance(nodes, seed)
    problem = stored(item, options.instances)
    row: Row = {
        "instance": item.name,
        "nodes": nodes,
        "seed": seed,
        "pods": problem.num_pods,
        "node_classes": problem.num_classes,
        "utilisation": item.settings.utilisation,
        "cost_now": problem.cost_now,
    }
    row |= _product(problem, seconds)
    row["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    if not options.no_rivals:
        row["rivals"] = _rivals(problem, int(str(row["cost"])), CPSAT_NODES if options.few_rivals else PASSES_NODES)
    return row


def _product(problem: Problem, seconds: float) -> Row:
    start, cpu = time.perf_counter(), time.process_time()
    first: list[tuple[float, float]] = []

    def told(progress: Progress) -> None:
        if progress.cost_micros < problem.cost_now and not first:
            first.append((time.perf_counter() - start, time.process_time() - cpu))

    solution = solve(problem, Limits(seconds=seconds), on_progress=told)
    total, spent = time.perf_counter() - start, time.process_time() - cpu
    index = {name: n for n, name in enumerate(problem.node_names)}
    node = np.array([index.get(solution.node_of.get(key, ""), -1) for key in problem.pod_keys], dtype=np.int64)
    kept = ~np.isin(np.array(problem.node_names), np.array(solution.removed, dtype=str))
    return {
        "cost": solution.proof.cost_micros,
        "bound": solution.proof.bound_micros,
        "gap": round(solution.proof.gap, 6),
        "status": solution.proof.status.value,
        "limited_by": solution.proof.limited_by,
        "moved_share": round(solution.moved / max(1, problem.num_pods), 4),
        "first_seconds": round(first[0][0] if first else total, 2),
        "final_seconds": round(total, 2),
        "first_cpu": round(first[0][1] if first else spent, 2),
        "final_cpu": round(spent, 2),
        "faults": faults(problem, kept, node),
    }


def _rivals(problem: Problem, ours: int, passes_nodes: int) -> Row:
    runs: dict[str, Callable[[], Incumbent]] = {
        "drain best-fit": lambda: rivals.one_way_drain(problem, rivals.best_fit),
        "drain dot-product": lambda: rivals.one_way_drain(problem, rivals.dot_product),
    }
    if problem.num_nodes <= passes_nodes:
        runs["karpenter-like"] = lambda: rivals.karpenter_like(problem, PASSES_SECONDS)
    if problem.num_nodes <= CPSAT_NODES:
        runs["plain cp-sat"] = lambda: rivals.plain_cpsat(problem, CPSAT_SECONDS)
    found: Row = {}
    for name, call in runs.items():
        start = time.perf_counter()
        result = call()
        wrong = faults(problem, result.kept, result.node)
        found[name] = {
            "cost": result.cost,
            "over_ours": round(result.cost / max(1, ours) - 1, 5),
            "seconds": round(time.perf_counter() - start, 2),
            "faults": wrong,
        }
    return found
