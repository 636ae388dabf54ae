"""Owner chains end at the object a person would edit, and no name is guessed without a label that confirms it."""

from ksolver_cli.domain.pod import WorkloadRef
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.snapshot.model import Snapshot


def owner(kind: str, name: str, api: str = "apps/v1") -> list[dict]:
    return [
        {"kind": "Helper", "name": "not-the-controller", "apiVersion": "v1"},
        {"apiVersion": api, "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True},
    ]


def thing(name: str, owners: list[dict] | None = None, **metadata: object) -> dict:
    made = {"name": name, "namespace": "shop", "ownerReferences": owners or [], **metadata}
    return {"metadata": made, "spec": {"containers": [{"name": "c"}]}}


def workload_of(pod: dict, **kinds: tuple) -> str:
    (found,) = normalise(Snapshot(objects={"pods": (pod,), **kinds})).pods
    return str(found.workload)


def test_a_replica_sets_pod_belongs_to_its_deployment() -> None:
    pod = thing("web-abc-1", owner("ReplicaSet", "web-abc"))
    assert workload_of(pod, replicasets=(thing("web-abc", owner("Deployment", "web")),)) == "Deployment/shop/web"


def test_the_chain_goes_on_above_the_kinds_that_kubernetes_has() -> None:
    kinds = {"statefulsets": (thing("db", owner("Database", "orders", "db.example/v1")),)}
    assert workload_of(thing("db-0", owner("StatefulSet", "db")), **kinds) == "Database/shop/orders"


def test_a_job_of_a_cron_job_belongs_to_the_cron_job() -> None:
    jobs = (thing("report-1", owner("CronJob", "report", "batch/v1")),)
    assert workload_of(thing("report-1-x", owner("Job", "report-1", "batch/v1")), jobs=jobs) == "CronJob/shop/report"


def test_a_replica_set_that_is_not_there_is_named_after_by_its_hash_label_alone() -> None:
    owners = owner("ReplicaSet", "web-5d4")
    assert workload_of(thing("p", owners, labels={"pod-template-hash": "5d4"})) == "Deployment/shop/web"
    assert workload_of(thing("p", owners, labels={"rollouts-pod-template-hash": "5d4"})) == "Rollout/shop/web"
    assert workload_of(thing("p", owners, labels={"pod-template-hash": "d4"})) == "ReplicaSet/shop/web-5d4"
    assert workload_of(thing("p", owners)) == "ReplicaSet/shop/web-5d4"


def test_a_replica_set_without_an_owner_is_the_top() -> None:
    pod = thing("p", owner("ReplicaSet", "web-5d4"), labels={"pod-template-hash": "5d4"})
    assert workload_of(pod, replicasets=(thing("web-5d4"),)) == "ReplicaSet/shop/web-5d4"


def test_owners_in_a_circle_end() -> None:
    kinds = {
        "replicasets": (thing("a", owner("Deployment", "b")),),
        "deployments": (thing("b", owner("ReplicaSet", "a")),),
    }
    assert workload_of(thing("p", owner("ReplicaSet", "a")), **kinds).split("/")[1] == "shop"


def test_a_bare_pod_has_no_workload_and_a_mirror_pod_is_static() -> None:
    bare = thing("bare")
    mirror = thing("etcd-n1", owner("Node", "n1", "v1"), annotations={"kubernetes.io/config.mirror": "x"})
    by_name = {pod.name: pod for pod in normalise(Snapshot(objects={"pods": (bare, mirror)})).pods}
    assert by_name["bare"].controller is None
    assert by_name["bare"].workload is None
    assert by_name["etcd-n1"].is_static
    assert by_name["etcd-n1"].controller == WorkloadRef("Node", "", "n1", "v1", "uid-n1")


def test_pods_of_one_owner_share_its_reference() -> None:
    pods = tuple(thing(f"web-{i}", owner("StatefulSet", "web")) for i in range(3))
    assert len({id(pod.workload) for pod in normalise(Snapshot(objects={"pods": pods})).pods}) == 1
