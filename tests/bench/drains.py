"""Measure drain plans, kube-scheduler's own code choosing every placement: python -m tests.bench.drains.

Open loop: the plan as searched, its evictions in order and moved by up to 5 places. Closed loop: the same wave by wave,
moved by up to 20 places, with a fresh look before each wave.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ksolver_cli.constraints.eviction import must_move
from ksolver_cli.domain.plan import Limits
from ksolver_cli.explain.potential import Solver
from ksolver_cli.normalise.classes import classify
from ksolver_cli.plan.search import SearchOptions, search
from tests.bench.drain_table import STORED
from tests.live.build import ensure, oracle_target
from tests.live.drains import Json, Loop, Prices, as_cluster, by_kind, pending, prices_of, shared, steps
from tests.live.oracle import Oracle
from tests.paths import DATA
from tools.generate_cluster import PRICES, Settings, generate

JITTER, LOOP_JITTER = 5.0, 20.0
Row = dict[str, object]


def main(arguments: list[str]) -> int:
    """One row a cluster, written as soon as it is known."""
    options = _parse(arguments)
    rows: list[Row] = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else []
    with tempfile.TemporaryDirectory() as folder:
        oracle = Oracle(ensure(oracle_target("1.36")) / "oracle", Path(folder) / "oracle.log")
        for name, objects, prices in _clusters(options.names.split(",")):
            rows = [row for row in rows if row["cluster"] != name]
            rows.append(_measure(oracle, name, objects, prices, options))
            sys.stderr.write(f"{rows[-1]}\n")
            options.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
        oracle.close()
    return 0


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.drains", description="Measure drain plans.")
    parser.add_argument(
        "--names", default="c50_1,c50_2,c200_1,c200_2", help="given clusters, or SIZE-SEED for a fresh one"
    )
    parser.add_argument("--effort", type=float, default=0.3)
    parser.add_argument("--seconds", type=float, default=900.0, help="guard of one search")
    parser.add_argument("--runs", type=int, default=12, help="open-loop runs, with and without jitter each")
    parser.add_argument("--loops", type=int, default=2, help="closed-loop runs, half of them in the planned order")
    parser.add_argument("--out", type=Path, default=STORED, help="`make bench` puts the default file on the page")
    return parser.parse_args(arguments)


def _clusters(names: list[str]) -> Iterator[tuple[str, Json, Prices]]:
    for name in names:
        if name.startswith("c"):
            yield name, *shared(DATA / "drain", name)
        else:
            nodes, seed = map(int, name.split("-"))
            items = generate(Settings(nodes=nodes, seed=seed, utilisation=0.45))["items"]
            assert isinstance(items, list)
            yield name, by_kind(items), PRICES


def _measure(oracle: Oracle, name: str, objects: Json, prices: Prices, options: argparse.Namespace) -> Row:
    cluster = as_cluster(objects)
    weights = prices_of(cluster, prices)
    began = time.process_time()
    limits = Limits(effort=options.effort, seconds=options.seconds)
    found = search(cluster, classify(cluster), weights, limits, SearchOptions(curve=False))
    spent = time.process_time() - began
    plan, before = found.plan, sum(weights.values())
    limits = Limits(effort=0.05, seconds=options.seconds)
    bound = Solver(limits, lambda: False, lambda progress: None).run(cluster, classify(cluster), weights, {}).proof
    room = before - bound.bound_micros
    movable = sum(map(must_move, cluster.pods))
    row: Row = {
        "cluster": name,
        "nodes": len(cluster.nodes),
        "pods": movable,
        "cost_now": before,
        "cost_after": plan.cost_after_micros,
        "bound": bound.bound_micros,
        "share": (before - plan.cost_after_micros) / room,
        "moved": plan.evictions / movable,
        "accepted": found.judgement.accepted,
        "limited_by": found.limited_by,
        "effort": options.effort,
        "search_cpu_seconds": round(spent, 1),
        "runs": 2 * options.runs,
        "runs_with_pending": 0,
    }
    for seed in range(options.runs):
        for jitter in (0.0, JITTER):
            ops = list(steps(plan, jitter, seed))
            row["runs_with_pending"] += bool(pending(ops, oracle.schedule(objects, ops, seed=seed + 1)))  # type: ignore[operator] # an int
    loops = []
    for seed in range(options.loops):
        loop = Loop(oracle, objects, prices, effort=min(options.effort, 0.1))
        loop.run(plan, LOOP_JITTER if seed % 2 else 0.0, seed)
        loops.append({"share": (before - loop.cost) / room, "moved": loop.evictions / movable, "pended": loop.pended})
    return row | {"loops": loops}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
