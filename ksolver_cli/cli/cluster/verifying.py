"""`ksolver snapshot --verify`: what is wrong with a file, and what in it leads nowhere."""

import sys

from ksolver_cli.cli.common.exits import CommandError, Exit, one_line
from ksolver_cli.snapshot.verify import verify

_SHOWN = 20


def check(path: str) -> None:
    """Print what the file holds and what leads nowhere; raises CommandError (exit 4) for an invalid file."""
    findings = verify(path)
    if findings.faults:
        more = len(findings.faults) - 1
        for fault in findings.faults[1:_SHOWN]:
            sys.stderr.write(f"ksolver: {one_line(fault)}\n")
        what = f"{path}: {findings.faults[0]}" + (f" (and {more} more)" if more else "")
        raise CommandError(what, "take the snapshot again with `ksolver snapshot --out FILE`", Exit.SNAPSHOT)
    for end in findings.loose_ends[:_SHOWN]:
        sys.stderr.write(f"ksolver: {one_line(end)}\n")
    if len(findings.loose_ends) > _SHOWN:
        sys.stderr.write(f"ksolver: {len(findings.loose_ends) - _SHOWN} more references lead nowhere\n")
    total, kinds = sum(findings.counts.values()), len(findings.counts)
    sys.stdout.write(
        f"{one_line(path)}: valid; {total} objects of {kinds} kinds, {len(findings.loose_ends)} loose ends\n"
    )
