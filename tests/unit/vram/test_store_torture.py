"""Writers and pruners at once, killed hundreds of times: nothing acknowledged is lost, nothing is there twice."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ksolver_cli.vram import store
from tests.paths import ROOT

KILLS = int(os.environ.get("KSOLVER_TORTURE_KILLS", "300"))
PODS = 60

WRITER = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from ksolver_cli.vram import store
from ksolver_cli.vram.observation import Observation
path = Path(sys.argv[1])
acknowledged = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
print("ready", flush=True)
round_ = 0
while True:
    for line in sys.stdin:
        turn = int(line)
        if os.fork() == 0:
            os.setpgid(0, 0)
            print(os.getpid(), flush=True)
            while True:
                round_ += 1
                if sys.argv[3] == "prune":
                    store.prune(path, datetime(2000, 1, 1, tzinfo=UTC))
                    os.write(acknowledged, b"pruned 0\\n")
                    continue
                rows = [
                    Observation("img", "h" * 64, 1 + turn, pod_uid=f"uid-{(turn * 7 + round_ * 5 + n) % PODS}",
                                workload="x" * 200)
                    for n in range(5)
                ]
                store.append(path, rows)
                os.write(acknowledged, "".join(f"{row.pod_uid} {row.peak_mib}\\n" for row in rows).encode())
    break
""".replace("PODS", str(PODS))


class Writer:
    """A process that forks a child per turn, so that a kill costs no start-up."""

    def __init__(self, path: Path, acknowledged: Path, does: str) -> None:
        command = [sys.executable, "-c", WRITER, str(path), str(acknowledged), does]
        self.process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._line() == "ready"

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def start(self, turn: int) -> int:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{turn}\n")
        self.process.stdin.flush()
        return int(self._line())

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize(("second", "kills"), [("append", KILLS), ("prune", KILLS // 2)])
def test_two_at_once_under_kill_minus_nine_lose_and_duplicate_nothing(second: str, kills: int, tmp_path: Path) -> None:
    path, acknowledged = tmp_path / "vram.jsonl", tmp_path / "acknowledged"
    acknowledged.touch()
    writers = [Writer(path, acknowledged, does) for does in ("append", second)]
    dice = random.Random(7)
    try:
        for turn in range(kills // 2):
            start = acknowledged.stat().st_size
            children = [writer.start(turn) for writer in writers]
            for child in children:
                # Counted in work and not in time, so that a busy machine tortures as well as an idle one.
                wait_until_larger(acknowledged, start + dice.choice([0, 1, 60]))
                time.sleep(dice.random() * 0.004)
                os.kill(child, signal.SIGKILL)
    finally:
        for writer in writers:
            writer.close()
    promised: dict[str, int] = {}
    for line in acknowledged.read_text().splitlines():
        uid, peak = line.split()
        promised[uid] = max(promised.get(uid, 0), int(peak))
    assert (promised.pop("pruned", None) is not None) is (second == "prune")
    assert len(promised) > PODS // 2, "the writers hardly wrote: the test shows nothing"
    found = {entry.pod_uid: entry.peak_mib for entry in store.read(path).observations}
    lost = {uid for uid, peak in promised.items() if found.get(uid, 0) < peak}
    assert not lost
    assert not _written_twice(path)
    rows = store.read(path).observations
    assert store.append(path, rows).written == 0
    store.prune(path, datetime(2000, 1, 1, tzinfo=UTC))
    assert {found.name for found in tmp_path.glob("*vram.jsonl*")} <= {"vram.jsonl", "vram.jsonl.lock"}
    assert store.read(path).observations == rows


def wait_until_larger(path: Path, size: int, seconds: float = 2.0) -> None:
    """Wait for a file to grow, but not for ever: the writers may be waiting for each other."""
    deadline = time.monotonic() + seconds
    while path.stat().st_size < size and time.monotonic() < deadline:
        time.sleep(0.0005)


def _written_twice(path: Path) -> list[tuple[str, int]]:
    seen: Counter[tuple[str, int]] = Counter()
    for line in path.read_bytes().splitlines():
        try:
            document = json.loads(line)
        except ValueError:
            continue
        seen[document["pod_uid"], document["peak_mib"]] += 1
    return [key for key, times in seen.items() if times > 1]
