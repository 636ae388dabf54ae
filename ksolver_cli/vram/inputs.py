"""Documents of an input: a file, stdin, or every JSON and YAML file of a directory, plain or compressed."""

import logging
import re
from collections.abc import Iterator
from pathlib import Path

from ksolver_cli.snapshot.documents import parse
from ksolver_cli.snapshot.model import SnapshotError
from ksolver_cli.snapshot.source import STDIN, read_bytes

log = logging.getLogger(__name__)

_SUFFIXES = re.compile(r"\.(json|ya?ml)(\.(gz|zst))?$", re.IGNORECASE)


def documents(path: str | Path) -> Iterator[tuple[str, object]]:
    """Yield (where, document) of an input; raises SnapshotError when it cannot be read.

    In a directory, files that hold something else are warned about and passed over.
    """
    if str(path) == STDIN or not Path(path).is_dir():
        where = "stdin" if str(path) == STDIN else str(path)
        yield from ((where, document) for document in parse(where, read_bytes(str(path))))
        return
    files = sorted(str(file) for file in Path(path).rglob("*") if file.is_file() and _SUFFIXES.search(file.name))
    if not files:
        raise SnapshotError(f"{path}: no .json or .yaml file in this directory", "check the path")
    for file in files:
        try:
            yield from [(file, document) for document in parse(file, read_bytes(file))]
        except SnapshotError as error:
            log.warning("passed over: %s", error.what)
