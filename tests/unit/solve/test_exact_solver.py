"""CP-SAT as it is set up here: the same on every run, and never the end of the process."""

import gzip
import subprocess
import sys
from pathlib import Path

DATA = Path(__file__).parent / "data"
SOLVE = """
import gzip, sys
from ortools.sat.python import cp_model
from ksolver_cli.solve.exact.model import repeatable_solver
model = cp_model.CpModel()
assert model.proto.parse_text_format(sys.stdin.read())
solver = repeatable_solver(int(sys.argv[1]), 2.0)
print(solver.status_name(solver.solve(model)))
"""


def test_a_model_that_is_solved_while_it_loads_brings_nothing_down() -> None:
    """The model proves itself infeasible at the root; several threads abort on it, whatever the seed."""
    model = gzip.decompress((DATA / "solved_while_loading.txt.gz").read_bytes()).decode()
    for seed in range(4):
        command = [sys.executable, "-c", SOLVE, str(seed)]
        done = subprocess.run(command, input=model, capture_output=True, text=True, check=False, timeout=120)
        assert (done.returncode, done.stdout.strip()) == (0, "INFEASIBLE"), done.stderr
