"""Series put together to devices and their owners: the highest value, never a sum."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations

from ksolver_cli.collect.prometheus_answer import Series
from ksolver_cli.vram.dcgm.labels import DeviceKey, Labels, Owner, Scrapes, Tag
from ksolver_cli.vram.dcgm.timeline import Presence
from ksolver_cli.vram.dcgm.values import mib

PodKey = tuple[str, str, str]


@dataclass
class Use:
    """What one owner had of one device; its presence is known only where samples were fetched."""

    owner: Owner
    peak_mib: float | None = None
    samples: int = 0
    presence: Presence = field(default_factory=Presence)
    shared: bool = False

    @property
    def pod(self) -> PodKey:
        """The pod, told apart by uid where the exporter gives one."""
        return self.owner.namespace, self.owner.pod, self.owner.uid or ""


@dataclass
class Device:
    """One GPU or MIG instance as seen over the window."""

    tag: Tag
    peak_mib: float | None = None
    capacity_mib: int | None = None
    uses: dict[PodKey, Use] = field(default_factory=dict)
    virtual: bool = False
    blank: bool = False

    @property
    def name(self) -> str:
        """`UUID`, or `UUID/instance` for MIG."""
        return "/".join(part for part in self.tag.device if part)


class Devices:
    """Collects series; duplicates (exporter restarts, HA pairs, old names) end in the highest value."""

    def __init__(self, scrapes: Scrapes) -> None:
        self._scrapes = scrapes
        self._found: dict[DeviceKey, Device] = {}

    def add_peaks(self, series: Iterable[Series]) -> None:
        """Take in peaks: of an instant vector its value, of a range its highest usable sample with their times."""
        for entry in series:
            self._add(entry)

    def _add(self, entry: Series) -> None:
        device = self._device(entry.labels)
        values = [value for _, raw in entry.samples if (value := mib(raw)) is not None]
        # A blank among the samples hides the true peak of `max_over_time`: it has to be looked for among them.
        device.blank |= not values and bool(entry.samples)
        peak = max(values, default=None)
        device.peak_mib = _higher(device.peak_mib, peak)
        owner = self._scrapes.tag(entry.labels).owner
        if owner is None:
            return
        use = device.uses.setdefault(Use(owner).pod, Use(owner))
        use.peak_mib = _higher(use.peak_mib, peak)
        # One sample is the value of an instant query, whose time is the query's and not the measurement's.
        if len(entry.samples) > 1:
            use.presence.add(time for time, _ in entry.samples)
            use.samples = max(use.samples, len(entry.samples))

    def _device(self, labels: Labels) -> Device:
        tag = self._scrapes.tag(labels)
        device = self._found.setdefault(tag.device, Device(tag))
        device.virtual |= tag.virtual
        return device

    def add_counts(self, series: Iterable[Series]) -> None:
        """Take in how many samples each series has; of duplicates the larger number."""
        for entry in series:
            owner, count = self._scrapes.tag(entry.labels).owner, entry.last
            use = self._device(entry.labels).uses.get(Use(owner).pod) if owner is not None else None
            # Of duplicates the larger count: adding would count a replica's samples twice.
            if use is not None and count is not None and 0 < count < 1e12:
                use.samples = max(use.samples, int(count))

    def add_capacity(self, labels: Labels, capacity_mib: float) -> None:
        """Take in the memory of a device."""
        device = self._device(labels)
        device.capacity_mib = max(device.capacity_mib or 0, round(capacity_mib))

    def judge_sharing(self) -> None:
        """Mark uses of a device that two pods had at once: then the value is the device's, not a pod's.

        Where the moments are not known, several owners count as sharing. Whoever had the device alone before or after
        keeps a value of its own, except on replicas of a device, where nobody is ever known to be alone.
        """
        for device in self._found.values():
            for one, other in combinations(device.uses.values(), 2):
                if _concurrent(one, other):
                    one.shared = other.shared = True
            for use in device.uses.values():
                use.shared |= device.virtual

    def contested(self) -> list[Device]:
        """Return devices whose samples must be looked at: several owners in the window, or a hidden peak."""
        return [d for d in self._found.values() if d.blank or (len(d.uses) > 1 and not d.virtual)]

    def all(self) -> list[Device]:
        """Return the devices in order of first mention."""
        return list(self._found.values())


def _concurrent(one: Use, other: Use) -> bool:
    if one.pod[:2] == other.pod[:2] and "" in {one.pod[2], other.pod[2]}:
        # An exporter that was taught to tell uids meanwhile: one pod under two sets of labels.
        return False
    if not one.presence.times or not other.presence.times:
        return True
    return one.presence.at_once_with(other.presence)


def _higher(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return one if other is None else other
    return max(one, other)


@dataclass(frozen=True)
class PodUse:
    """A pod's use: its fullest device, and how many it had."""

    owner: Owner
    peak_mib: float
    device: Device
    device_count: int
    samples: int
    shared: bool


def pods_of(devices: Iterable[Device]) -> list[PodUse]:
    """Return what each pod used: per device, then the fullest one. Pods without a value above zero are left out.

    Series without a uid belong to the one pod of that name whose uid others tell, where there is just one.
    """
    held = [(device, use) for device in devices for use in device.uses.values()]
    uids: dict[tuple[str, str], set[str]] = {}
    for _, use in held:
        uids.setdefault(use.pod[:2], set()).update({use.pod[2]} - {""})
    by_pod: dict[PodKey, list[tuple[Device, Use]]] = {}
    for device, use in held:
        told = uids[use.pod[:2]]
        uid = use.pod[2] or (next(iter(told)) if len(told) == 1 else "")
        by_pod.setdefault((*use.pod[:2], uid), []).append((device, use))
    found = (_pod_use(pairs, uid or None) for (_, _, uid), pairs in by_pod.items())
    return [use for use in found if use is not None]


def _pod_use(held: list[tuple[Device, Use]], uid: str | None) -> PodUse | None:
    device, fullest = max(held, key=lambda pair: pair[1].peak_mib or 0.0)
    if not fullest.peak_mib:
        return None
    shared = any(use.shared for _, use in held)
    cards = len({other.tag.device for other, _ in held})
    return PodUse(replace(fullest.owner, uid=uid), fullest.peak_mib, device, cards, fullest.samples, shared)


def covered(series: Iterable[Series]) -> Mapping[DeviceKey, float]:
    """Return the seconds each device has samples for; gaps are unknown, not zero."""
    entries = list(series)
    scrapes = Scrapes.among(entry.labels for entry in entries)
    presences: dict[DeviceKey, Presence] = {}
    for entry in entries:
        device = scrapes.tag(entry.labels).device
        presences.setdefault(device, Presence()).add(time for time, _ in entry.samples)
    return {device: presence.covered_seconds() for device, presence in presences.items()}
