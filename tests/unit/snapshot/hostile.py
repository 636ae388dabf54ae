"""A cluster that carries a canary in every field where people, charts and controllers are known to leave secrets."""

from typing import Any

CANARY = "s3cr3t-canary"
TOKEN = f"eyJhbGciOi-{CANARY}"
"""A label value that looks like a token, for labels that something selects by."""

Raw = dict[str, Any]

_CONDITIONS = [{"type": "Ready", "status": "True", "reason": "Fine", "message": CANARY}]
_ANNOTATIONS = {
    "kubectl.kubernetes.io/last-applied-configuration": f'{{"env": "{CANARY}"}}',
    "ksolver.dev/note": CANARY,
    "tensor-fusion.ai/webhook": f"https://hooks.example/{CANARY}",
    "vault.hashicorp.com/agent-inject-secret": CANARY,
}


def _metadata(name: str, namespace: str | None = "default") -> Raw:
    return {
        "name": name,
        **({"namespace": namespace} if namespace else {}),
        "annotations": dict(_ANNOTATIONS),
        "labels": {"app": "web", "ci.example/token": CANARY, "password": CANARY, "session": TOKEN},
        "managedFields": [{"manager": CANARY, "fieldsV1": {f"f:{CANARY}": {}}}],
        "finalizers": [CANARY],
        "selfLink": CANARY,
    }


def pod_spec() -> Raw:
    """The spec of a pod or a template."""
    container = {
        "name": "c",
        "image": "registry.example/app:1",
        "env": [
            {"name": "PASSWORD", "value": CANARY},
            {"name": CANARY, "valueFrom": {"secretKeyRef": {"name": CANARY}}},
        ],
        "envFrom": [{"secretRef": {"name": CANARY}}],
        "command": ["sh", "-c", CANARY],
        "args": [f"--token={CANARY}"],
        "workingDir": f"/{CANARY}",
        "livenessProbe": {
            "httpGet": {"path": f"/{CANARY}", "httpHeaders": [{"name": "Authorization", "value": CANARY}]}
        },
        "lifecycle": {"preStop": {"exec": {"command": [CANARY]}}},
        "volumeMounts": [{"name": "a", "mountPath": f"/{CANARY}", "subPath": CANARY}],
        "ports": [{"name": "web", "containerPort": 80}],
        "resources": {"requests": {"cpu": "1", "nvidia.com/gpu": "1"}},
        "terminationMessagePath": f"/{CANARY}",
        "securityContext": {"seLinuxOptions": {"user": CANARY}},
    }
    volumes = [
        {"name": "a", "secret": {"secretName": CANARY}},
        {"name": "b", "configMap": {"name": CANARY}},
        {"name": "c", "projected": {"sources": [{"secret": {"name": CANARY}}]}},
        {
            "name": "d",
            "csi": {"driver": "x.csi", "volumeAttributes": {"token": CANARY}, "nodePublishSecretRef": {"name": CANARY}},
        },
        {
            "name": "e",
            "rbd": {"pool": "p", "image": "i", "monitors": ["m"], "user": CANARY, "secretRef": {"name": CANARY}},
        },
        {"name": "f", "azureFile": {"secretName": CANARY, "shareName": "s"}},
        {"name": "g", "cephfs": {"monitors": [CANARY], "secretFile": CANARY}},
        {"name": "h", "flexVolume": {"driver": CANARY, "options": {"password": CANARY}, "secretRef": {"name": CANARY}}},
        {"name": "i", "hostPath": {"path": f"/{CANARY}"}},
        {"name": "j", "nfs": {"server": CANARY, "path": f"/{CANARY}"}},
        {"name": "k", "gitRepo": {"repository": f"https://user:{CANARY}@git.example"}},
        {"name": "l", "iscsi": {"targetPortal": "1.2.3.4", "iqn": "iqn.x", "lun": 0, "secretRef": {"name": CANARY}}},
        {"name": "m", "cinder": {"volumeID": "v", "secretRef": {"name": CANARY}}},
        {
            "name": "n",
            "ephemeral": {
                "volumeClaimTemplate": {"metadata": _metadata("x"), "spec": {"dataSource": {"name": CANARY}}}
            },
        },
        {"name": "o", CANARY: {"x": CANARY}},
    ]
    return {
        "containers": [container],
        "initContainers": [{**container, "name": "i"}],
        "ephemeralContainers": [{**container, "name": "e", "targetContainerName": CANARY}],
        "imagePullSecrets": [{"name": CANARY}],
        "hostAliases": [{"ip": "1.2.3.4", "hostnames": [CANARY]}],
        "serviceAccountName": CANARY,
        "hostname": CANARY,
        "subdomain": CANARY,
        "dnsConfig": {"searches": [CANARY]},
        "securityContext": {"sysctls": [{"name": "x", "value": CANARY}]},
        "volumes": volumes,
    }


def _template() -> Raw:
    return {"metadata": {**_metadata("t"), "labels": {"app": "web", "session": TOKEN}}, "spec": pod_spec()}


def _workload(**spec: Any) -> Raw:
    selector = {"matchLabels": {"app": "web", "session": TOKEN}}
    return {"spec": {"selector": selector, "template": _template(), **spec}, "status": {"conditions": _CONDITIONS}}


_OPAQUE = [{"opaque": {"driver": "gpu.example", "parameters": {"token": CANARY}}}]
_POOL = {
    "componentConfig": {"worker": {"podTemplate": {"template": {"spec": pod_spec()}}}},
    "observabilityConfig": {"monitor": {"alerts": {"webhook": f"https://hooks.example/{CANARY}"}}},
    "nodeManagerConfig": {"nodeProvisioner": {"gpuNodeAnnotations": {"x": CANARY}}},
}

_STATES = [
    {
        "name": "c",
        "imageID": CANARY,
        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": CANARY}},
        "lastState": {"terminated": {"message": CANARY, "exitCode": 137, "reason": "OOMKilled", "containerID": CANARY}},
    }
]

_BODIES: dict[str, Raw] = {
    "nodes": {
        "spec": {"configSource": {"x": CANARY}, "externalID": CANARY, "podCIDR": CANARY},
        "status": {
            "conditions": _CONDITIONS,
            "addresses": [{"type": "Hostname", "address": CANARY}],
            "nodeInfo": {"machineID": CANARY, "systemUUID": CANARY, "bootID": CANARY, "architecture": "amd64"},
            "volumesAttached": [{"name": CANARY, "devicePath": CANARY}],
            "config": {"error": CANARY},
        },
    },
    "pods": {
        "spec": pod_spec(),
        "status": {
            "message": CANARY,
            "hostIP": CANARY,
            "conditions": _CONDITIONS,
            "containerStatuses": _STATES,
            "initContainerStatuses": _STATES,
        },
    },
    "namespaces": {"spec": {"finalizers": [CANARY]}, "status": {"conditions": _CONDITIONS}},
    "deployments": _workload(),
    "replicasets": _workload(),
    "statefulsets": _workload(
        volumeClaimTemplates=[{"metadata": _metadata("data"), "spec": {"dataSource": {"name": CANARY}}}]
    ),
    "daemonsets": _workload(),
    "jobs": _workload(),
    "replicationcontrollers": {"spec": {"selector": {"app": "web", "session": TOKEN}, "template": _template()}},
    "cronjobs": {
        "spec": {
            "schedule": "* * * * *",
            "jobTemplate": {"metadata": _metadata("j"), "spec": {"template": _template()}},
        }
    },
    "horizontalpodautoscalers": {
        "spec": {
            "scaleTargetRef": {"kind": "Deployment", "name": "web"},
            "metrics": [{"type": "External", "external": {"metadata": CANARY, "metric": {"name": "queue"}}}],
        },
        "status": {"conditions": _CONDITIONS},
    },
    "poddisruptionbudgets": {
        "spec": {"selector": {"matchLabels": {"app": "web"}}},
        "status": {"conditions": _CONDITIONS, "disruptedPods": {CANARY: "x"}},
    },
    "priorityclasses": {"value": 1, "description": CANARY},
    "runtimeclasses": {"handler": "runc"},
    "persistentvolumeclaims": {
        "spec": {"dataSource": {"name": CANARY}, "dataSourceRef": {"name": CANARY}},
        "status": {"conditions": _CONDITIONS},
    },
    "persistentvolumes": {
        "spec": {
            "csi": {
                "driver": "x.csi",
                "volumeHandle": "vol-1",
                "volumeAttributes": {"password": CANARY},
                "nodeStageSecretRef": {"name": CANARY},
                "controllerPublishSecretRef": {"name": CANARY},
            },
            "azureFile": {"secretName": CANARY, "shareName": "s"},
            "nfs": {"server": CANARY},
            "flexVolume": {"options": {"x": CANARY}},
            "mountOptions": [f"password={CANARY}"],
        },
        "status": {"message": CANARY, "phase": "Failed"},
    },
    "storageclasses": {
        "provisioner": "x.csi",
        "parameters": {"resturl": f"https://admin:{CANARY}@h", "csi.storage.k8s.io/provisioner-secret-name": CANARY},
        "mountOptions": [CANARY],
    },
    "csinodes": {"spec": {"drivers": [{"name": "x.csi", "nodeID": "i-1", "secret": CANARY}]}},
    "csidrivers": {"spec": {"tokenRequests": [{"audience": CANARY}]}},
    "volumeattachments": {
        "spec": {
            "attacher": "x.csi",
            "source": {"inlineVolumeSpec": {"csi": {"driver": "x", "volumeAttributes": {"x": CANARY}}}},
        },
        "status": {"attachmentMetadata": {"devicePath": CANARY}, "attachError": {"message": CANARY}},
    },
    "services": {
        "spec": {"selector": {"app": "web"}, "externalName": CANARY, "loadBalancerIP": CANARY, "clusterIP": CANARY},
        "status": {"loadBalancer": {"ingress": [{"hostname": CANARY}]}},
    },
    "resourceclaims": {
        "spec": {"devices": {"config": _OPAQUE}},
        "status": {
            "allocation": {"devices": {"config": _OPAQUE}},
            "devices": [{"data": {"x": CANARY}, "conditions": _CONDITIONS}],
        },
    },
    "resourceclaimtemplates": {
        "spec": {"metadata": {"annotations": {"x": CANARY}}, "spec": {"devices": {"config": _OPAQUE}}}
    },
    "deviceclasses": {"spec": {"config": _OPAQUE}},
    "nodepools": {
        "spec": {
            "template": {
                "metadata": {"annotations": {"x": CANARY}},
                "spec": {"userData": CANARY, "kubelet": {"x": CANARY}},
            }
        },
        "status": {"conditions": _CONDITIONS},
    },
    "nodeclaims": {"spec": {"userData": CANARY}, "status": {"imageID": CANARY, "conditions": _CONDITIONS}},
    "workloads": {
        "spec": {"podSets": [{"name": "main", "template": _template()}]},
        "status": {"conditions": _CONDITIONS, "requeueState": {"x": CANARY}},
    },
    "resourceflavors": {"spec": {"nodeLabels": {"pool": "x"}}},
    "volcanopodgroups": {
        "spec": {"minMember": 1, "networkTopology": {"x": CANARY}},
        "status": {"conditions": _CONDITIONS},
    },
    "gpupools": {"spec": _POOL, "status": {"componentStatus": {"worker": CANARY}, "conditions": _CONDITIONS}},
    "gpus": {"status": {"message": CANARY, "phase": "Running"}},
    "gpunodes": {"spec": {"cloudVendorParam": CANARY}, "status": {"nodeInfo": {"ip": CANARY}}},
    "tensorfusionclusters": {
        "spec": {
            "computingVendor": {
                "params": {"extraParams": {"x": CANARY}, "accessKeyPath": CANARY, "secretKeyPath": CANARY}
            },
            "storageVendor": {"x": CANARY},
            "dataPipelines": {"webhook": f"https://hooks.example/{CANARY}"},
            "gpuPools": [{"name": "a", "spec": _POOL}],
        }
    },
    "tensorfusionworkloads": {
        "spec": {"workerPodTemplate": {"template": {"spec": pod_spec()}}},
        "status": {"conditions": _CONDITIONS},
    },
    "tensorfusionconnections": {"spec": {"clientPod": CANARY}, "status": {"connectionURL": f"native+{CANARY}+1.2.3.4"}},
    "workloadprofiles": {
        "spec": {
            "workerPodTemplate": {"template": {"spec": pod_spec()}},
            "autoScalingConfig": {"externalScaler": {"url": CANARY}},
        }
    },
}


def objects(plurals: tuple[str, ...], cluster_scoped: frozenset[str]) -> dict[str, list[Raw]]:
    """One object of every kind given."""
    return {
        plural: [
            {
                "metadata": _metadata("one", None if plural in cluster_scoped else "default"),
                **_BODIES.get(plural, {"spec": {"note": CANARY}, "status": {"note": CANARY}, "data": CANARY}),
            }
        ]
        for plural in plurals
    }
