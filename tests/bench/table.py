"""Rows of measurements as a Markdown page."""

from collections.abc import Sequence
from statistics import median

Row = dict[str, object]
HEAD = """# Benchmarks

Measured by `make bench` on the machine at hand; other machines differ in seconds, not in cost, bound or gap.
Gap is cost ÷ proven bound − 1. Rivals run on the same problem and are held to the same rules; what they cost is shown
relative to our plan (0 % is equal, more is dearer).
"""


def markdown(rows: Sequence[Row], before: Sequence[Row] = ()) -> str:
    """The page: a summary a size, then every instance; with a stored run, how each cost changed."""
    sizes = sorted({int(str(row["nodes"])) for row in rows})
    parts = [HEAD, _summary([[r for r in rows if r["nodes"] == size] for size in sizes])]
    earlier = {row["instance"]: row for row in before}
    grouped = {size: [r for r in rows if r["nodes"] == size] for size in sizes}
    parts.extend(f"## {size} nodes\n\n" + _instances(group, earlier) for size, group in grouped.items())
    return "\n".join(parts)


def _number(row: Row, key: str) -> float:
    return float(str(row[key]))


def _summary(groups: Sequence[Sequence[Row]]) -> str:
    lines = [
        "| nodes | instances | gap median | gap worst | proven optimal | first plan, s | final, s | peak, MiB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for rows in groups:
        gaps = [_number(r, "gap") for r in rows]
        optimal = sum(r["status"] == "optimal" for r in rows)
        first, final = (median(_number(r, key) for r in rows) for key in ("first_seconds", "final_seconds"))
        peak = max(int(_number(r, "peak_mib")) for r in rows)
        lines.append(
            f"| {rows[0]['nodes']} | {len(rows)} | {median(gaps):.2%} | {max(gaps):.2%} | {optimal} "
            f"| {first:.1f} | {final:.1f} | {peak} |"
        )
    return "\n".join(lines) + "\n"


def _instances(rows: Sequence[Row], earlier: dict[object, Row]) -> str:
    names = sorted({name for row in rows for name in _rivals(row)})
    change = ["cost against the stored run"] if earlier else []
    head = ["seed", "pods", "classes", "used", "now $/h", "plan $/h", "bound $/h", "gap", "moved", "first s", "final s"]
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
            f"{row['first_seconds']}",
            f"{row['final_seconds']}",
            *(_against(row, name) for name in names),
            *([_changed(row, earlier)] if earlier else []),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _rivals(row: Row) -> dict[str, Row]:
    found = row.get("rivals")
    return found if isinstance(found, dict) else {}


def _against(row: Row, name: str) -> str:
    rival = _rivals(row).get(name)
    return "" if rival is None else f"+{_number(rival, 'over_ours'):.1%}".replace("+-", "−")


def _changed(row: Row, earlier: dict[object, Row]) -> str:
    before = earlier.get(row["instance"])
    return "" if before is None else f"{_number(row, 'cost') / _number(before, 'cost') - 1:+.2%}"
