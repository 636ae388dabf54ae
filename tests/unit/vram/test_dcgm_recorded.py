"""Recorded API answers: owners one after another, restarts, replicas, gaps, idle cards, node names."""

import json

import pytest

from ksolver_cli.collect.prometheus_answer import PrometheusError, Series, read_answer
from ksolver_cli.collect.prometheus_containers import container_values
from ksolver_cli.vram.dcgm.devices import Devices, covered, pods_of
from ksolver_cli.vram.dcgm.labels import Scrapes
from ksolver_cli.vram.dcgm.reading import Reading, Window, read_devices
from ksolver_cli.vram.dcgm.timeline import Presence, runs
from tests.paths import DATA
from tests.unit.vram.miniprom import MiniPrometheus

FOLDER = DATA / "prom" / "prom_api"
END = 1_764_468_000.0


def expectations() -> dict[str, dict[str, object]]:
    path = FOLDER / "expect.json"
    if not path.is_file():
        return {}
    return {entry["file"].rpartition("/")[2]: entry["expect"] for entry in json.loads(path.read_text())}


if not expectations():
    pytest.skip(f"no shared data at {FOLDER}", allow_module_level=True)


def series_of(name: str) -> tuple[Series, ...]:
    return read_answer(json.loads((FOLDER / name).read_text())).series


def from_samples(name: str) -> Devices:
    series = series_of(name)
    devices = Devices(Scrapes.among(entry.labels for entry in series))
    devices.add_peaks(series)
    devices.judge_sharing()
    return devices


def asked(name: str, *, refuse: tuple[str, ...] = ()) -> Reading:
    prometheus = MiniPrometheus(refuse=refuse)
    for entry in series_of(name):
        prometheus.add("DCGM_FI_DEV_FB_USED", entry.labels, entry.samples)
    return read_devices(prometheus, Window(END, 86_400))


@pytest.mark.parametrize("name", sorted(expectations()))
def test_every_recorded_answer_reads_as_expected(name: str) -> None:
    expected = expectations()[name]
    if expected.get("error"):
        with pytest.raises(PrometheusError):
            series_of(name)
        return
    if "values" in expected:
        answer = read_answer(json.loads((FOLDER / name).read_text()))
        assert {"/".join(key): value for key, value in container_values(answer).items()} == {
            key: value
            for key, value in expected["values"].items()
            if value is not None  # type: ignore[union-attr]
        }
        return
    if "series" in expected:
        assert len(series_of(name)) == expected["series"]
    for devices in (from_samples(name).all(), asked(name).devices):
        if "device_max_mib" in expected:
            assert {device.tag.uuid: device.peak_mib for device in devices} == expected["device_max_mib"]
        if "pod_max_mib" in expected:
            uses = pods_of(devices)
            assert {use.owner.name: use.peak_mib for use in uses} == expected["pod_max_mib"]
            assert not any(use.shared for use in uses)
        if "node_of" in expected:
            assert {device.tag.uuid: device.tag.node for device in devices} == expected["node_of"]
    if "covered_seconds_about" in expected:
        assert list(covered(series_of(name)).values()) == [expected["covered_seconds_about"]]


def test_owners_one_after_another_count_as_sharing_only_where_moments_cannot_be_had() -> None:
    uses = pods_of(asked("range_honor_labels_false.json", refuse=('FB_USED{UUID=~"',)).devices)
    assert [use.shared for use in uses] == [True, True, True]


def test_samples_are_fetched_for_contested_devices_alone() -> None:
    prometheus = MiniPrometheus()
    for name in ("range_honor_labels_false.json", "range_honor_labels_true.json"):
        for entry in series_of(name):
            prometheus.add("DCGM_FI_DEV_FB_USED", entry.labels, entry.samples)
    read_devices(prometheus, Window(END, 86_400))
    raw = [query for query in prometheus.asked if "over_time" not in query]
    assert raw
    assert all("GPU-aaaa" in query and "GPU-bbbb" not in query for query in raw)


def test_two_pods_at_once_share_the_card_even_without_a_vgpu_label() -> None:
    prometheus = MiniPrometheus()
    for pod in ("a", "b"):
        labels = {"UUID": "GPU-t4", "namespace": "n", "pod": pod}
        prometheus.add("DCGM_FI_DEV_FB_USED", labels, [(END - 60 * n, 15_866.0) for n in range(5)])
    uses = pods_of(read_devices(prometheus, Window(END, 3600)).devices)
    assert [(use.owner.pod, use.peak_mib, use.shared) for use in uses] == [("a", 15_866, True), ("b", 15_866, True)]


def test_whoever_had_the_card_alone_does_not_share_because_others_did() -> None:
    prometheus = MiniPrometheus()
    for pod, until in (("a", END), ("b", END), ("c", END - 3_600)):
        labels = {"UUID": "GPU-1", "namespace": "n", "pod": pod}
        prometheus.add("DCGM_FI_DEV_FB_USED", labels, [(until - 60 * n, 500.0) for n in range(5)])
    uses = pods_of(read_devices(prometheus, Window(END, 86_400)).devices)
    assert {use.owner.pod: use.shared for use in uses} == {"a": True, "b": True, "c": False}


def test_an_exporter_that_learns_to_tell_uids_does_not_make_two_pods_of_one() -> None:
    prometheus = MiniPrometheus()
    base = {"UUID": "GPU-1", "namespace": "n", "pod": "p"}
    for more in ({}, {"pod_uid": "u"}):
        prometheus.add("DCGM_FI_DEV_FB_USED", {**base, **more}, [(END - 60 * n, 500.0) for n in range(5)])
    (use,) = pods_of(read_devices(prometheus, Window(END, 86_400)).devices)
    assert (use.owner.uid, use.shared, use.device_count) == ("u", False, 1)


def test_two_containers_of_one_pod_do_not_share() -> None:
    prometheus = MiniPrometheus()
    for container, uuid, value in (("a", "GPU-1", 500.0), ("b", "GPU-2", 900.0), ("b", "GPU-1", 400.0)):
        labels = {"UUID": uuid, "namespace": "n", "pod": "p", "container": container}
        prometheus.add("DCGM_FI_DEV_FB_USED", labels, [(END, value)])
    (use,) = pods_of(read_devices(prometheus, Window(END, 3600)).devices)
    assert (use.peak_mib, use.device_count, use.shared) == (900, 2, False)


@pytest.mark.parametrize("first", ["DCGM_FI_DEV_FB_USED", "dcgm_fb_used"])
def test_old_and_new_names_side_by_side_give_the_higher_value(first: str) -> None:
    prometheus = MiniPrometheus()
    labels = {"UUID": "GPU-1", "namespace": "n", "pod": "p"}
    for name in ("DCGM_FI_DEV_FB_USED", "dcgm_fb_used"):
        prometheus.add(name, labels, [(END, 900.0 if name == first else 100.0)])
    (use,) = pods_of(read_devices(prometheus, Window(END, 3600)).devices)
    assert use.peak_mib == 900


def test_unattributed_memory_stays_the_devices_own() -> None:
    prometheus = MiniPrometheus()
    prometheus.add("DCGM_FI_DEV_FB_USED", {"UUID": "GPU-0", "Hostname": "v1"}, [(END, 12_000.0)])
    (device,) = read_devices(prometheus, Window(END, 3600)).devices
    assert (device.peak_mib, device.uses) == (12_000, {})


def test_replicas_do_not_make_a_run_fall_apart() -> None:
    presence = Presence()
    presence.add([0, 60, 120, 180])
    presence.add([1, 61, 121, 181])
    assert presence.covered_seconds() == 181
    assert runs([]) == []
    assert runs([5, 5]) == [(5, 5)]


def test_touching_owners_do_not_share_but_a_short_one_inside_does() -> None:
    def presence(*series: list[float]) -> Presence:
        made = Presence()
        for times in series:
            made.add(times)
        return made

    first = presence([0, 60, 120], [1, 61, 121])
    after = presence([120.5, 180, 240], [181, 241])
    inside = presence([62])
    assert not first.at_once_with(after)
    assert not after.at_once_with(first)
    assert first.at_once_with(inside)
    assert inside.at_once_with(first)
