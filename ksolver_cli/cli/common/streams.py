"""Standard streams that never fail for a character: a terminal that cannot show it gets a plain stand-in."""

import codecs
import io
import sys

STAND_INS = {"█": "#", "−": "-", "–": "-", "…": "...", "·": "|", "×": "x", "÷": "/", "→": "->", "≥": ">=", "�": "?"}
"""ASCII for the signs of our own words and pictures; of what others named, a question mark a character."""

_HANDLER = "ksolver-stand-in"


def _stand_in(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(STAND_INS.get(sign, "?") for sign in error.object[error.start : error.end]), error.end


def forgive() -> None:
    """Make stdout and stderr take any text."""
    codecs.register_error(_HANDLER, _stand_in)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_HANDLER)


def exact() -> None:
    """Make stdout UTF-8, for what programs read."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogatepass")
