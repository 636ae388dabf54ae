"""A whole Kubernetes control plane on this machine, for as long as a test run lasts.

etcd, kube-apiserver, kube-scheduler and kube-controller-manager are the real ones; kwok plays every kubelet, so that
pods run and end without containers. All of it listens on 127.0.0.1 only and writes into one folder.
"""

import json
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.live.process import LOCALHOST, Server, ServerError, free_ports, signing_key

USERS = ("admin", "reader", "limited", "nobody")
_START_SECONDS = 60.0
_CLEARED = (
    "apis/apps/v1/deployments",
    "apis/apps/v1/statefulsets",
    "apis/apps/v1/daemonsets",
    "apis/apps/v1/replicasets",
    "apis/batch/v1/cronjobs",
    "apis/batch/v1/jobs",
    "apis/policy/v1/poddisruptionbudgets",
    "apis/autoscaling/v2/horizontalpodautoscalers",
    "api/v1/pods",
    "api/v1/persistentvolumeclaims",
    "api/v1/persistentvolumes",
    "api/v1/nodes",
    "apis/storage.k8s.io/v1/storageclasses",
    "apis/storage.k8s.io/v1/csinodes",
)


@dataclass(frozen=True)
class _Ports:
    etcd: int
    peer: int
    apiserver: int
    scheduler: int
    manager: int
    kwok: int


@dataclass
class Plane:
    """A running control plane; `start` makes one, `stop` ends it.

    `admin` is an HTTP client with every right; `kubeconfig` gives a file for any of `USERS`, of whom only admin has
    rights until `grant` gives some.
    """

    home: Path
    binaries: Path
    kwok: Path
    ports: _Ports = field(default_factory=lambda: _Ports(*free_ports(6)))
    _servers: list[Server] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Address of the API server."""
        return f"https://{LOCALHOST}:{self.ports.apiserver}"

    def start(self) -> None:
        """Start everything and wait until the API server is ready and the default namespace can take pods."""
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def _start(self) -> None:
        (self.home / "users").mkdir(parents=True, exist_ok=True)
        (self.home / "sa.key").write_text(signing_key())
        tokens = (f'{user}-token,{user},{user}-id,"{_group(user)}"\n' for user in USERS)
        (self.home / "tokens.csv").write_text("".join(tokens))
        for user in USERS:
            self._write_kubeconfig(user)
        (self.home / "scheduler.json").write_text(json.dumps(self._scheduler_config()))
        self._run("etcd", self._etcd_flags())
        self._run("kube-apiserver", self._apiserver_flags())
        self._until("the API server is ready", self._ready)
        self.admin = self.client()
        self._run("kube-controller-manager", self._manager_flags())
        self._run(
            "kube-scheduler",
            ["--config=scheduler.json", f"--bind-address={LOCALHOST}", f"--secure-port={self.ports.scheduler}"],
        )
        self._servers.append(Server([self.kwok / "kwok", *self._kwok_flags()], self.home / "kwok.log"))
        self._until("the default service account is there", lambda: self.can_take_pods("default"))

    def stop(self) -> None:
        """End every process, the last started first."""
        while self._servers:
            self._servers.pop().stop()

    def pids(self) -> list[int]:
        """Process ids of the servers."""
        return [server.pid for server in self._servers]

    def _run(self, name: str, flags: Sequence[str]) -> None:
        self._servers.append(Server([self.binaries / name, *flags], self.home / f"{name}.log"))

    def _until(self, what: str, condition: Callable[[], bool], seconds: float = _START_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            for server in self._servers:
                server.check()
            if time.monotonic() > deadline:
                logs = "\n".join(f"--- {s.name}\n{s.tail()}" for s in self._servers)
                raise ServerError(f"waited {seconds:g} s until {what}\n{logs}")
            time.sleep(0.05)

    def _ready(self) -> bool:
        if not (self.home / "tls/apiserver.crt").exists():
            return False
        try:
            with self.client() as client:
                return client.get("/readyz").status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    def can_take_pods(self, namespace: str) -> bool:
        """Whether admission would let a pod into `namespace`: its default service account exists."""
        return self.admin.get(f"/api/v1/namespaces/{namespace}/serviceaccounts/default").is_success

    # --- flags

    def _etcd_flags(self) -> list[str]:
        client, peer = (f"http://{LOCALHOST}:{port}" for port in (self.ports.etcd, self.ports.peer))
        return [
            "--data-dir=etcd",
            "--unsafe-no-fsync",
            "--log-level=error",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
        ]

    def _apiserver_flags(self) -> list[str]:
        return [
            f"--etcd-servers=http://{LOCALHOST}:{self.ports.etcd}",
            f"--bind-address={LOCALHOST}",
            f"--advertise-address={LOCALHOST}",
            f"--secure-port={self.ports.apiserver}",
            # An endpoint of the loopback network is invalid: nobody may publish this server in the cluster.
            "--endpoint-reconciler-type=none",
            "--cert-dir=tls",
            "--token-auth-file=tokens.csv",
            "--authorization-mode=RBAC",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-account-key-file=sa.key",
            "--service-account-signing-key-file=sa.key",
            "--enable-priority-and-fairness=false",
            "--max-requests-inflight=2000",
            "--max-mutating-requests-inflight=2000",
        ]

    def _manager_flags(self) -> list[str]:
        return [
            f"--kubeconfig={self.kubeconfig()}",
            f"--bind-address={LOCALHOST}",
            f"--secure-port={self.ports.manager}",
            "--leader-elect=false",
            "--service-account-private-key-file=sa.key",
            "--root-ca-file=tls/apiserver.crt",
            # Without a signer's certificate these only fill the log.
            "--controllers=*,-certificatesigningrequest-signing-controller",
            "--kube-api-qps=1000",
            "--kube-api-burst=2000",
        ]

    def _kwok_flags(self) -> list[str]:
        return [
            f"--kubeconfig={self.kubeconfig()}",
            "--manage-all-nodes=true",
            "--node-lease-duration-seconds=40",
            f"--server-address={LOCALHOST}:{self.ports.kwok}",
        ]

    def _scheduler_config(self) -> dict[str, object]:
        return {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": str(self.kubeconfig()), "qps": 5000, "burst": 10000},
            "leaderElection": {"leaderElect": False},
            "podMaxBackoffSeconds": 1,
        }

    # --- users

    def kubeconfig(self, user: str = "admin") -> Path:
        """Kubeconfig file of `user`, with one context called `live`."""
        return self.home / "users" / f"{user}.kubeconfig"

    def _write_kubeconfig(self, user: str) -> None:
        cluster = {"server": self.url, "certificate-authority": str(self.home / "tls/apiserver.crt")}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "live",
            "clusters": [{"name": "live", "cluster": cluster}],
            "users": [{"name": user, "user": {"token": f"{user}-token"}}],
            "contexts": [{"name": "live", "context": {"cluster": "live", "user": user}}],
        }
        self.kubeconfig(user).write_text(json.dumps(config))

    def client(self, user: str = "admin") -> httpx.Client:
        """HTTP client that speaks to the API server as `user`."""
        trust = ssl.create_default_context(cafile=str(self.home / "tls/apiserver.crt"))
        headers = {"Authorization": f"Bearer {user}-token"}
        return httpx.Client(base_url=self.url, headers=headers, verify=trust, timeout=30, trust_env=False)

    def grant(self, user: str, rules: Sequence[Mapping[str, object]]) -> None:
        """Give `user` exactly these cluster-wide RBAC rules."""
        name = f"live-{user}"
        rbac = "rbac.authorization.k8s.io"
        role = {"apiVersion": f"{rbac}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": list(rules)}
        binding = {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": rbac, "kind": "User", "name": user}],
        }
        self.apply(role, binding)

    # --- objects

    def kubectl(self, *args: str, user: str = "admin", stdin: str = "") -> str:
        """Output of kubectl as `user`; raises `ServerError` with its words where it fails."""
        command = [str(self.binaries / "kubectl"), f"--kubeconfig={self.kubeconfig(user)}", *args]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, timeout=120)
        if done.returncode:
            raise ServerError(f"kubectl {' '.join(args)}: {done.stderr}{done.stdout}")
        return done.stdout

    def apply(self, *objects: Mapping[str, object]) -> None:
        """Create or update objects as kubectl apply does, with an owner per field."""
        items = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        self.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=json.dumps(items))

    def items(self, path: str, **query: str) -> list[dict[str, Any]]:
        """Objects that a list path of the API gives, such as `api/v1/pods`."""
        answer = self.admin.get(f"/{path}", params=query)
        if not answer.is_success:
            raise ServerError(f"GET {path}: {answer.text}")
        return list(answer.json()["items"])

    def namespace(self, name: str) -> str:
        """Create a namespace and wait until it can take pods."""
        self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        self.wait(f"namespace {name} can take pods", lambda: self.can_take_pods(name))
        return name

    def wait(self, what: str, condition: Callable[[], bool], seconds: float = 30.0) -> None:
        """Wait until `condition`; `ServerError` with the servers' last words where it does not come."""
        self._until(what, condition, seconds)

    def create(self, path: str, *objects: Mapping[str, object]) -> None:
        """Create objects one by one under a path such as `api/v1/nodes`, much faster than `apply`."""
        for obj in objects:
            answer = self.admin.post(f"/{path}", json=obj)
            if not answer.is_success:
                raise ServerError(f"POST {path}: {answer.text}")

    def add_nodes(self, *nodes: Mapping[str, object]) -> None:
        """Create nodes and wait until all nodes are ready: a new node has a taint until its heartbeat was seen."""
        self.create("api/v1/nodes", *nodes)

        def all_ready() -> bool:
            keys = [t["key"] for n in self.items("api/v1/nodes") for t in n["spec"].get("taints", ())]
            return not any(key.startswith("node.kubernetes.io/not-ready") for key in keys)

        self.wait("every node is ready", all_ready)

    @contextmanager
    def without_kubelets(self) -> Iterator[None]:
        """No kubelet says or does anything until the block ends; after 50 seconds every node would be unreachable."""
        with next(server for server in self._servers if server.name == "kwok").paused():
            yield

    def clear(self) -> None:
        """Delete every workload, volume and node. Namespaces stay: the end of one takes seconds and bars its name."""
        now = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0, "propagationPolicy": "Background"}
        for path in _CLEARED:
            group, plural = path.rsplit("/", 1)
            for meta in (item["metadata"] for item in self.items(path)):
                inside = f"namespaces/{meta['namespace']}/" if "namespace" in meta else ""
                self.admin.request("DELETE", f"/{group}/{inside}{plural}/{meta['name']}", json=now)
        self.wait(
            "all pods and nodes are gone", lambda: not self.items("api/v1/pods") and not self.items("api/v1/nodes")
        )


def _group(user: str) -> str:
    """Group of a user: `system:masters` is past every authorizer."""
    return "system:masters" if user == "admin" else "live"
