"""A redacted snapshot carries what observation and prediction need, and no more."""

import json
from dataclasses import replace
from pathlib import Path

from ksolver_cli.domain.gpu_workload.containers import asks_for_gpu, gpu_count
from ksolver_cli.domain.gpu_workload.ended import out_of_memory
from ksolver_cli.domain.gpu_workload.fingerprint import fingerprint
from ksolver_cli.domain.gpu_workload.kept import KEPT_ANNOTATIONS, kept_hints
from ksolver_cli.snapshot.prune import prune
from ksolver_cli.snapshot.read import read_snapshot
from ksolver_cli.vram.cards import Cards
from ksolver_cli.vram.dcgm.reading import Window
from ksolver_cli.vram.facts import ANNOTATED
from ksolver_cli.vram.join.live import kept_for_join
from ksolver_cli.vram.join.sharing import shares_by_spec
from ksolver_cli.vram.join.source import ObjectSource, read_source
from ksolver_cli.vram.memory.configuration import CONFIG_ANNOTATION
from ksolver_cli.vram.observe import Findings, observe
from ksolver_cli.vram.predict.tiers import BYTES_ANNOTATION, GIB_ANNOTATION
from tests.unit.vram.gpu_pods import END, every_minute, exported, gpu_pod, kube_list
from tests.unit.vram.miniprom import MiniPrometheus

SECRETS = ("hunter2", "/private/model", "train.py", "CUDA out of memory")


def secretive() -> dict[str, object]:
    args = ("--batch-size", "8", "--token", "hunter2", "--model", "/private/model-13b", "--bf16")
    pod = gpu_pod("p", args=args, annotations={"ksolver.dev/precision": "bf16", "other": "x"})
    ended = {"terminated": {"reason": "Error", "exitCode": 1, "message": "RuntimeError: CUDA out of memory. Tried"}}
    return {**pod, "status": {"phase": "Failed", "containerStatuses": [{"name": "main", "state": ended}]}}


def test_fingerprint_hints_and_ending_survive_redaction_twice(tmp_path: Path) -> None:
    whole = secretive()
    once = prune("pods", whole)
    twice = prune("pods", once)
    assert once == twice
    path = tmp_path / "pods.json"
    path.write_text(json.dumps(kube_list(whole)))
    (read,) = read_snapshot([path]).objects["pods"]
    for kept in (once, dict(read)):
        assert fingerprint(kept) == fingerprint(whole)
        assert out_of_memory(kept) is out_of_memory(whole) is True
        assert kept_hints(kept).numbers == {"batch_size": 8, "model_parameters_billions": 13}
        assert not any(secret in json.dumps(kept) for secret in SECRETS)
        assert "other" not in json.dumps(kept)


def test_words_of_closed_vocabularies_survive_and_others_do_not() -> None:
    args = ("--fsdp", "full_shard auto_wrap", "--optim", "adamw_torch", "--model", "acme/secret-7b")
    kept = kept_hints(prune("pods", gpu_pod("p", args=args)))
    assert kept.words == {"sharding": "full_shard auto_wrap", "optimizer": "adamw_torch"}
    assert kept.numbers == {"model_parameters_billions": 7}


def test_templates_of_gpu_workloads_keep_them_too() -> None:
    whole = secretive()
    template = {"metadata": whole["metadata"], "spec": whole["spec"]}
    job = {"kind": "Job", "metadata": {"name": "j", "namespace": "ml"}, "spec": {"template": template}}
    kept = prune("jobs", job)["spec"]["template"]
    assert fingerprint(kept) == fingerprint(template)
    assert kept["metadata"]["annotations"]["ksolver.dev/precision"] == "bf16"
    assert set(kept["metadata"]["annotations"]) <= set(KEPT_ANNOTATIONS)
    assert not any(secret in json.dumps(kept) for secret in SECRETS)


def test_other_pods_gain_nothing() -> None:
    plain = gpu_pod("p", resource="cpu")
    assert "annotations" not in prune("pods", plain)["metadata"]


ODD = "example.com/a100"
SERIES = ("DCGM_FI_DEV_FB_USED", exported("p", "GPU-1"), every_minute(9_000.0))
DAY = Window(END, 86_400)


def observed(source: ObjectSource) -> Findings:
    prometheus = MiniPrometheus()
    prometheus.add(*SERIES)
    return observe(prometheus, source, DAY, Cards.bundled())


def test_a_pod_whose_gpu_has_a_name_of_its_own_is_never_taken_for_its_bare_image(tmp_path: Path) -> None:
    whole = gpu_pod("p", resource=ODD)
    assert not asks_for_gpu(whole)
    path = tmp_path / "pods.json"
    path.write_text(json.dumps(kube_list(whole)))
    (row,) = observed(read_source(path)).rows
    expected = fingerprint(whole)
    assert expected is not None
    assert (row.image, row.command_hash) == (expected.image, expected.command_hash)
    path.write_text(json.dumps({"schema": "ksolver.snapshot/1", "objects": {"pods": [prune("pods", whole)]}}))
    found = observed(read_source(path))
    assert found.rows == ()
    assert "keeps no command line" in found.unmatched[0].reason
    path.write_text(json.dumps({"schema": "ksolver.snapshot/1", "objects": {"pods": [prune("pods", gpu_pod("p"))]}}))
    assert len(observed(read_source(path)).rows) == 1


def test_of_the_live_cluster_only_what_a_join_needs_stays_in_memory() -> None:
    whole = gpu_pod("p", resource=ODD, owner=("ReplicaSet", "r"), labels={"pod-template-hash": "r"})
    kept = kept_for_join("pods", whole)
    assert len(json.dumps(kept)) < 900
    assert not any(secret in json.dumps(kept) for secret in ("train.py", "--batch-size"))
    (row,) = observed(ObjectSource({"pods": [kept]})).rows
    (same,) = observed(ObjectSource({"pods": [whole]})).rows
    assert row == replace(same, oom=None)
    template = {"spec": whole["spec"]}
    job = {"kind": "Job", "metadata": {"name": "j"}, "spec": {"template": template}}
    assert fingerprint(kept_for_join("jobs", job)["spec"]["template"]) == fingerprint(template)  # type: ignore[index]


def test_endings() -> None:
    def ended(**terminated: object) -> dict[str, object]:
        return {"status": {"containerStatuses": [{"lastState": {"terminated": terminated}}]}}

    assert out_of_memory(ended(reason="OOMKilled", exitCode=137)) is True
    assert out_of_memory(ended(reason="Error", exitCode=1, message="torch.OutOfMemoryError: x")) is True
    assert out_of_memory(ended(reason="Completed", exitCode=0, message="CUDA out of memory")) is False
    assert out_of_memory(ended(reason="Error", exitCode=1)) is False
    assert out_of_memory({"status": {"containerStatuses": [{"state": {"waiting": {}}}]}}) is None
    assert out_of_memory({}) is None


def test_a_fraction_of_a_gpu_is_still_one_after_redaction() -> None:
    pod = gpu_pod("f", resource="cpu", annotations={"gpu-fraction": "0.5"})
    kept = prune("pods", pod)
    assert asks_for_gpu(kept)
    assert shares_by_spec(kept)
    assert fingerprint(kept) == fingerprint(pod)
    assert gpu_count(kept) == 0


def test_every_annotation_that_is_read_is_kept_but_the_models_name() -> None:
    read = {f"ksolver.dev/{name}" for name in ANNOTATED} | {BYTES_ANNOTATION, GIB_ANNOTATION, CONFIG_ANNOTATION}
    assert read - set(KEPT_ANNOTATIONS) == {"ksolver.dev/model"}
