"""Measure the solver beside its rivals: python -m tests.bench [--sizes 50,200] [--seeds 8] [--out FOLDER]."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from tests.bench.table import markdown

ROOT = Path(__file__).resolve().parents[2]
SECONDS = {50: 15.0, 200: 15.0, 1000: 60.0, 5000: 180.0}


def main(arguments: list[str]) -> int:
    """Run every instance in a process of its own (so that peak memory is its own) and write JSON and Markdown."""
    options = _parse(arguments)
    if options.one:
        from tests.bench.measure import measure

        nodes, seed = (int(part) for part in options.one.split("-"))
        row = measure(nodes, seed, options.seconds or SECONDS.get(nodes, 60.0), not options.no_rivals)
        sys.stdout.write(json.dumps(row) + "\n")
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    before = json.loads(options.compare.read_text(encoding="utf-8")) if options.compare else []
    rows: list[dict[str, object]] = []
    for nodes in (int(size) for size in options.sizes.split(",")):
        for seed in range(1, options.seeds + 1):
            rows.append(_run(nodes, seed, options))
            sys.stderr.write(f"{rows[-1]['instance']}: gap {rows[-1]['gap']}\n")
            # Written after each row, so that a long run that is cut short leaves what it measured.
            (options.out / "benchmarks.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
            (options.out / "benchmarks.md").write_text(markdown(rows, before), encoding="utf-8")
    return 0 if all(not row["faults"] for row in rows) else 1


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure the solver and its rivals.")
    parser.add_argument("--sizes", default="50,200,1000")
    parser.add_argument("--seeds", type=int, default=8, help="seeds 1…N of each size")
    parser.add_argument("--seconds", type=float, default=0.0, help="guard of one solve; 0 for the size's own")
    parser.add_argument("--no-rivals", action="store_true")
    parser.add_argument("--out", type=Path, default=ROOT / "docs")
    parser.add_argument("--compare", type=Path, default=None, help="a stored benchmarks.json to compare with")
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _run(nodes: int, seed: int, options: argparse.Namespace) -> dict[str, object]:
    command = [sys.executable, "-m", "tests.bench", "--one", f"{nodes}-{seed}", "--seconds", str(options.seconds)]
    if options.no_rivals:
        command.append("--no-rivals")
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    row: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return row


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
