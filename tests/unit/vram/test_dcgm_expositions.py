"""Every exposition file of dcgm-exporter reads as its expectation says, in both label modes."""

import json
import math
from pathlib import Path

import pytest

from ksolver_cli.collect.prometheus_answer import Series
from ksolver_cli.vram.dcgm.devices import Device, Devices, pods_of
from ksolver_cli.vram.dcgm.labels import Scrapes, Tag
from ksolver_cli.vram.dcgm.reading import Reading, Window, read_devices
from ksolver_cli.vram.dcgm.values import FREE, USED, mib
from tests.paths import DATA
from tests.unit.vram.exposition import Exposed, parse, scraped
from tests.unit.vram.miniprom import MiniPrometheus

FOLDER = DATA / "prom"
TARGET = {
    "job": "dcgm-exporter",
    "instance": "10.0.0.9:9400",
    "namespace": "monitoring",
    "pod": "dcgm-exporter-78z52",
    "container": "exporter",
    "service": "dcgm-exporter",
}
END = 1_764_460_800.0


def cases() -> list[dict[str, object]]:
    path = FOLDER / "dcgm" / "expect.json"
    return json.loads(path.read_text()) if path.is_file() else []


def sample_lines(case: dict[str, object]) -> list[Exposed]:
    return parse(Path(FOLDER, str(case["file"])).read_text())


def label_sets(lines: list[Exposed], mode: str) -> list[dict[str, str]]:
    if mode == "bare":
        return [{name: value for name, value in line.labels.items() if value} for line in lines]
    return [scraped(line, TARGET, honor_labels=mode == "honour") for line in lines]


def tags(lines: list[Exposed], mode: str) -> list[Tag]:
    sets = label_sets(lines, mode)
    scrapes = Scrapes.among(sets)
    return [scrapes.tag(labels) for labels in sets]


def served(lines: list[Exposed], mode: str) -> Reading:
    """Read the exposition through a Prometheus that scraped it four times."""
    prometheus = MiniPrometheus()
    for line, labels in zip(lines, label_sets(lines, mode), strict=True):
        prometheus.add(line.name, labels, [(END - 60 * n, line.value) for n in range(4)])
    return read_devices(prometheus, Window(END, 3600))


def wanted_device(expected: dict[str, object]) -> tuple[object, str]:
    mig = expected.get("mig")
    return expected.get("uuid"), str(mig["id"]) if isinstance(mig, dict) else ""


def find(tags_: list[Tag], expected: dict[str, object]) -> list[Tag]:
    uuid, mig_id = wanted_device(expected)
    return [tag for tag in tags_ if (uuid is None or tag.uuid == uuid) and (tag.mig_id or "") == mig_id]


if not cases():
    pytest.skip(f"no shared data at {FOLDER}", allow_module_level=True)

EXPECTED = [
    pytest.param(case, entry, id=f"{Path(str(case['file'])).stem}-{number}")
    for case in cases()
    for number, entry in enumerate(case["expect"])  # type: ignore[arg-type, var-annotated]
]
MODES = pytest.mark.parametrize("mode", ["bare", "honour", "rename"])


@MODES
@pytest.mark.parametrize(("case", "expected"), EXPECTED)
def test_labels_of_every_exposition(case: dict[str, object], expected: dict[str, object], mode: str) -> None:
    found = find(tags(sample_lines(case), mode), expected)
    assert found
    if expected.get("shared_by"):
        assert sorted({tag.owner.name for tag in found if tag.owner}) == expected["shared_by"]
        assert all(tag.virtual for tag in found)
    elif "pod" in expected:
        assert {tag.owner.name if tag.owner else None for tag in found} == {expected["pod"]}
    for field, attribute in (("claim", "claim"), ("device", "dra_device"), ("model", "gpu_model")):
        if field in expected:
            assert {getattr(tag, attribute) for tag in found} == {expected[field]}
    if "container" in expected:
        assert {tag.owner.container for tag in found if tag.owner} == {expected["container"]}
    mig = expected.get("mig")
    if isinstance(mig, dict):
        assert {tag.mig_profile for tag in found} == {mig["profile"]}


@MODES
@pytest.mark.parametrize(("case", "expected"), EXPECTED)
def test_memory_of_every_exposition(case: dict[str, object], expected: dict[str, object], mode: str) -> None:
    lines = sample_lines(case)
    uuid, mig_id = wanted_device(expected)
    devices = [d for d in served(lines, mode).devices if d.tag.uuid == uuid and (d.tag.mig_id or "") == mig_id]
    values = {device.peak_mib for device in devices}
    if expected.get("used_mib") is None:
        assert values <= {None}
    else:
        assert values == {expected["used_mib"]}
    if "free_mib" in expected and expected["used_mib"] is not None:
        free = {mib(line.value) for line in lines if line.name in FREE and line.labels["UUID"] == uuid}
        assert free == {expected["free_mib"]}
        capacity = float(str(expected["used_mib"])) + float(str(expected["free_mib"]))
        assert {device.capacity_mib for device in devices} == {capacity}


@MODES
def test_pods_of_every_exposition(mode: str) -> None:
    found = {
        use.owner.name: (use.peak_mib, use.shared, use.samples, use.device.tag.mig_profile)
        for case in cases()
        for use in pods_of(served(sample_lines(case), mode).devices)
    }
    assert found == {
        "ml/train-0": (39_000, False, 4, None),
        "default/gpu-workload-0": (9_216, True, 4, None),
        "default/gpu-workload-1": (9_216, True, 4, None),
        "default/gpu-workload-2": (9_216, True, 4, None),
        "default/dra-pod": (2_210, False, 4, "1g.5gb"),
    }


def test_memory_of_the_whole_card_beside_mig_instances() -> None:
    (case,) = [case for case in cases() if "mig_beside_whole" in str(case["file"])]
    devices = {device.name: device for device in served(sample_lines(case), "rename").devices}
    assert {name.partition("/")[2]: device.capacity_mib for name, device in devices.items()} == {
        "": 40_000,
        "8": 4_864,
        "9": 20_095,
    }


@pytest.mark.parametrize(
    "value", [0x7FFFFFF0, 0x7FFFFFF3, 2.0**47, 0x7FFFFFFFFFFFFFF2, math.inf, -math.inf, math.nan, -1.0]
)
def test_blanks_of_every_width_are_no_value(value: float) -> None:
    assert mib(value) is None


def test_a_blank_sample_does_not_hide_the_peak_beside_it() -> None:
    prometheus = MiniPrometheus()
    labels = {"UUID": "GPU-a", "pod": "p", "namespace": "n"}
    prometheus.add(USED[0], labels, [(END - 120, 700.0), (END - 60, 9223372036854775794.0), (END, 800.0)])
    (use,) = pods_of(read_devices(prometheus, Window(END, 3600)).devices)
    assert use.peak_mib == 800
    prometheus.refuse = (USED[0] + "{UUID",)
    assert pods_of(read_devices(prometheus, Window(END, 3600)).devices) == []


def test_devices_without_uuid_are_told_apart_by_node_and_index() -> None:
    devices = Devices(Scrapes(frozenset()))
    devices.add_peaks(
        [
            Series({"gpu": "0", "node": "a"}, ((1, 5.0),)),
            Series({"gpu": "0", "node": "b"}, ((1, 6.0),)),
            Series({"gpu": "0", "node": "b"}, ((1, 7.0),)),
        ]
    )
    found: list[Device] = devices.all()
    assert [(device.name, device.peak_mib) for device in found] == [("a/0", 5.0), ("b/0", 7.0)]
