"""Measure the solver beside its rivals: python -m tests.bench [--sizes 50,200] [--keep] [--compare FILE]."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from tests.bench.drain_table import drain_section
from tests.bench.table import Row, markdown, take_rivals

ROOT = Path(__file__).resolve().parents[2]
SECONDS = {50: 60.0, 200: 60.0, 1000: 180.0, 5000: 400.0}
"""Guards by size, wide enough for a busy machine: work ends a search, not the clock."""
SEEDS = {5000: 2}
RESULTS = ROOT / "tests" / "bench" / "results" / "solver.json"
PAGE = ROOT / "docs" / "benchmarks.md"


def main(arguments: list[str]) -> int:
    """Run every instance in a process of its own (so that peak memory is its own) and write JSON and Markdown."""
    options = _parse(arguments)
    if options.one:
        from tests.bench.measure import measure

        nodes, seed = (int(part) for part in options.one.split("-"))
        row = measure(nodes, seed, options.seconds or SECONDS.get(nodes, 60.0), options)
        sys.stdout.write(json.dumps(row) + "\n")
        return 0
    before = json.loads(options.compare.read_text(encoding="utf-8")) if options.compare else []
    rivals = json.loads(options.rivals.read_text(encoding="utf-8")) if options.rivals else []
    rows = _kept(options)
    for nodes in (int(size) for size in options.sizes.split(",")):
        for seed in range(1, (options.seeds or SEEDS.get(nodes, 8)) + 1):
            if not any(row["instance"] == f"{nodes}-{seed}" for row in rows):
                rows.append(_run(nodes, seed, options))
                take_rivals(rows[-1], rivals)
                sys.stderr.write(f"{rows[-1]['instance']}: gap {rows[-1]['gap']}\n")
                # Written after each row, so that a long run that is cut short leaves what it measured.
                _write(options, rows, before)
    _write(options, rows, before)
    return 0 if all(not row["faults"] for row in rows) else 1


def _kept(options: argparse.Namespace) -> list[Row]:
    if not options.keep or not options.results.exists():
        return []
    rows: list[Row] = json.loads(options.results.read_text(encoding="utf-8"))
    return rows


def _write(options: argparse.Namespace, rows: list[Row], before: list[Row]) -> None:
    rows.sort(key=lambda row: (int(str(row["nodes"])), int(str(row["seed"]))))
    options.results.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(row) for row in rows)
    options.results.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    options.page.write_text(markdown(rows, before) + "\n" + drain_section(), encoding="utf-8")


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure the solver and its rivals.")
    parser.add_argument("--sizes", default="50,200,1000,5000")
    parser.add_argument("--seeds", type=int, default=0, help="seeds 1…N of each size; 0 for the size's own number")
    parser.add_argument("--seconds", type=float, default=0.0, help="guard of one solve; 0 for the size's own")
    parser.add_argument("--no-rivals", action="store_true")
    parser.add_argument("--few-rivals", action="store_true", help="above 200 nodes only the one-way drains")
    parser.add_argument("--rivals", type=Path, default=None, help="a stored JSON file to take the rivals' costs from")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the JSON file to write")
    parser.add_argument("--page", type=Path, default=PAGE, help="the Markdown page to write")
    parser.add_argument("--keep", action="store_true", help="go on where a run was cut short: keep rows that are there")
    parser.add_argument("--compare", type=Path, default=None, help="a stored JSON file to compare with")
    parser.add_argument("--instances", type=Path, default=None, help="a folder that keeps instances between runs")
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _run(nodes: int, seed: int, options: argparse.Namespace) -> Row:
    command = [sys.executable, "-m", "tests.bench", "--one", f"{nodes}-{seed}", "--seconds", str(options.seconds)]
    if options.no_rivals or options.rivals:
        command.append("--no-rivals")
    if options.few_rivals:
        command.append("--few-rivals")
    if options.instances:
        command += ["--instances", str(options.instances)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    row: Row = json.loads(done.stdout.splitlines()[-1])
    return row


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
