"""The four tiers: which answers, how sure it is, and what may be a hard filter."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ksolver_cli.domain.gpu_workload.fingerprint import fingerprint
from ksolver_cli.domain.gpu_workload.hints import Hints
from ksolver_cli.vram.cards import Cards, node_gpu_memory_mib
from ksolver_cli.vram.facts import as_numbers, from_numbers
from ksolver_cli.vram.manifests import Workload
from ksolver_cli.vram.observation import Observation
from ksolver_cli.vram.predict.calibrate import calibrate
from ksolver_cli.vram.predict.residual import learn, modelled
from ksolver_cli.vram.predict.results import Confidence, Prediction, Source
from ksolver_cli.vram.predict.statistics import percentile, upper_bound
from ksolver_cli.vram.predict.targets import Targets
from ksolver_cli.vram.predict.tiers import Asked, Predictor
from tests.unit.vram.gpu_pods import gpu_node, gpu_pod

BYTES, GIB = "ksolver.dev/predicted-peak-vram-bytes", "ksolver.dev/predicted-peak-vram-gib"
POD = gpu_pod("p", args=("--batch-size", "8"))
LARGEST = 294_912


def key_of(pod: dict[str, object]) -> tuple[str, str]:
    found = fingerprint(pod)
    assert found is not None
    return found.image, found.command_hash


def rows(*peaks: int, pod: dict[str, object] = POD, **facts: object) -> list[Observation]:
    image, digest = key_of(pod)
    return [Observation(image, digest, peak, **facts) for peak in peaks]  # type: ignore[arg-type]


def predict(pod: dict[str, object], *observed: Observation, hard_admit: bool = False, **asked: object) -> Prediction:
    predictor = Predictor(observed, largest_card_mib=LARGEST, hard_admit=hard_admit)
    return predictor.predict(Asked(pod, **asked))  # type: ignore[arg-type]


def annotated(**annotations: str) -> dict[str, object]:
    return gpu_pod(
        "p", annotations={name.replace("__", "/").replace("_", "-"): text for name, text in annotations.items()}
    )


@pytest.mark.parametrize(
    ("annotations", "mib", "hard"),
    [
        ({BYTES: str(20 * 2**30)}, 20_480, True),
        ({GIB: "20.5"}, 20_992, True),
        ({BYTES: str(2**30), GIB: "99"}, 1_024, True),
        ({BYTES: "1"}, 1, True),
        ({GIB: "0"}, 0, False),
        ({GIB: "-4"}, -4_096, False),
        ({GIB: "100000"}, 102_400_000, False),
        ({BYTES: "many", GIB: "2"}, 2_048, True),
    ],
)
def test_annotations_are_authoritative(annotations: dict[str, str], mib: int, hard: bool) -> None:
    found = predict(gpu_pod("p", annotations=annotations), *rows(1, 2, 3))
    assert (found.vram_mib, found.source, found.confidence) == (mib, Source.ANNOTATION, Confidence.AUTHORITATIVE)
    assert found.hard is hard
    assert ("advisory" in found.explanation) is not hard


def test_an_annotation_that_is_no_number_falls_through_and_is_told() -> None:
    found = predict(gpu_pod("p", annotations={GIB: "lots"}))
    assert found.source is Source.NONE
    assert GIB in found.explanation


def test_the_owners_annotation_counts_and_the_pods_own_wins() -> None:
    assert predict(POD, annotations={GIB: "2"}).vram_mib == 2_048
    assert predict(gpu_pod("p", annotations={GIB: "3"}), annotations={GIB: "2"}).vram_mib == 3_072


def test_three_observations_answer_with_an_interpolated_percentile() -> None:
    found = predict(POD, *rows(10_000, 12_000, 11_000))
    assert (found.vram_mib, found.source, found.confidence) == (11_900, Source.OBSERVATIONS, Confidence.HIGH)
    assert (found.hard, found.samples) == (True, 3)
    assert found.upper_mib is not None
    assert found.upper_mib > 12_000
    assert found.fingerprint == "|".join(key_of(POD))


def test_two_observations_or_shared_ones_do_not_answer() -> None:
    assert predict(POD, *rows(10_000, 12_000)).source is Source.NONE
    found = predict(POD, *rows(10_000, 12_000), *rows(1, 2, 3, shared=True))
    assert found.source is Source.NONE
    assert "2 of 3 observations" in found.explanation
    assert predict(gpu_pod("p", args=("other",)), *rows(1, 2, 3)).source is Source.NONE


def test_memory_that_ran_out_is_told() -> None:
    assert "ran out of memory" in predict(POD, *rows(9_000, 9_000, 9_000, oom=True)).explanation


def test_a_preallocating_engine_is_never_hard() -> None:
    vllm = gpu_pod("p", args=("vllm", "serve", "meta-llama/Llama-3.1-8B"))
    found = predict(vllm, *rows(70_000, 70_000, 70_000, pod=vllm))
    assert (found.vram_mib, found.hard) == (70_000, False)
    by_row = predict(POD, *rows(70_000, 70_000, 70_000, hints={"gpu_memory_utilization": 0.9}))
    assert not by_row.hard


CONFIG = '{"num_parameters": 1000000000, "bf16": {"enabled": true}, "zero_optimization": {"stage": 0}}'


def test_a_configuration_answers_before_hints_and_is_hard_only_when_asked() -> None:
    pod = gpu_pod("p", annotations={"ksolver.ai/vram-config": CONFIG, "ksolver.dev/model-parameters-billions": "50"})
    found = predict(pod)
    assert (found.source, found.confidence, found.hard) == (Source.CONFIGURATION, Confidence.MEDIUM, False)
    assert 16e9 / 2**20 <= (found.vram_mib or 0) < 40_000
    assert predict(pod, hard_admit=True).hard
    broken = gpu_pod("p", annotations={"ksolver.ai/vram-config": "{", "ksolver.dev/model-parameters-billions": "1"})
    fallen = predict(broken)
    assert fallen.source is Source.HINTS
    assert "vram-config" in fallen.explanation


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
def test_hints_never_promise_less_than_sixteen_bytes_a_parameter(precision: str) -> None:
    annotations = {
        "ksolver.dev/model-parameters-billions": "7",
        "ksolver.dev/batch-size": "1",
        "ksolver.dev/sequence-length": "128",
        "ksolver.dev/precision": precision,
    }
    found = predict(gpu_pod("p", annotations=annotations))
    assert (found.source, found.confidence, found.hard) == (Source.HINTS, Confidence.LOW, False)
    assert (found.vram_mib or 0) >= 7e9 * 16 / 2**20


def test_typed_hints_outrank_everything_found() -> None:
    pod = gpu_pod("p", annotations={"ksolver.dev/model-parameters-billions": "7"})
    typed = predict(pod, typed=Hints({"model_parameters_billions": 1.0}))
    assert (typed.vram_mib or 0) < (predict(pod).vram_mib or 0) / 4


def test_nothing_known_is_unknown_and_never_hard() -> None:
    found = predict(POD, hard_admit=True)
    assert (found.vram_mib, found.source, found.confidence, found.hard) == (
        None,
        Source.NONE,
        Confidence.UNKNOWN,
        False,
    )
    assert "model_parameters_billions" in found.missing
    assert set(found.record()) >= {"vram_mib", "source", "confidence", "missing", "fingerprint", "hard", "explanation"}


def test_more_memory_than_any_card_is_advice() -> None:
    huge = gpu_pod("p", annotations={"ksolver.dev/model-parameters-billions": "400"})
    found = predict(huge, hard_admit=True)
    assert not found.hard
    assert "largest card" in found.explanation


def modelled_rows(factor: float, fingerprints: int) -> list[Observation]:
    found = []
    for number in range(fingerprints):
        hints = {"model_parameters_billions": 0.1 * (number + 1), "batch_size": 4.0, "sequence_length": 512.0}
        answer = modelled(Observation("i", f"h{number}", 1, hints=hints))
        assert answer is not None
        found.append(Observation("i", f"h{number}", max(1, round(answer.mib * factor)), hints=hints))
    return found


@given(st.floats(0.6, 2.5), st.integers(1, 40))
def test_the_residual_leans_towards_what_was_measured(factor: float, fingerprints: int) -> None:
    found = learn(modelled_rows(factor, fingerprints))
    assert found.fingerprints == fingerprints
    low, high = sorted((1.0, factor))
    assert low * 0.99 <= found.factor <= high * 1.01
    assert math.log(found.factor) == pytest.approx(math.log(factor) * fingerprints / (fingerprints + 10), abs=0.01)


def test_a_residual_never_goes_below_the_floor_or_beyond_its_limits() -> None:
    low = learn(modelled_rows(0.01, 200))
    assert low.factor == 0.5
    pod = gpu_pod("p", annotations={"ksolver.dev/model-parameters-billions": "7"})
    assert (predict(pod, *modelled_rows(0.01, 200)).vram_mib or 0) >= 7e9 * 16 / 2**20
    assert learn([]).factor == 1.0


def test_calibration_leaves_each_fingerprint_out() -> None:
    found = calibrate(modelled_rows(1.5, 60))
    assert found.predicted == found.fingerprints == 60
    # 59 others teach ln 1.5 · 59/69, so that each prediction falls short by a few percent.
    assert found.under_rate == 1.0
    assert found.mae_mib is not None
    one = modelled_rows(1.5, 1)
    only = calibrate(one)
    answer = modelled(one[0])
    assert answer is not None
    assert only.mae_mib == pytest.approx(one[0].peak_mib - answer.mib, abs=0.1)


def gate_rows(count: int, **facts: object) -> list[Observation]:
    return [
        Observation("i", f"h{n % 60}", 80_000 if n < 10 else 100, capacity_mib=81_559, **facts) for n in range(count)
    ]  # type: ignore[arg-type]


def test_gates_name_what_is_missing() -> None:
    few = calibrate(gate_rows(199))
    assert not few.advisory
    assert few.advisory_missing == ("199 of 200 rows",)
    assert (few.mae_mib, few.p95_mib, few.under_rate) == (None, None, None)
    enough = calibrate(gate_rows(200, gpu_model="H100"))
    assert enough.advisory
    assert not enough.hard
    assert enough.hard_missing == ("0 of 1 true out-of-memory ends", "1 of 2 GPU models")
    rows_ = gate_rows(200, gpu_model="H100")
    rows_[0] = replace(rows_[0], oom=True, gpu_model="A100")
    assert calibrate(rows_).hard
    shared = calibrate([replace(row, shared=True) for row in rows_])
    assert shared.rows == 0
    assert len(shared.hard_missing) == 5


@given(st.lists(st.floats(1, 1e6), min_size=1, max_size=30))
def test_percentiles_agree_with_an_independent_oracle(values: list[float]) -> None:
    import numpy

    assert percentile(values, 0.95) == pytest.approx(float(numpy.percentile(values, 95)), rel=1e-9)
    bound = upper_bound(values)
    assert bound >= max(values) or len(values) < 3
    assert (bound == math.inf) == (len(values) < 3)


def test_the_bound_narrows_with_samples() -> None:
    bounds = [upper_bound([100.0, 110.0, 120.0] * n) for n in (1, 3, 10, 100)]
    assert bounds == sorted(bounds, reverse=True)


def test_words_survive_the_store_as_numbers() -> None:
    hints = Hints({"batch_size": 2.0}, {"engine": "torchrun", "precision": "bf16", "optimizer": "adamw", "model": "x"})
    numbers = as_numbers(hints)
    assert numbers == {"batch_size": 2.0, "serving": 0.0, "precision_bits": 16.0, "optimizer_state_bytes": 8.0}
    back = from_numbers(numbers)
    assert (back.words["mode"], back.words["precision"]) == ("training", "bf16")
    told = {"serving": 1.0, "preallocates": 1.0, "gpu_memory_utilization": 0.9}
    assert as_numbers(Hints({}, {"engine": "vllm"})) == told
    assert from_numbers({"preallocates": 1.0}).words["engine"] == "vllm"


CARDS = Cards.bundled()


@pytest.mark.parametrize(
    ("labels", "mib"),
    [
        (
            {"ksolver.dev/gpu-vram-bytes": str(2**34), "ksolver.dev/gpu-vram-gib": "9", "nvidia.com/gpu.memory": "1"},
            16_384,
        ),
        ({"ksolver.dev/gpu-vram-gib": "9.5", "nvidia.com/gpu.memory": "1"}, 9_728),
        ({"nvidia.com/gpu.memory": "81559", "nvidia.com/gpu.product": "Tesla-T4"}, 81_559),
        ({"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}, 81_559),
        ({"nvidia.com/gpu.product": "Tesla-T4-SHARED"}, 15_360),
        ({"cloud.google.com/gke-accelerator": "nvidia-tesla-t4"}, 15_360),
        ({"nvidia.com/gpu.product": "NVIDIA-A100-PCIE-40GB-MIG-1g.5gb"}, None),
        ({"nvidia.com/gpu.product": "Unheard-Of"}, None),
        ({"nvidia.com/gpu.memory": "no", "ksolver.dev/gpu-vram-gib": "-1"}, None),
        ({}, None),
    ],
)
def test_memory_of_a_nodes_gpu(labels: dict[str, str], mib: int | None) -> None:
    assert node_gpu_memory_mib(gpu_node(**labels), CARDS) == mib


def test_the_card_a_pod_will_get() -> None:
    h100, t4 = "NVIDIA-H100-80GB-HBM3", "Tesla-T4"
    nodes = [gpu_node("node-a", **{"nvidia.com/gpu.product": h100}), gpu_node("t", **{"nvidia.com/gpu.product": t4})]
    targets = Targets(CARDS, nodes)

    def card(**spec: object) -> int | None:
        pod = gpu_pod("p")
        merged = {**pod["spec"], "nodeName": "", **spec}  # type: ignore[dict-item]
        return targets.card_of({**pod, "spec": merged})

    assert card(nodeName="node-a") == 81_559
    assert card(nodeSelector={"nvidia.com/gpu.product": t4}) == 15_360
    assert card() is None
    assert Targets(CARDS, nodes[:1]).card_of(gpu_pod("p")) == 81_559
    assert Targets(CARDS, (), card_mib=7).card_of(gpu_pod("p")) == 7
    assert targets.card_of(gpu_pod("p", resource="nvidia.com/mig-1g.5gb")) is None
    assert Targets(CARDS).asked(Workload("Job", "n", "j", gpu_pod("p"), processes=4)).setting.processes == 4
