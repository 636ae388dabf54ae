"""Commands in the documentation run, its links lead somewhere, and its lists are those of the code."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BIN = Path(sys.executable).parent
SAMPLE = ROOT / "snapshots" / "anti-affinity-three"

NEEDS_SERVER = re.compile(
    r"--prometheus-url|--scheduler(-kubeconfig| cluster| simulator|=)|--simulator-url|--context|--kubeconfig|"
    r"^ksolver (snapshot(?! --verify)|doctor|vram-observe)\b|^ksolver analyze$|--discover-prometheus"
)
"""Commands that talk to a server; the tests under `live` run their like."""


def _blocks(page: Path) -> Iterator[str]:
    yield from re.findall(r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def _commands() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for block in _blocks(page):
            joined = block.replace("\\\n", " ")
            lines = (line.split("   #")[0].strip() for line in joined.splitlines())
            found += [(str(page.relative_to(ROOT)), line) for line in lines if line.startswith("ksolver ")]
    return sorted(set(found))


COMMANDS = _commands()
OFFLINE = [c for c in COMMANDS if not NEEDS_SERVER.search(c[1]) and "--demo" not in c[1]]


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder as a reader has it: a dump, its own snapshot, a price file, a manifest."""
    shutil.copy(SAMPLE / "snapshot.json", tmp_path / "cluster.json")
    shutil.copy(SAMPLE / "snapshot.json", tmp_path / "snapshot.json")
    for hour, name in ((13, "peak"), (23, "night")):
        text = (SAMPLE / "snapshot.json").read_text(encoding="utf-8")
        taken = re.sub(r'("collected_at":\s*"[^"]*T)\d\d', rf"\g<1>{hour}", text)
        (tmp_path / f"{name}.json").write_text(taken, encoding="utf-8")
    for file in (ROOT / "tests" / "architecture" / "desk").iterdir():
        shutil.copy(file, tmp_path / file.name)
    return tmp_path


def _filled(line: str) -> str:
    """The command with the reader's placeholders filled in, and without what it is piped into (jq may not be here)."""
    pods = json.loads((SAMPLE / "snapshot.json").read_text())["objects"]["pods"]
    name = next(p["metadata"]["name"] for p in pods if p["metadata"]["labels"].get("app") == "web")
    return line.split(" | ")[0].replace("NAMESPACE/POD", f"shop/{name}")


@pytest.mark.parametrize(("page", "line"), OFFLINE, ids=[f"{page}: {line[:60]}" for page, line in OFFLINE])
def test_commands_run(page: str, line: str, desk: Path) -> None:
    script = _filled(line)
    environment = {"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(desk), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", script], cwd=desk, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), f"{page}: {line}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("page", "line"), COMMANDS, ids=[f"{page}: {line[:60]}" for page, line in COMMANDS])
def test_options_named_in_the_docs_exist(page: str, line: str) -> None:
    words = shlex.split(line.split("|")[0].split(">")[0], comments=True)
    command = [word for word in words[1:3] if re.fullmatch(r"[a-z-]+", word)]
    texts = [_help(tuple(command[:depth])) for depth in range(len(command) + 1)]
    for word in words[1:]:
        if word.startswith("--"):
            assert any(word.split("=")[0] in text for text in texts), f"{page}: {line}: {word}"


def _help(command: tuple[str, ...], _known: dict[tuple[str, ...], str] = {}) -> str:  # noqa: B006 - a cache
    if command not in _known:
        run = [str(BIN / "ksolver"), *command, "--help"]
        environment = {"COLUMNS": "200", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        done = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
        _known[command] = done.stdout
    return _known[command]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    broken = [t for t in targets if not t.startswith("http") and not (page.parent / t).exists()]
    assert broken == []
