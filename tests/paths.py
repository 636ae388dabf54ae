"""Where the tests find facts they do not own: true verdicts of the scheduler and dumps of real clusters."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def _folder(variable: str, name: str) -> Path:
    return Path(os.environ.get(variable, ROOT.parent / "shared" / name))


CASES = _folder("KSOLVER_CASES", "cases")
DATA = _folder("KSOLVER_DATA", "data")
