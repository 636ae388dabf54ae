"""Names from strangers cannot rewrite a terminal or a shell line."""

import shlex
import subprocess

from hypothesis import given
from hypothesis import strategies as st

from ksolver_cli.render.safe import plain, shell, shell_lines


@given(st.text())
def test_plain_text_is_one_printable_line(text: str) -> None:
    assert plain(text).isprintable()
    assert len(plain(text)) == len(text)


@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=4))
def test_a_shell_reads_back_the_same_arguments(argv: list[str]) -> None:
    assert shlex.split(shell(argv)) == [plain(part) for part in argv]


def test_a_hostile_name_runs_nothing() -> None:
    line = shell(["printf", "%s", "$(touch /tmp/pwned); `id` 'x' \"y\" \n rm -rf"])
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout == "$(touch /tmp/pwned); `id` 'x' \"y\" � rm -rf"


@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=12), st.integers(10, 100))
def test_a_command_over_several_lines_is_the_same_command(argv: list[str], width: int) -> None:
    lines = shell_lines(["printf", "%s\\n", *argv], width)
    done = subprocess.run(["sh", "-c", "\n".join(lines)], capture_output=True, check=True)
    assert done.stdout.decode() == "".join(f"{plain(part)}\n" for part in argv)
    assert all(len(line) <= width or len(shlex.split(line.removesuffix(" \\"))) == 1 for line in lines)
