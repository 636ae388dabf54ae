"""Analyse a cluster, then do what the report prints, and look after every step."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.live.executed.cluster import Cluster
from tests.live.executed.objects import price_file
from tests.live.executed.printed import Printed, actions

_SHELL_SECONDS = 300
_DRAINS = ("drain-nodes", "remove-idle-nodes")
KINDS = (
    "nodes,pods,namespaces,replicasets,deployments,statefulsets,daemonsets,jobs,poddisruptionbudgets,priorityclasses,"
    "persistentvolumeclaims,persistentvolumes,storageclasses,csinodes,volumeattachments,services"
)


@dataclass
class Analysis:
    """The report twice: as printed and as facts."""

    printed: list[Printed]
    facts: dict[str, Any]

    @property
    def drains(self) -> list[dict[str, Any]]:
        """The waves, in order."""
        return [action for action in self.facts["actions"] if action["kind"] in _DRAINS]


class Drill:
    """One cluster under analysis and execution; its files live in `folder`."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self._folder = folder
        (folder / "prices.yaml").write_text(price_file())

    def snapshot(self, name: str) -> Path:
        """What `ksolver snapshot` sees."""
        out = self._folder / f"{name}.json"
        self._ksolver("snapshot", "--out", str(out), "--kubeconfig", str(self.cluster.plane.kubeconfig()))
        return out

    def listed(self, name: str) -> Path:
        """What `kubectl get` sees."""
        out = self._folder / f"{name}.json"
        out.write_text(self.cluster.plane.kubectl("get", KINDS, "--all-namespaces", "-o", "json"))
        return out

    def analyse(self, source: Path) -> Analysis:
        """The report of a file, as text and as JSON."""
        flags = (str(source), "--prices", str(self._folder / "prices.yaml"), "--time-limit", "60")
        text = self._ksolver("analyze", *flags)
        (self._folder / "report.txt").write_text(text)
        return Analysis(actions(text), json.loads(self._ksolver("analyze", *flags, "--json")))

    def run(self, printed: Printed) -> None:
        """Paste what stands under "run" into a shell that stops at the first failure."""
        path = f"{self.cluster.plane.binaries}:{os.environ['PATH']}"
        env = {"PATH": path, "KUBECONFIG": str(self.cluster.plane.kubeconfig()), "HOME": str(self._folder)}
        began = time.monotonic()
        done = subprocess.run(
            ["sh", "-e"],
            input=printed.script + "\n",
            capture_output=True,
            text=True,
            check=False,
            timeout=_SHELL_SECONDS,
            env=env,
        )
        log = f"{printed.id}: {time.monotonic() - began:.1f} s, exit {done.returncode}\n{done.stdout}{done.stderr}\n"
        (self._folder / f"{printed.id}.log").write_text(f"{printed.script}\n{log}")
        assert done.returncode == 0, f"{printed.script}\n{log}{self.cluster.pending()}"

    def _ksolver(self, *args: str) -> str:
        command = [sys.executable, "-c", "from ksolver_cli.cli.main import main; main()", *args]
        env = {"PATH": "/usr/bin:/bin", "HOME": str(self._folder), "COLUMNS": "100"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout
