"""A stand-in API server with 5,000 nodes and 150,000 pods as big as real ones; speaks the list protocol over HTTP.

`python -m tests.bench.snapshot_server [nodes] [pods]` prints its address and serves until it is ended.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

GROUPS = {"apps": "v1", "batch": "v1", "policy": "v1", "storage.k8s.io": "v1"}
RESOURCES = {
    "": ("nodes", "pods", "namespaces", "services", "persistentvolumeclaims", "persistentvolumes"),
    "apps": ("deployments", "replicasets", "statefulsets", "daemonsets"),
    "batch": ("jobs", "cronjobs"),
    "policy": ("poddisruptionbudgets",),
    "storage.k8s.io": ("storageclasses", "csinodes"),
}
_FIELD = {f"f:field-{number}": {".": {}, "f:name": {}, "f:value": {"f:nested": {}}} for number in range(30)}


def node(number: int) -> dict[str, object]:
    """A node as an API server serves it, images and managedFields included."""
    size = {"cpu": "15890m", "memory": "60567208Ki", "pods": "234", "ephemeral-storage": "95551679124"}
    name = f"ip-10-{number // 250}-{number % 250}-7.ec2.internal"
    return {
        "metadata": {
            "name": name,
            "uid": f"00000000-0000-4000-8000-{number:012d}",
            "labels": {
                "kubernetes.io/hostname": name,
                "node.kubernetes.io/instance-type": "m5.4xlarge",
                "topology.kubernetes.io/zone": f"us-east-1{'abc'[number % 3]}",
                "topology.kubernetes.io/region": "us-east-1",
                "karpenter.sh/capacity-type": "on-demand",
                "acme.example/team": f"team-{number % 40}",
            },
            "annotations": {"csi.volume.kubernetes.io/nodeid": '{"ebs.csi.aws.com":"i-0"}'},
            "managedFields": [{"manager": "kubelet", "fieldsV1": _FIELD}],
        },
        "spec": {"providerID": f"aws:///us-east-1a/i-{number:017x}"},
        "status": {
            "allocatable": size,
            "capacity": size,
            "conditions": [
                {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting"}
            ],
            "nodeInfo": {"architecture": "amd64", "operatingSystem": "linux", "kubeletVersion": "v1.33.4-eks-1"},
            "images": [
                {
                    "names": [f"registry.example/team/app-{i}@sha256:{i:064x}", f"registry.example/team/app-{i}:1"],
                    "sizeBytes": 10**8 + i,
                }
                for i in range(50)
            ],
        },
    }


def pod(number: int, nodes: int) -> dict[str, object]:
    """A pod as an API server serves it: about 7 kB, most of which a snapshot drops."""
    app = number % 3000
    env = [{"name": f"SETTING_{i}", "value": f"value-{i}-of-{app}" * 2} for i in range(20)]
    container = {
        "name": "app",
        "image": f"registry.example/team/app-{app}:1",
        "env": env,
        "args": ["--serve", "--port=8080"],
        "resources": {"requests": {"cpu": "250m", "memory": "512Mi"}, "limits": {"memory": "1Gi"}},
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 10},
        "volumeMounts": [{"name": "token", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}],
    }
    return {
        "metadata": {
            "name": f"app-{app}-5d8f7c9b4-{number:06d}",
            "namespace": f"ns-{app % 200}",
            "uid": f"00000000-0000-4000-9000-{number:012d}",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"app": f"app-{app}", "pod-template-hash": "5d8f7c9b4", "acme.example/commit": f"{app:040x}"},
            "annotations": {"acme.example/checksum": "0" * 64},
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "kind": "ReplicaSet",
                    "name": f"app-{app}-5d8f7c9b4",
                    "uid": f"rs-{app}",
                    "controller": True,
                }
            ],
            "managedFields": [{"manager": "kube-controller-manager", "fieldsV1": _FIELD}],
        },
        "spec": {
            "nodeName": f"ip-10-{(number % nodes) // 250}-{(number % nodes) % 250}-7.ec2.internal",
            "containers": [container, {**container, "name": "proxy"}],
            "volumes": [{"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}],
            "tolerations": [
                {
                    "key": f"node.kubernetes.io/{word}",
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": 300,
                }
                for word in ("not-ready", "unreachable")
            ],
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": "topology.kubernetes.io/zone",
                    "whenUnsatisfiable": "ScheduleAnyway",
                    "labelSelector": {"matchLabels": {"app": f"app-{app}"}},
                }
            ],
            "schedulerName": "default-scheduler",
            "priority": 0,
        },
        "status": {
            "phase": "Running",
            "conditions": [
                {"type": t, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
                for t in ("Ready", "PodScheduled")
            ],
            "containerStatuses": [
                {
                    "name": n,
                    "ready": True,
                    "restartCount": 0,
                    "image": container["image"],
                    "imageID": "sha256:0",
                    "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
                }
                for n in ("app", "proxy")
            ],
        },
    }


class Lists:
    """Pages as bytes, made once, so that what is measured is the reader."""

    def __init__(self, nodes: int, pods: int, page: int = 500) -> None:
        self._totals = {"nodes": nodes, "pods": pods}
        self._page = page
        self._items = {
            "nodes": [json.dumps(node(i), separators=(",", ":")) for i in range(min(nodes, page))],
            "pods": [json.dumps(pod(i, nodes), separators=(",", ":")) for i in range(min(pods, 5 * page))],
        }

    def answer(self, resource: str, start: int, limit: int) -> bytes:
        """One page, as the server spells it. Names within a page repeat every few pages but for their number."""
        total = self._totals.get(resource, 0)
        count = min(limit or total, total - start)
        items = self._items.get(resource, [])
        mark = "-5d8f7c9b4-" if resource == "pods" else '"name":"ip-10-'
        chosen = (_renumbered(items[(start + i) % len(items)], mark, start + i, resource) for i in range(count))
        left = total - start - count
        token = f'"continue":"{start + count}","remainingItemCount":{left},' if left else ""
        body = ",".join(chosen)
        head = f'{{"kind":"XList","apiVersion":"v1","metadata":{{{token}"resourceVersion":"1"}},'
        return f'{head}"items":[{body}]}}'.encode()


def _renumbered(item: str, mark: str, number: int, resource: str) -> str:
    if resource == "pods":
        head, _, tail = item.partition(mark)
        return f"{head}{mark}{number:06d}{tail[6:]}"
    name = json.loads(item)["metadata"]["name"]
    return item.replace(name, f"ip-10-{number // 250}-{number % 250}-7.ec2.internal")


def serve(nodes: int, pods: int) -> ThreadingHTTPServer:
    """A server on a free port of this machine."""
    lists = Lists(nodes, pods)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self._body()
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _body(self) -> bytes:
            parts = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            if parts.path == "/version":
                return b'{"gitVersion":"v1.33.4-eks-1"}'
            if parts.path == "/apis":
                groups = [
                    {"name": g, "versions": [{"version": v}], "preferredVersion": {"version": v}}
                    for g, v in GROUPS.items()
                ]
                return json.dumps({"groups": groups}).encode()
            steps = parts.path.strip("/").split("/")
            group, rest = ("", steps[2:]) if steps[0] == "api" else (steps[1], steps[3:])
            if not rest:
                return json.dumps(
                    {"resources": [{"name": r, "verbs": ["list"]} for r in RESOURCES.get(group, ())]}
                ).encode()
            return lists.answer(rest[-1], int(query.get("continue", 0)), int(query.get("limit", 0)))

        def log_message(self, *_: object) -> None:
            pass

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


if __name__ == "__main__":
    server = serve(*(int(argument) for argument in (sys.argv[1:] or ["5000", "150000"])))
    sys.stdout.write(f"http://127.0.0.1:{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()
