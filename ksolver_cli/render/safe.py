"""Text from strangers, made safe to show: object names come from whoever wrote the manifests."""

import shlex
from collections.abc import Sequence


def plain(text: str) -> str:
    """One line, with nothing that a terminal would act on."""
    return "".join(c if c.isprintable() else "�" for c in text)


def shell(argv: Sequence[str]) -> str:
    """A command line that a POSIX shell reads back as exactly these arguments."""
    return shlex.join(plain(part) for part in argv)


def shell_lines(argv: Sequence[str], width: int) -> list[str]:
    """The same command over several lines of at most `width` columns where its arguments allow, each but the last ended
    by a backslash, so that it can be pasted as it stands.
    """
    words = [shlex.quote(plain(part)) for part in argv]
    lines = [words[0]]
    for word in words[1:]:
        indent = "" if len(lines) == 1 else "  "
        if len(indent) + len(lines[-1]) + len(word) + 3 > width:
            lines.append(word)
        else:
            lines[-1] += f" {word}"
    return [("  " if n else "") + line + (" \\" if n < len(lines) - 1 else "") for n, line in enumerate(lines)]
