"""Manifests of every usual kind: which pods they make, how many work together, and what their launchers say."""

import json
from pathlib import Path

import pytest
import yaml

from ksolver_cli.domain.gpu_workload.fingerprint import fingerprint
from ksolver_cli.domain.gpu_workload.raw import at, text
from ksolver_cli.snapshot.model import SnapshotError
from ksolver_cli.vram.join.source import read_objects
from ksolver_cli.vram.manifests import Workload, read_workloads, workloads_of
from tests.unit.vram.gpu_pods import gpu_node, gpu_pod, kube_list

CONTAINER = """
containers:
- name: main
  image: train:1
  command: [torchrun, train.py]
  args: [--batch-size, "4"]
  resources: {limits: {nvidia.com/gpu: "8"}}
"""
LAUNCHER = """
containers:
- name: launcher
  image: mpi:1
  command: [mpirun, -np, "16", python, train.py, --seq-len=2048]
"""


def template(container: str, indent: int) -> str:
    return "\n".join(" " * indent + line for line in container.strip().splitlines())


KINDS = {
    "Pod": ("v1", f"spec:\n{template(CONTAINER, 2)}", 8, 1),
    "Deployment": ("apps/v1", f"spec:\n  replicas: 3\n  template:\n    spec:\n{template(CONTAINER, 6)}", 8, 3),
    "StatefulSet": ("apps/v1", f"spec:\n  replicas: 2\n  template:\n    spec:\n{template(CONTAINER, 6)}", 8, 2),
    "DaemonSet": ("apps/v1", f"spec:\n  template:\n    spec:\n{template(CONTAINER, 6)}", 8, 1),
    "Job": ("batch/v1", f"spec:\n  parallelism: 4\n  template:\n    spec:\n{template(CONTAINER, 6)}", 8, 4),
    "CronJob": (
        "batch/v1",
        f"spec:\n  jobTemplate:\n    spec:\n      template:\n        spec:\n{template(CONTAINER, 10)}",
        8,
        1,
    ),
    "PyTorchJob": (
        "kubeflow.org/v1",
        "spec:\n  nprocPerNode: '8'\n  pytorchReplicaSpecs:\n    Worker:\n      replicas: 4\n      template:\n"
        f"        spec:\n{template(CONTAINER, 10)}",
        32,
        4,
    ),
    "MPIJob": (
        "kubeflow.org/v2beta1",
        "spec:\n  slotsPerWorker: 8\n  mpiReplicaSpecs:\n    Launcher:\n      replicas: 1\n      template:\n"
        "        spec:\n"
        f"{template(LAUNCHER, 10)}\n    Worker:\n      replicas: 2\n      template:\n        spec:\n"
        f"{template(CONTAINER, 10)}",
        16,
        2,
    ),
    "RayJob": (
        "ray.io/v1",
        "spec:\n  entrypoint: python tune.py --seq-len 2048\n  rayClusterSpec:\n    headGroupSpec:\n      template:\n"
        f"        spec:\n          containers: [{{name: head, image: ray}}]\n"
        "    workerGroupSpecs:\n    - groupName: gpu\n"
        f"      replicas: 2\n      template:\n        spec:\n{template(CONTAINER, 10)}",
        16,
        2,
    ),
    "JobSet": (
        "jobset.x-k8s.io/v1alpha2",
        "spec:\n  replicatedJobs:\n  - name: workers\n    replicas: 2\n    template:\n      spec:\n"
        f"        parallelism: 3\n        template:\n          spec:\n{template(CONTAINER, 12)}",
        48,
        6,
    ),
    "LeaderWorkerSet": (
        "leaderworkerset.x-k8s.io/v1",
        "spec:\n  replicas: 1\n  leaderWorkerTemplate:\n    size: 2\n    workerTemplate:\n      spec:\n"
        f"{template(CONTAINER, 8)}",
        16,
        2,
    ),
}


def read(text: str, tmp_path: Path) -> list[Workload]:
    path = tmp_path / "manifest.yaml"
    path.write_text(text)
    return read_workloads(path)[0]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_its_gpu_pods(kind: str, tmp_path: Path) -> None:
    version, spec, processes, replicas = KINDS[kind]
    (found,) = read(f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: w, namespace: ml}}\n{spec}\n", tmp_path)
    assert (found.kind, found.namespace, found.name) == (kind, "ml", "w")
    assert (found.processes, found.replicas) == (processes, replicas)
    expected = fingerprint({"spec": yaml.safe_load(CONTAINER)})
    assert fingerprint(found.pod) == expected


def test_volcano_jobs_are_gangs_and_tasks_have_names() -> None:
    spec = yaml.safe_load(CONTAINER)
    tasks = [
        {"name": "ps", "replicas": 1, "template": {"spec": spec}},
        {"name": "wk", "replicas": 2, "template": {"spec": spec}},
    ]
    job = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "v"},
        "spec": {"tasks": tasks},
    }
    assert [(w.role, w.replicas, w.processes) for w in workloads_of(job)] == [("ps", 1, 24), ("wk", 2, 24)]


def test_an_indexed_job_works_together_and_a_plain_one_does_not(tmp_path: Path) -> None:
    spec = KINDS["Job"][1]
    head = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: w}\n"
    assert read(head + spec, tmp_path)[0].processes == 8
    assert read(head + spec.replace("spec:\n", "spec:\n  completionMode: Indexed\n", 1), tmp_path)[0].processes == 32


@pytest.mark.parametrize("kind", ["MPIJob", "RayJob"])
def test_launchers_and_entrypoints_are_heard(kind: str, tmp_path: Path) -> None:
    version, spec, *_ = KINDS[kind]
    (found,) = read(f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: w}}\n{spec}\n", tmp_path)
    assert found.beside.number("sequence_length") == 2048
    assert found.beside.number("world_size") == (16 if kind == "MPIJob" else None)
    assert found.namespace == "default"


def test_train_job_and_inference_service_describe_a_container_without_a_template() -> None:
    trainer = {
        "image": "t:1",
        "command": ["torchrun"],
        "numNodes": 4,
        "resourcesPerNode": {"limits": {"nvidia.com/gpu": 8}},
    }
    (found,) = workloads_of({"kind": "TrainJob", "metadata": {"name": "t"}, "spec": {"trainer": trainer}})
    assert (found.replicas, found.processes, found.beside.number("nodes")) == (4, 32, 4)
    model = {"args": ["--max-model-len=4096"], "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    (served,) = workloads_of(
        {"kind": "InferenceService", "metadata": {"name": "s"}, "spec": {"predictor": {"model": model}}}
    )
    assert served.asks_for_gpu
    assert fingerprint(served.pod) is None


def test_a_cluster_counts_each_pod_once_and_leaves_out_the_finished(tmp_path: Path) -> None:
    def made(kind: str, name: str, **metadata: object) -> dict[str, object]:
        spec = {"replicas": 1, "template": {"spec": gpu_pod("x")["spec"]}}
        return {"kind": kind, "metadata": {"name": name, "namespace": "ml", **metadata}, "spec": spec}

    done = {**gpu_pod("done"), "status": {"phase": "Succeeded"}}
    by_deployment = [{"kind": "Deployment", "name": "web", "controller": True}]
    objects = kube_list(
        gpu_pod("web-abc-1", owner=("ReplicaSet", "web-abc")),
        made("ReplicaSet", "web-abc", ownerReferences=by_deployment),
        made("ReplicaSet", "web-old", ownerReferences=by_deployment),
        made("Deployment", "web"),
        made("Deployment", "idle"),
        done,
        gpu_node(),
    )
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(objects))
    found, nodes = read_workloads(path)
    assert [(w.kind, w.name) for w in found] == [("Pod", "web-abc-1"), ("Deployment", "idle")]
    assert len(nodes) == 1


def job(kind: str, name: str, owner: tuple[str, str] | None = None, **status: object) -> dict[str, object]:
    owners = [{"kind": owner[0], "name": owner[1], "controller": True}] if owner else []
    spec = {"template": {"spec": gpu_pod("x")["spec"]}}
    metadata = {"name": name, "namespace": "ml", "ownerReferences": owners}
    return {"kind": kind, "metadata": metadata, "spec": spec, "status": status}


COMPLETE = [{"type": "Complete", "status": "True"}]


@pytest.mark.parametrize(
    ("objects", "told"),
    [
        ([job("CronJob", "nightly"), job("Job", "n-1", ("CronJob", "nightly"), conditions=COMPLETE)], "CronJob"),
        ([job("CronJob", "nightly"), job("Job", "n-1", ("CronJob", "nightly"))], "CronJob"),
        ([job("Job", "n-1", ("CronJob", "nightly"))], "Job"),
        ([job("Job", "n-1", ("CronJob", "nightly"), conditions=COMPLETE)], None),
        ([job("Job", "n-1", conditions=[{"type": "Complete", "status": "False"}])], "Job"),
        ([job("PyTorchJob", "p", conditions=[{"type": "Succeeded", "status": "True"}])], None),
        ([job("Job", "v", state={"phase": "Completed"})], None),
        ([job("Job", "v", state={"phase": "Running"})], "Job"),
        ([job("RayJob", "r", jobDeploymentStatus="Complete")], None),
        (
            [job("CronJob", "n"), job("Job", "n-1", ("CronJob", "n")), gpu_pod("n-1-x", owner=("Job", "n-1"))],
            "Pod",
        ),
        (
            [
                job("CronJob", "n"),
                job("Job", "n-1", ("CronJob", "n")),
                {**gpu_pod("n-1-x", owner=("Job", "n-1")), "status": {"phase": "Succeeded"}},
            ],
            "CronJob",
        ),
    ],
)
def test_the_nearest_to_a_pod_that_is_or_will_be_is_told_once(
    objects: list[dict[str, object]], told: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(kube_list(*objects)))
    assert [workload.kind for workload in read_workloads(path)[0]] == ([told] if told else [])


@pytest.mark.parametrize("shape", ["list", "array", "bundle", "snapshot", "typed-list"])
def test_every_shape_of_input_reads_the_same(shape: str, tmp_path: Path) -> None:
    pod = gpu_pod("p")
    bare = {key: value for key, value in pod.items() if key not in {"kind", "apiVersion"}}
    documents: dict[str, object] = {
        "list": kube_list(pod),
        "array": [pod],
        "bundle": {"pods": {"items": [bare]}, "nodes": []},
        "snapshot": {"schema": "ksolver.snapshot/1", "objects": {"pods": [bare]}},
        "typed-list": {"kind": "PodList", "apiVersion": "v1", "items": [bare]},
    }
    path = tmp_path / "in.json"
    path.write_text(json.dumps(documents[shape]))
    (found,) = read_workloads(path)[0]
    assert (found.kind, found.name) == ("Pod", "p")


@pytest.mark.parametrize(
    "obj", [{}, {"kind": "X"}, {"kind": "Job", "spec": [1]}, {"kind": "Y", "spec": {"containers": [3]}}]
)
def test_odd_objects_give_nothing(obj: dict[str, object]) -> None:
    assert all(not found.asks_for_gpu for found in workloads_of(obj))


def test_endless_nesting_ends() -> None:
    deep: dict[str, object] = {"containers": [{"image": "i"}]}
    for _ in range(100):
        deep = {"spec": deep}
    assert workloads_of({"kind": "Deep", **deep}) == []


def test_a_directory_is_all_its_files_but_those_that_are_broken(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.json").write_text(json.dumps(gpu_pod("a")))
    (tmp_path / "sub" / "b.yml").write_text(yaml.safe_dump(gpu_pod("b")))
    (tmp_path / "broken.yaml").write_text("{")
    (tmp_path / "notes.txt").write_text("no manifest")
    assert [workload.name for workload in read_workloads(tmp_path)[0]] == ["a", "b"]
    assert "broken.yaml" in caplog.text
    assert [text(at(pod, "metadata", "name")) for pod in read_objects(tmp_path)["pods"]] == ["a", "b"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(SnapshotError, match="in this directory"):
        read_workloads(tmp_path / "empty")
