"""The fingerprint: the published vectors, which container, and what must or must not change it."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ksolver_cli.domain.gpu_workload.containers import asks_for_gpu, gpu_container, gpu_count, is_gpu_resource
from ksolver_cli.domain.gpu_workload.fingerprint import FINGERPRINT_ANNOTATION, Fingerprint, command_hash, fingerprint
from ksolver_cli.domain.gpu_workload.kept import kept_facts, kept_hints
from ksolver_cli.domain.gpu_workload.raw import RawObject

FIRST = "1d38135f20ad3a389d575a9ff775d2e4b00c36b215958c9ae2717a36f46b2bd8"
SECOND = "eaa6a4fb61954e8cfb836369d109a019a83fe3416ccdcb315cc7f2957d322d36"


def container(name: str = "c", gpu: str | None = "nvidia.com/gpu", **fields: object) -> dict[str, object]:
    resources = {"limits": {gpu: "1"}} if gpu else {"requests": {"cpu": "1"}}
    return {"name": name, "image": f"img/{name}:1", "resources": resources, **fields}


def pod(*containers: dict[str, object]) -> dict[str, object]:
    return {"metadata": {"name": "p", "namespace": "ns"}, "spec": {"containers": list(containers)}}


def test_first_published_vector() -> None:
    trainer = container(
        command=["python", "train.py"],
        args=["--bs", "8"],
        env=[{"name": "B", "value": "2"}, {"name": "A", "value": "1"}],
    )
    assert fingerprint(pod(trainer)) == Fingerprint("img/c:1", FIRST)


def test_second_published_vector_with_an_env_from_elsewhere() -> None:
    secret = {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
    trainer = container(command=["python", "t.py"], env=[{"name": "A", "value": "1"}, secret])
    found = fingerprint(pod(trainer))
    assert found is not None
    assert found.key == f"img/c:1|{SECOND}"


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        ("nvidia.com/gpu", True),
        ("nvidia.com/gpu.shared", True),
        ("nvidia.com/mig-1g.5gb", True),
        ("amd.com/gpu", True),
        ("habana.ai/gaudi", True),
        ("alibabacloud.com/gpu-milli", True),
        ("vendor.example/gpu", True),
        ("cpu", False),
        ("memory", False),
        ("vpc.amazonaws.com/eni", False),
        ("nvidia.com/hostdev", False),
    ],
)
def test_gpu_resources_are_told_from_others(resource: str, expected: bool) -> None:
    assert is_gpu_resource(resource) is expected


def test_gpu_container_is_the_first_that_names_a_gpu_else_the_first() -> None:
    sidecar, first, second = container("proxy", gpu=None), container("a"), container("b", gpu="nvidia.com/mig-1g.5gb")
    assert gpu_container(pod(sidecar, first, second)) is first
    assert gpu_container(pod(sidecar)) is sidecar
    assert gpu_container(pod()) is None
    by_request = {"name": "r", "image": "i", "resources": {"requests": {"nvidia.com/gpu": 1}}}
    assert gpu_container(pod(sidecar, by_request)) is by_request


def test_devices_are_counted_over_all_containers() -> None:
    eight = {"name": "x", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "8"}}}
    assert gpu_count(pod(eight, container("b"), container("c", gpu=None))) == 9
    assert gpu_count(pod(container("s", gpu="alibabacloud.com/gpu-milli"))) == 1
    assert not asks_for_gpu(pod(container("n", gpu=None)))
    claims: dict[str, object] = {"metadata": {}, "spec": {"containers": [], "resourceClaims": [{"name": "g"}]}}
    assert asks_for_gpu(claims)


def test_a_pod_without_container_or_image_has_none() -> None:
    assert fingerprint(pod()) is None
    assert fingerprint(pod({"name": "c"})) is None
    assert fingerprint({"spec": {"containers": "odd"}}) is None


def test_an_empty_value_equals_an_absent_one_because_the_api_drops_it() -> None:
    written = pod(container(env=[{"name": "A", "value": ""}]))
    served = pod(container(env=[{"name": "A"}]))
    assert fingerprint(written) == fingerprint(served)


def test_the_last_of_a_repeated_env_name_wins() -> None:
    twice = pod(container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]))
    assert fingerprint(twice) == fingerprint(pod(container(env=[{"name": "A", "value": "2"}])))


TEXT = st.text(max_size=8)
ENV = st.dictionaries(TEXT, st.none() | TEXT, max_size=4)


@given(st.lists(TEXT, max_size=4), st.lists(TEXT, max_size=4), ENV)
def test_the_hash_ignores_env_order_and_sees_every_other_change(
    command: list[str], args: list[str], env: dict[str, str | None]
) -> None:
    digest = command_hash(command, args, env)
    assert digest == command_hash(command, args, dict(reversed(env.items())))
    assert digest != command_hash([*command, "x"], args, env)
    assert digest != command_hash(command, [*args, "x"], env)
    assert digest != command_hash(command, args, {**env, "new name": None})


def test_redaction_keeps_fingerprint_and_hints_and_no_secret() -> None:
    trainer = container(
        command=["python", "train.py", "--model", "acme/private-13b", "--bf16"],
        args=["--batch-size", "4", "--token", "hunter2"],
        env=[{"name": "API_KEY", "value": "s3cret"}, {"name": "MAX_SEQ_LEN", "value": "2048"}],
    )
    original = pod(trainer)
    facts = kept_facts(original)
    redacted = copy.deepcopy(original)
    redacted["metadata"] = {"annotations": facts}
    redacted["spec"] = {"containers": [{k: trainer[k] for k in ("name", "image", "resources")}]}
    assert fingerprint(redacted) == fingerprint(original)
    hints = kept_hints(redacted)
    assert hints.numbers == {"batch_size": 4, "sequence_length": 2048, "model_parameters_billions": 13}
    assert hints.words == {"precision": "bf16"}
    assert not any(secret in str(facts) for secret in ("hunter2", "s3cret", "acme", "API_KEY"))


def test_redaction_keeps_nothing_of_pods_without_gpu() -> None:
    assert kept_facts(pod(container(gpu=None, args=["--batch-size", "4"]))) == {}


@pytest.mark.parametrize("value", ["", "img", "img|short", "|" + FIRST])
def test_a_broken_kept_fingerprint_is_not_believed(value: str) -> None:
    bare: RawObject = {
        "metadata": {"annotations": {FINGERPRINT_ANNOTATION: value}},
        "spec": {"containers": [{"image": "i"}]},
    }
    found = fingerprint(bare)
    assert found is not None
    assert found == Fingerprint("i", command_hash([], [], {}))
