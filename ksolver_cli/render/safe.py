"""Text from strangers, made safe to show: object names come from whoever wrote the manifests."""

import shlex
from collections.abc import Sequence


def plain(text: str) -> str:
    """One line, with nothing that a terminal would act on."""
    return "".join(c if c.isprintable() else "�" for c in text)


def shell(argv: Sequence[str]) -> str:
    """A command line that a POSIX shell reads back as exactly these arguments."""
    return shlex.join(plain(part) for part in argv)
