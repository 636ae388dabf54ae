"""Analyse a cluster, then do what the report prints, and look after every step."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.live.executed.cluster import Cluster
from tests.live.executed.objects import price_file
from tests.live.executed.printed import Printed, actions

_SHELL_SECONDS = 120
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
    file: Path

    @property
    def drains(self) -> list[dict[str, Any]]:
        """The waves, in order."""
        return [action for action in self.facts["actions"] if action["kind"] in _DRAINS]

    @property
    def summary(self) -> str:
        """What is promised, in a line."""
        plan, numbers = self.facts["plan"], self.facts["numbers"]
        counts = f"{self.facts['cluster']['nodes']} nodes, {self.facts['cluster']['pods_bound']} pods"
        costs = f"{plan['cost_before_micros']} → {plan['cost_after_micros']} (floor {numbers['floor_micros']})"
        return f"{counts}, {costs}, {len(plan['moves'])} moves in {len(plan['waves'])} waves"


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
        text, facts = source.with_suffix(".txt"), source.with_suffix(".report.json")
        flags = ("analyze", str(source), "--prices", str(self._folder / "prices.yaml"))
        text.write_text(self._ksolver(*flags))
        self._ksolver(*flags, "--json", "--out", str(facts))
        return Analysis(actions(text.read_text()), json.loads(facts.read_text()), facts)

    def go_on(self, plan: Path, source: Path) -> tuple[list[str], Path]:
        """What `ksolver plan next` prints to be run, and the file with what is left of the plan."""
        flags = ("plan", "next", str(plan), str(source), "--prices", str(self._folder / "prices.yaml"))
        rest = source.with_suffix(".plan.json")
        self._ksolver(*flags, "--json", "--out", str(rest))
        return self._ksolver(*flags).splitlines(), rest

    def run(self, commands: Sequence[str], *, waits: bool = False) -> None:
        """Paste into a shell, command by command; before nodes go, nothing may need them. With `waits`, what left them
        may come back only once they are gone.
        """
        for command in commands:
            if command.lstrip().startswith("kubectl delete node"):
                if not waits:
                    self.cluster.settle()
                left = set(command.split()[3:]) & set(self.cluster.residents())
                assert not left, f"{command} while there is {self.cluster.residents()}"
            done = self.paste(command)
            said = f"{command}\n{done.stdout}{done.stderr}"
            assert done.returncode == 0, f"{said}\npending {self.cluster.pending()}"

    def paste(self, command: str) -> subprocess.CompletedProcess[str]:
        """Have a shell run one command."""
        path = f"{self.cluster.plane.binaries}:{os.environ['PATH']}"
        env = {"PATH": path, "KUBECONFIG": str(self.cluster.plane.kubeconfig()), "HOME": str(self._folder)}
        return subprocess.run(
            ["sh", "-e"],
            input=command + "\n",
            capture_output=True,
            text=True,
            check=False,
            timeout=_SHELL_SECONDS,
            env=env,
        )

    def _ksolver(self, *args: str) -> str:
        command = [sys.executable, "-c", "from ksolver_cli.cli.main import main; main()", *args]
        env = {"PATH": "/usr/bin:/bin", "HOME": str(self._folder), "COLUMNS": "100"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout
