"""Nothing secret enters a snapshot."""

import json
from typing import Any

from ksolver_cli.snapshot.prune import prune

CANARY = "s3cr3t-canary"


def _pod() -> dict[str, Any]:
    container = {
        "name": "c",
        "image": "registry.example/app:1",
        "env": [{"name": "PASSWORD", "value": CANARY}],
        "envFrom": [{"secretRef": {"name": CANARY}}],
        "command": ["sh", "-c", CANARY],
        "args": [CANARY],
        "livenessProbe": {"exec": {"command": [CANARY]}},
        "lifecycle": {"preStop": {"exec": {"command": [CANARY]}}},
        "resources": {"requests": {"cpu": "1"}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "p",
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": CANARY,
                "karpenter.sh/do-not-disrupt": "true",
            },
            "managedFields": [{"manager": CANARY}],
        },
        "spec": {
            "containers": [container],
            "initContainers": [container],
            "ephemeralContainers": [container],
            "imagePullSecrets": [{"name": CANARY}],
            "hostAliases": [{"ip": "1.2.3.4", "hostnames": [CANARY]}],
            "volumes": [
                {"name": "a", "secret": {"secretName": CANARY}},
                {"name": "b", "configMap": {"name": CANARY}},
                {"name": "c", "projected": {"sources": [{"secret": {"name": CANARY}}]}},
                {
                    "name": "d",
                    "csi": {
                        "driver": "x.csi",
                        "volumeAttributes": {"token": CANARY},
                        "nodePublishSecretRef": {"name": CANARY},
                    },
                },
                {"name": "e", "rbd": {"pool": "p", "image": "i", "monitors": ["m"], "secretRef": {"name": CANARY}}},
                {"name": "f", "persistentVolumeClaim": {"claimName": "data"}},
            ],
        },
        "status": {
            "message": CANARY,
            "containerStatuses": [
                {"name": "c", "lastState": {"terminated": {"message": CANARY, "exitCode": 137, "reason": "OOMKilled"}}},
            ],
        },
    }


def test_no_secret_of_a_pod_survives() -> None:
    kept = prune("pods", _pod())
    assert CANARY not in json.dumps(kept)


def test_what_analysis_needs_survives() -> None:
    kept = prune("pods", _pod())
    assert kept["metadata"]["annotations"] == {"karpenter.sh/do-not-disrupt": "true"}
    assert kept["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "1"}}
    assert kept["spec"]["volumes"][5] == {"name": "f", "persistentVolumeClaim": {"claimName": "data"}}
    assert kept["status"]["containerStatuses"][0]["lastState"]["terminated"] == {"exitCode": 137, "reason": "OOMKilled"}


def test_templates_are_pruned_like_pods() -> None:
    template = {"metadata": {"labels": {"app": "x"}}, "spec": _pod()["spec"]}
    for plural in (
        "deployments",
        "statefulsets",
        "daemonsets",
        "replicasets",
        "jobs",
        "cronjobs",
        "replicationcontrollers",
    ):
        raw = {
            "metadata": {"name": "w"},
            "spec": {"template": template, "jobTemplate": {"spec": {"template": template}}},
        }
        assert CANARY not in json.dumps(prune(plural, raw)), plural
