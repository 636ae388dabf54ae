"""Right-class advice: only what is proven, priced and possible, and what stands in the way."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ksolver_cli.catalog.tables import bundled_catalog
from ksolver_cli.domain.gpu_workload.fingerprint import fingerprint
from ksolver_cli.vram.observation import Observation, to_line
from ksolver_cli.vram.right_class.advice import WrongClass, wrong_classes
from tests.paths import ROOT
from tests.unit.vram.gpu_pods import gpu_node, gpu_pod, kube_list
from tests.unit.vram.test_cli_predict import invoke

H100 = {
    "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
    "node.kubernetes.io/instance-type": "p5.48xlarge",
    "topology.kubernetes.io/region": "us-east-1",
}
CATALOG = bundled_catalog()


def node(**labels: str) -> dict[str, object]:
    return {**gpu_node(**{**H100, **labels}), "spec": {"providerID": "aws:///us-east-1a/i-0"}}


def rows(pod: dict[str, object], *peaks: int, **facts: object) -> list[Observation]:
    found = fingerprint(pod)
    assert found is not None
    return [Observation(found.image, found.command_hash, peak, **facts) for peak in peaks]  # type: ignore[arg-type]


def advice(pods: list[dict[str, object]], observed: list[Observation], *nodes: dict[str, object]) -> list[WrongClass]:
    return wrong_classes(observed, {"pods": pods, "nodes": list(nodes or (node(),))}, CATALOG)


PODS = [gpu_pod(f"train-{n}", owner=("Job", "train")) for n in range(3)]


def test_nineteen_gib_of_an_h100_fit_a_cheaper_class() -> None:
    (found,) = advice(PODS, rows(PODS[0], 19_000, 19_456, 18_000))
    assert (found.workload, found.pods, found.gpus, found.samples) == ("Job/train", 3, 3, 3)
    assert (found.gpu, found.memory_mib, found.peak_mib) == ("h100-80gb", 81_559, 19_456)
    assert found.offer.memory_mib >= 19_456 * 1.05
    offers = {gpu for gpu in CATALOG.gpus if CATALOG.gpus[gpu].memory_low_mib >= 19_456 * 1.05}
    assert found.offer.gpu in offers
    assert found.micros_per_hour_less > 0
    assert found.blocked_by == ()


def test_the_cheapest_class_that_holds_the_peak_is_named() -> None:
    small = advice(PODS[:1], rows(PODS[0], 14_000, 14_000, 14_000))[0].offer
    large = advice(PODS[:1], rows(PODS[0], 40_000, 40_000, 40_000))[0].offer
    assert (small.gpu, large.gpu) == ("t4", "l40s")
    assert small.micros_per_gpu_hour < large.micros_per_gpu_hour


def test_a_peak_within_a_twentieth_of_a_card_does_not_fit_it() -> None:
    limit = CATALOG.gpus["t4"].memory_low_mib
    assert advice(PODS[:1], rows(PODS[0], *[int(limit / 1.06)] * 3))[0].offer.gpu == "t4"
    assert advice(PODS[:1], rows(PODS[0], *[int(limit / 1.04)] * 3))[0].offer.gpu != "t4"


@pytest.mark.parametrize(
    ("observed", "nodes"),
    [
        (rows(PODS[0], 19_000, 19_000), [node()]),
        (rows(PODS[0], 19_000, 19_000, 19_000, shared=True), [node()]),
        (rows(PODS[0], 19_000, 19_000, 19_000, mig_profile="1g.10gb"), [node()]),
        (rows(PODS[0], 19_000, 19_000, 19_000, hints={"gpu_memory_utilization": 0.9}), [node()]),
        (rows(PODS[0], 97_000, 97_000, 97_000), [node()]),
        (rows(PODS[0], 19_000, 19_000, 19_000), [node(**{"nvidia.com/gpu.replicas": "2"})]),
        (rows(PODS[0], 19_000, 19_000, 19_000), [node(**{"nvidia.com/gpu.product": "Unheard-Of"})]),
        (rows(PODS[0], 19_000, 19_000, 19_000), [gpu_node(**{"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"})]),
        (rows(gpu_pod("other", args=())), [node()]),
    ],
    ids=["two", "shared", "mig", "elastic", "full", "time-sliced", "unknown-card", "unpriced", "another"],
)
def test_no_advice_without_proof_price_or_room(observed: list[Observation], nodes: list[dict[str, object]]) -> None:
    assert advice(PODS, observed, *nodes) == []


def test_an_image_stays_on_its_architecture() -> None:
    arm = node(**{"kubernetes.io/arch": "arm64"})
    assert CATALOG.shapes("aws")["g5g.xlarge"].arch == "arm64"
    observed = rows(PODS[0], 14_000, 14_000, 14_000)
    assert advice(PODS[:1], observed)[0].offer.gpu == "t4"
    assert advice(PODS[:1], observed, arm) == []


def test_pods_that_do_not_run_or_ask_for_instances_are_left_out() -> None:
    observed = rows(PODS[0], 19_000, 19_000, 19_000)
    assert advice([{**PODS[0], "status": {"phase": "Succeeded"}}], observed) == []
    assert advice([gpu_pod("m", resource="nvidia.com/mig-1g.10gb")], observed) == []


def restricted(**spec: object) -> dict[str, object]:
    pod = gpu_pod("p")
    return {**pod, "spec": {**pod["spec"], **spec}}  # type: ignore[dict-item]


def affinity(*terms: dict[str, object]) -> dict[str, object]:
    required = {"nodeSelectorTerms": [{"matchExpressions": [term]} for term in terms]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


PRODUCT, TYPE = "nvidia.com/gpu.product", "node.kubernetes.io/instance-type"


@pytest.mark.parametrize(
    ("pod", "blocked_by"),
    [
        (restricted(nodeSelector={PRODUCT: H100[PRODUCT]}), (f"node selector {PRODUCT}={H100[PRODUCT]}",)),
        (restricted(nodeSelector={TYPE: "p5.48xlarge", "team": "ml"}), (f"node selector {TYPE}=p5.48xlarge",)),
        (restricted(nodeSelector={"team": "ml", PRODUCT: "Tesla-T4"}), ()),
        (
            restricted(affinity=affinity({"key": TYPE, "operator": "In", "values": ["p5.48xlarge", "p5e.48xlarge"]})),
            (f"node affinity {TYPE} In [p5.48xlarge, p5e.48xlarge]",),
        ),
        (restricted(affinity=affinity({"key": TYPE, "operator": "In", "values": ["p5.48xlarge", "g4dn.xlarge"]})), ()),
        (
            restricted(
                affinity=affinity(
                    {"key": TYPE, "operator": "In", "values": ["p5.48xlarge"]}, {"key": "team", "operator": "Exists"}
                )
            ),
            (),
        ),
    ],
)
def test_what_blocks_the_move_is_named(pod: dict[str, object], blocked_by: tuple[str, ...]) -> None:
    (found,) = advice([pod], rows(pod, 14_000, 14_000, 14_000))
    assert found.offer.gpu == "t4"
    assert found.blocked_by == blocked_by


def on(**labels: str) -> dict[str, object]:
    """A node of another kind that carries labels too."""
    found = node(**labels)
    return {**found, "metadata": {**found["metadata"], "name": "other"}}  # type: ignore[dict-item]


T4 = {PRODUCT: "Tesla-T4", TYPE: "g4dn.xlarge"}
POOL = {"pool": "h100"}


@pytest.mark.parametrize(
    ("spec", "others", "blocked_by"),
    [
        ({"nodeSelector": POOL}, [], ("node selector pool=h100 (here only on nodes with h100-80gb)",)),
        ({"nodeSelector": POOL}, [on(**T4, **POOL)], ()),
        ({"nodeSelector": {"topology.kubernetes.io/zone": "us-east-1a", "nvidia.com/gpu.present": "true"}}, [], ()),
        ({"nodeSelector": {"kubernetes.io/hostname": "node-a"}}, [], ("node selector kubernetes.io/hostname=node-a",)),
        (
            {"affinity": affinity({"key": "pool", "operator": "Exists"})},
            [],
            ("node affinity pool Exists (here only on nodes with h100-80gb)",),
        ),
        (
            {"affinity": affinity({"key": PRODUCT, "operator": "NotIn", "values": ["Tesla-T4", "NVIDIA-A10G"]})},
            [],
            (f"node affinity {PRODUCT} NotIn [Tesla-T4, NVIDIA-A10G]",),
        ),
        ({"affinity": affinity({"key": PRODUCT, "operator": "NotIn", "values": ["NVIDIA-A10G"]})}, [], ()),
        ({"affinity": affinity({"key": PRODUCT, "operator": "Exists"})}, [], ()),
        (
            {"affinity": affinity({"key": "nvidia.com/gpu.memory", "operator": "Gt", "values": ["40000"]})},
            [],
            ("node affinity nvidia.com/gpu.memory Gt [40000]",),
        ),
        ({"affinity": affinity({"key": "nvidia.com/gpu.memory", "operator": "Gt", "values": ["8000"]})}, [], ()),
    ],
    ids=["pool", "shared-pool", "any-node", "host", "exists", "not-in", "not-in-another", "product", "memory", "less"],
)
def test_rules_that_only_nodes_with_the_large_card_satisfy(
    spec: dict[str, object], others: list[dict[str, object]], blocked_by: tuple[str, ...]
) -> None:
    pod = restricted(**spec)
    here = node(**POOL, **{"nvidia.com/gpu.present": "true"})
    (found,) = advice([pod], rows(pod, 14_000, 14_000, 14_000), here, *others)
    assert found.offer.gpu == "t4"
    assert found.blocked_by == blocked_by


def test_a_field_that_names_a_node_blocks() -> None:
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-a"]}]}]
    required = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    pod = restricted(affinity=required)
    (found,) = advice([pod], rows(pod, 14_000, 14_000, 14_000))
    assert found.blocked_by == ("node affinity metadata.name In [node-a]",)


def asking(cpu: str, memory: str) -> dict[str, object]:
    pod = gpu_pod("p")
    (container,) = pod["spec"]["containers"]  # type: ignore[index]
    resources = {"limits": {"nvidia.com/gpu": "1"}, "requests": {"cpu": cpu, "memory": memory}}
    return {**pod, "spec": {**pod["spec"], "containers": [{**container, "resources": resources}]}}  # type: ignore[dict-item]


@pytest.mark.parametrize(("cpu", "memory"), [("1", "1Gi"), ("7", "8Gi"), ("3", "40Gi"), ("24", "200Gi"), ("90", "1Gi")])
def test_the_machine_named_has_room_for_the_pod_beside_its_card(cpu: str, memory: str) -> None:
    pod = asking(cpu, memory)
    for found in advice([pod], rows(pod, 14_000, 14_000, 14_000)):
        shape = CATALOG.shapes("aws")[found.offer.instance_type]
        assert int(cpu) <= shape.vcpu / shape.whole_gpus
        assert int(memory.removesuffix("Gi")) * 2**30 <= shape.memory_bytes / shape.whole_gpus
    less = [a.micros_per_hour_less for a in advice([pod], rows(pod, 14_000, 14_000, 14_000))]
    assert less <= [a.micros_per_hour_less for a in advice([asking("1", "1Gi")], rows(pod, 14_000, 14_000, 14_000))]


def test_a_pod_whose_requests_cannot_be_read_gets_no_advice() -> None:
    pod = asking("a lot", "1Gi")
    assert advice([pod], rows(pod, 14_000, 14_000, 14_000)) == []


def test_the_command_prints_the_advice(tmp_path: Path) -> None:
    store, cluster = tmp_path / "vram.jsonl", tmp_path / "cluster.json"
    pod = restricted(nodeSelector={PRODUCT: H100[PRODUCT]})
    store.write_bytes(b"".join(map(to_line, rows(pod, 14_000, 14_000, 14_336))))
    cluster.write_text(json.dumps(kube_list(pod, node())))
    told = invoke(cluster, "--right-class", "--store", store)
    assert told.exit_code == 0, told.output
    assert "ml/Pod/p: uses 14.0 GiB of h100-80gb (3 observations, 1 GPU in 1 pod); fits t4" in told.stdout
    assert "a month less" in told.stdout
    assert f"blocked by: node selector {PRODUCT}={H100[PRODUCT]}" in told.stdout
    (advice_,) = json.loads(invoke(cluster, "--right-class", "--store", store, "--json").stdout)["advice"]
    assert advice_["list_price_less_per_month"] == pytest.approx(advice_["micros_per_hour_less"] * 730 / 1e6, abs=0.01)
    assert "no workload is proven" in invoke(cluster, "--right-class", "--store", store, "-n", "other").stdout
    assert invoke(cluster, "--right-class").exit_code == 2


def test_the_guide_shows_what_is_printed(tmp_path: Path) -> None:
    shown = (ROOT / "docs" / "guides" / "vram.md").read_text()
    pods = [gpu_pod(f"train-{n}", owner=("Job", "train")) for n in range(3)]
    for pod in pods:
        pod["spec"]["nodeSelector"] = POOL  # type: ignore[index]
    store, cluster = tmp_path / "vram.jsonl", tmp_path / "cluster.json"
    store.write_bytes(b"".join(map(to_line, rows(pods[0], 19_000, 19_456, 18_000))))
    cluster.write_text(json.dumps(kube_list(*pods, node(**POOL))))
    told = invoke(cluster, "--right-class", "--store", store).stdout
    assert told.startswith("ml/Job/train: uses 19.0 GiB of h100-80gb")
    assert "".join(told.splitlines(keepends=True)[:2]) in shown


def test_the_largest_difference_comes_first_and_eight_gpu_pods_need_a_machine_with_eight() -> None:
    eight = gpu_pod("big", args=("--nodes", "1"))
    container = {**eight["spec"]["containers"][0], "resources": {"limits": {"nvidia.com/gpu": "8"}}}  # type: ignore[index]
    eight = {**eight, "spec": {**eight["spec"], "containers": [container]}}  # type: ignore[dict-item]
    observed = [*rows(eight, 20_000, 20_000, 20_000), *rows(PODS[0], 19_000, 19_000, 19_000)]
    found = advice([PODS[0], eight], observed)
    assert [entry.gpus for entry in found] == [8, 1]
    shape = CATALOG.shapes("aws")[found[0].offer.instance_type]
    assert shape.whole_gpus >= 8
    assert found == sorted(found, key=lambda entry: -entry.micros_per_hour_less)
    assert replace(found[0]) == found[0]
