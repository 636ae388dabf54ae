"""Command lines taken apart: flags and their values, also inside `sh -c` strings."""

import shlex
from collections.abc import Iterator
from itertools import pairwise

_SHELLS = frozenset({"sh", "bash", "zsh", "ash", "dash"})
_MAX_TOKENS = 4_000
_BARE = ""


def tokens(command: list[str], args: list[str]) -> list[str]:
    """Return the words of a command line, those of a shell's `-c` script included; at most 4,000 of them."""
    words = [*command, *args]
    found: list[str] = []
    for word in words:
        found.extend(_split(word) if _is_script(word, words) else [word])
    return found[:_MAX_TOKENS]


def _is_script(word: str, words: list[str]) -> bool:
    shell = bool(words) and words[0].rpartition("/")[2] in _SHELLS
    return shell and any(character.isspace() for character in word)


def _split(script: str) -> list[str]:
    cleaned = script.replace("\\\n", " ").replace("\n", " ; ")
    try:
        return shlex.split(cleaned, comments=False)
    except ValueError:
        # An unbalanced quote (a heredoc, an awk program): whitespace is the best that is left.
        return cleaned.split()


def flags(words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield (flag, value) pairs; the value is empty for a switch.

    Understands `--flag value`, `--flag=value`, `-tp 4` and the `key=value` overrides of configuration frameworks.
    """
    # The sentinel gives the last word a follower that is no value.
    for word, following in pairwise([*words, "--"]):
        name, equals, value = word.partition("=")
        if equals:
            yield name, value
        elif word.startswith("-"):
            yield word, following if _is_value(following) else _BARE


def _is_value(word: str) -> bool:
    # `--seed -1` is a flag with a value, `--fp16 -x` are two flags.
    return not word.startswith("-") or _number_like(word)


def _number_like(word: str) -> bool:
    return word[1:2].isdigit()
