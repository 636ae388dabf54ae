"""Client of the oracle: kube-scheduler's own verdicts, placements and scores for a cluster given as JSON.

The protocol is in README.md beside this file. One process answers any number of requests; an answer is plain JSON.
"""

import itertools
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

CLUSTER_KEYS = frozenset({
    "namespaces", "services", "replicationcontrollers", "replicasets", "statefulsets", "poddisruptionbudgets",
    "storageclasses", "persistentvolumes", "persistentvolumeclaims", "csidrivers", "csistoragecapacities",
    "volumeattachments", "deviceclasses", "resourceslices", "resourceclaims", "nodes", "csinodes", "pods",
})  # fmt: skip

# Objects as they are in JSON: the scheduler reads them, nothing here does.
Json = dict[str, Any]
Cluster = Mapping[str, Any]


class OracleError(RuntimeError):
    """The oracle refused a request, or ended."""


class Oracle:
    """One oracle process. `cluster` arguments are mappings with any of `CLUSTER_KEYS`; other keys are left out."""

    def __init__(self, binary: Path, log: Path, gates: str = "") -> None:
        self.log = log
        self._numbers = itertools.count(1)
        with log.open("ab") as sink:
            self._process = subprocess.Popen(
                [str(binary), f"--feature-gates={gates}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=sink
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process: it stops when its input does."""
        if self._process.stdin:
            self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def ask(self, request: str, **fields: object) -> Json:
        """Answer to one request, its objects and options as `fields`."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        number = next(self._numbers)
        stdin.write(orjson.dumps({"id": number, "request": request} | fields) + b"\n")
        stdin.flush()
        line = stdout.readline()
        if not line:
            raise OracleError(f"the oracle ended with {self._process.wait()}; its log is {self.log}")
        reply: Json = orjson.loads(line)
        if "error" in reply:
            raise OracleError(reply["error"])
        if reply["id"] != number:
            raise OracleError(f"answer {reply['id']} to request {number}")
        answer: Json = reply["answer"]
        return answer

    def version(self) -> Json:
        """`{"version": "v1.36.3", "filter_plugins": [...]}`, plugins in the order in which they run."""
        return self.ask("version")

    def filter(self, cluster: Cluster | str, pod: Cluster | str) -> Json:
        """Per node `{"verdict", "first_fail"?, "alone"}`: the whole phase, its first "no", every plugin's own "no".

        `pod` is an object, or the `namespace/name` of one in the cluster, taken as if it had just been evicted.
        """
        return dict(self.ask("filter", pod=pod, **_named(cluster))["nodes"])

    def score(self, cluster: Cluster | str, pod: Cluster | str) -> Json:
        """`{"nodes": {node: {"total", "plugins": {plugin: {normalized, weight, weighted}}}}, "rejected": {...}}`."""
        return self.ask("score", pod=pod, **_named(cluster))

    def schedule(
        self, cluster: Cluster | str, ops: Sequence[Mapping[str, object]], seed: int | None = None, **options: object
    ) -> Json:
        """`{"steps": [[{"pod", "node", "message"?}]], "assignments"?}` after `ops`, one list of placements a step.

        Options: `assignments=True` for where every pod is in the end, `explain=True` for who rejected each node,
        `sample_percent=100` to score every node of a cluster of more than 100.
        """
        if seed is not None:
            options["seed"] = seed
        return self.ask("schedule", ops=list(ops), **_named(cluster), **options)

    def keep(self, name: str, cluster: Cluster, sample_percent: int = 0) -> None:
        """Load a cluster once for several requests, which name it in place of the objects; `schedule` changes it."""
        self.ask("keep", cluster=name, sample_percent=sample_percent, **_objects(cluster))

    def forget(self, name: str) -> None:
        """Drop a kept cluster."""
        self.ask("forget", cluster=name)


def _named(cluster: Cluster | str) -> Json:
    return {"cluster": cluster} if isinstance(cluster, str) else _objects(cluster)


def _objects(cluster: Cluster) -> Json:
    return {key: value for key, value in cluster.items() if key in CLUSTER_KEYS and value}
