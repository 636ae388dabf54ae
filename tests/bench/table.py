"""Rows of measurements as a Markdown page."""

from collections.abc import Sequence
from statistics import median

Row = dict[str, object]
HEAD = """# Benchmarks

`make bench` measures the solver and writes this page and `tests/bench/results/solver.json`; `python -m tests.bench
--compare tests/bench/results/solver.json --results new.json --page new.md` measures a changed commit against that run.
Instances are generated from their size and seed alone: utilisation 0.3–0.8, 5 to 300 drawn node classes (those of them
that occur are counted below), zone spread with maxSkew 1 to 5, host anti-affinity, pod affinity, host ports, taints,
selectors, pinned pods, a scarce resource, GPUs. Each runs in a process of its own, with one thread.

- **gap** is cost ÷ proven bound − 1. The plan is the repack potential, the cheapest end state found: a drain realises
  less (its own numbers come with the report of a cluster).
- **bound**: recomputed from duals in exact-minded arithmetic, branches included; up to 120 nodes a class MIP may raise
  it, and there it rests on HiGHS' floating-point bound less one millionth.
- **seconds** are CPU seconds of the process, since wall clock on a shared machine says little; wall clock stands
  beside them. **first** is the first plan cheaper than today, **final** the end of the search by its own work limits.
- **judged**: the plan was counted afresh against capacities, feasibility and every rule, as were the rivals' plans.
  This judges an end state. Replaying a drain pod by pod is a different test and is held elsewhere.
- **rivals** run on the same problem in the same process (or are read from a stored run with `--rivals`, since they do
  not depend on the solver), under the same rules: what they cost relative to our plan
  (0 % is equal, more is dearer). The drains empty one node after the other, least used first. The Karpenter-like pass
  takes candidates by price ÷ disruption, the longest prefix (at most 100) by binary search, at most one node kept as a
  replacement, and begins no pass after 40 s. Plain CP-SAT gets 15 s, without bound or hint, up to 200 nodes.
"""
TARGETS = {50: (0.006, 0.025, 15.0, 300), 200: (0.01, 0.025, 5.0, 300), 1000: (0.007, 0.025, 20.0, 500)}
TARGETS[5000] = (0.01, 0.03, 60.0, 1500)
"""Median gap, worst gap, seconds to the final plan, MiB: what was set out to be reached, on two cores to itself."""


NOTES = """## What to make of it

- Seconds were measured while other work shared the two cores, which about doubles CPU seconds too. 200 nodes (5 s)
  are above what was set out to be reached: there it goes to dives with dozens of warm linear programmes and to local
  search. One row a run: a size of which fewer than eight seeds are listed was cut short, and `--keep` goes on with it.
- At 5,000 nodes seed 1 had no plan for long: rows of the programme let fractions of pods into a spread that whole pods
  break. Alone on the machine it now ends after 29 s of CPU with a gap of 0.46 %. Rivals are not run at this size.
- Seeds 1–8 are also those that the search was worked on with. Of seeds that it had not seen, those of 50 nodes (9–16)
  came out with six of eight proven optimal and 1.8 % at worst, those of 200 nodes (9–12) with 0.7 % at worst.
- Rows were stored over several changes of the solver; a fresh run may differ in a few of them by tenths of a percent.
- At one of eight seeds of 50 nodes the class MIP's counts hold no placement that was found: bound or plan, one of them
  is 0.5 % off. Where whole GPUs are dear (seed 3), branching lifts the bound, but how GPUs of several pods share a node
  is known only to placement: that is most of the gap there.
- In larger components the search stops once the plan is within 0.4 % of the bound (times less for more effort).
"""


def markdown(rows: Sequence[Row], before: Sequence[Row] = ()) -> str:
    """The page: a summary a size, then every instance; with a stored run, how each cost changed."""
    sizes = sorted({int(str(row["nodes"])) for row in rows})
    parts = [HEAD, _summary([[r for r in rows if r["nodes"] == size] for size in sizes])]
    earlier = {row["instance"]: row for row in before}
    grouped = {size: [r for r in rows if r["nodes"] == size] for size in sizes}
    parts.extend(f"## {size} nodes\n\n" + _instances(group, earlier) for size, group in grouped.items())
    return "\n".join([*parts, NOTES])


def _number(row: Row, key: str) -> float:
    return float(str(row[key]))


def _summary(groups: Sequence[Sequence[Row]]) -> str:
    lines = [
        "| nodes | instances | gap median | gap worst | proven optimal | first plan, s | final, s | peak, MiB "
        "| cheapest rival, median | plans judged sound |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for rows in groups:
        gaps = [_number(r, "gap") for r in rows]
        optimal = sum(r["status"] == "optimal" for r in rows)
        first, final = (median(_number(r, key) for r in rows) for key in ("first_cpu", "final_cpu"))
        peak = max(int(_number(r, "peak_mib")) for r in rows)
        nodes = int(str(rows[0]["nodes"]))
        goal = TARGETS.get(nodes)
        goals = (
            [f" (≤ {goal[0]:.1%})", f" (≤ {goal[1]:.1%})", f" (≤ {goal[2]:.0f})", f" (≤ {goal[3]})"]
            if goal
            else [""] * 4
        )
        nearest = [min(_number(r, "over_ours") for r in _rivals(row).values()) for row in rows if _rivals(row)]
        lines.append(
            f"| {nodes} | {len(rows)} | {median(gaps):.2%}{goals[0]} | {max(gaps):.2%}{goals[1]} | {optimal} "
            f"| {first:.1f} | {final:.1f}{goals[2]} | {peak}{goals[3]} | {f'+{median(nearest):.1%}' if nearest else ''}"
            f" | {sum(not r['faults'] for r in rows)} |"
        )
    return "\n".join(lines) + "\n\nIn brackets: what was set out to be reached.\n"


def _instances(rows: Sequence[Row], earlier: dict[object, Row]) -> str:
    names = sorted({name for row in rows for name in _rivals(row)})
    change = ["cost against the stored run"] if earlier else []
    head = [
        "seed",
        "pods",
        "classes",
        "used",
        "now $/h",
        "plan $/h",
        "bound $/h",
        "gap",
        "moved",
        "first s",
        "final s",
        "wall s",
        "MiB",
        "ended by",
        "judged",
    ]
    lines = ["| " + " | ".join([*head, *names, *change]) + " |", "|---" * (len(head) + len(names) + len(change)) + "|"]
    for row in rows:
        cells = [
            f"{row['seed']}",
            f"{row['pods']}",
            f"{row['node_classes']}",
            f"{_number(row, 'utilisation'):.0%}",
            *(f"{_number(row, key) / 1e6:.2f}" for key in ("cost_now", "cost", "bound")),
            f"{_number(row, 'gap'):.2%}" + (" (optimal)" if row["status"] == "optimal" else ""),
            f"{_number(row, 'moved_share'):.0%}",
            f"{row['first_cpu']}",
            f"{row['final_cpu']}",
            f"{row['final_seconds']}",
            f"{row['peak_mib']}",
            f"{row['limited_by'] or 'proof'}",
            "sound" if not row["faults"] else "UNSOUND",
            *(_against(row, name) for name in names),
            *([_changed(row, earlier)] if earlier else []),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def take_rivals(row: Row, stored: Sequence[Row]) -> None:
    """Give the row the rivals of its instance in a stored run, measured against its own cost."""
    for other in stored:
        if other["instance"] == row["instance"]:
            row["rivals"] = {
                name: rival | {"over_ours": round(_number(rival, "cost") / max(1.0, _number(row, "cost")) - 1, 5)}
                for name, rival in _rivals(other).items()
            }


def _rivals(row: Row) -> dict[str, Row]:
    found = row.get("rivals")
    return found if isinstance(found, dict) else {}


def _against(row: Row, name: str) -> str:
    rival = _rivals(row).get(name)
    return "" if rival is None else f"{_number(rival, 'over_ours'):+.1%}" + (" (unsound)" if rival["faults"] else "")


def _changed(row: Row, earlier: dict[object, Row]) -> str:
    before = earlier.get(row["instance"])
    return "" if before is None else f"{_number(row, 'cost') / _number(before, 'cost') - 1:+.2%}"
