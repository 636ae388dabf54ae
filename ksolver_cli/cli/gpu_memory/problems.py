"""Lines of a store that were passed over, told to the user."""

import logging
from collections.abc import Iterable
from pathlib import Path

from ksolver_cli.vram.store import LineProblem

log = logging.getLogger(__name__)


def tell(store: Path, problems: Iterable[LineProblem]) -> None:
    """Warn about each line that could not be read."""
    for problem in problems:
        log.warning("%s, line %d: %s; passed over", store, problem.line, problem.reason)
