"""Finding devices on one node for several claims at once, by the scheduler's own exhaustive first-fit search."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ksolver_cli.constraints.dynamic_resources.attributes import RequestName, Together, together
from ksolver_cli.constraints.dynamic_resources.capacity import consumed, has_room
from ksolver_cli.constraints.dynamic_resources.cel.values import UnsupportedError
from ksolver_cli.constraints.dynamic_resources.gates import Gates
from ksolver_cli.constraints.dynamic_resources.pools import Candidate, DeviceId, Pool, PoolId, reaches
from ksolver_cli.constraints.dynamic_resources.selection import AllocationError, selected
from ksolver_cli.domain.devices import AllocatedDevice, DeviceClass, DeviceRequest, ResourceClaim
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.quantity import Quantity

MAX_DEVICES = 32
"""Devices that one claim may hold (`AllocationResultsMaxSize`)."""
MAX_TRIALS = 50_000
"""Devices tried before the search gives up; the scheduler itself gives up after ten seconds."""
MAX_REQUESTS = 150

Undo = Callable[[], None]
Offer = tuple[Pool, Candidate | None]
"""A device of a pool to try, or None where trying it fails the whole search."""
_PREVENTS = frozenset({"NoSchedule", "NoExecute"})


@dataclass
class Taken:
    """Devices that are given out already: those for one claim alone, and how much of those that are shared."""

    devices: set[DeviceId] = field(default_factory=set)
    shared: dict[DeviceId, dict[str, Quantity]] = field(default_factory=dict)

    def add(self, device: AllocatedDevice, gates: Gates) -> None:
        """Count a device of an allocation; one held with admin access is held by nobody."""
        if device.admin_access:
            return
        if not (device.share and gates.shared_capacity):
            self.devices.add(device.key)
            return
        amounts = self.shared.setdefault(device.key, {})
        for name, amount in device.consumed:
            amounts[name] = amounts.get(name, Quantity(0)) + amount


@dataclass(frozen=True, slots=True)
class Option:
    """A request, or one alternative of it, with its class; `everything` are the devices that mode All must all get."""

    claim: int
    name: RequestName
    request: DeviceRequest
    device_class: DeviceClass
    everything: tuple[tuple[Pool, Candidate], ...] | None = None


class Allocator:
    """One search on one node. `allocate` is called once."""

    def __init__(self, node: Node, pools: Sequence[Pool], taken: Taken, gates: Gates) -> None:
        self.node = node
        self._pools = pools
        self._taken = taken
        self._gates = gates
        self._claims: Sequence[ResourceClaim] = ()
        self._constraints: list[list[Together]] = []
        self._results: list[list[tuple[Candidate, AllocatedDevice]]] = []
        self._marked: dict[DeviceId, list[int]] = {}
        self._sharing: dict[DeviceId, list[Mapping[str, Quantity]]] = {}
        self._counted: dict[PoolId, dict[tuple[str, str], Quantity]] = {}
        self._selectable: dict[tuple[DeviceId, int, RequestName], bool] = {}
        self._trials = 0

    def allocate(
        self, claims: Sequence[ResourceClaim], classes: Mapping[str, DeviceClass]
    ) -> list[list[tuple[Candidate, AllocatedDevice]]] | None:
        """Devices for each claim, None where there is no way to have them all.

        Raises AllocationError where the scheduler fails, UnsupportedError where a selector is not modelled.
        """
        self._claims = claims
        self._results = [[] for _ in claims]
        self._constraints = [_constraints(claim, self._gates) for claim in claims]
        wanted = [
            self._options(index, request, classes) for index, claim in enumerate(claims) for request in claim.requests
        ]
        if len(wanted) > MAX_REQUESTS:
            raise UnsupportedError(f"more than {MAX_REQUESTS} device requests of one pod")
        self._check_sizes(wanted)
        return self._results if self._solve(wanted, 0) else None

    def _options(self, index: int, request: DeviceRequest, classes: Mapping[str, DeviceClass]) -> tuple[Option, ...]:
        if not request.alternatives:
            return (self._option(index, (request.name, ""), request, classes),)
        return tuple(
            self._option(index, (request.name, alternative.name), alternative, classes)
            for alternative in request.alternatives
        )

    def _option(
        self, index: int, name: RequestName, request: DeviceRequest, classes: Mapping[str, DeviceClass]
    ) -> Option:
        where = f"claim {self._claims[index].key}, request {request.name}"
        found = classes.get(request.device_class)
        if found is None:
            raise AllocationError(f"{where}: could not retrieve device class {request.device_class}")
        if request.capacity and not self._gates.shared_capacity:
            where = f"claim {self._claims[index].key}, request {name[0]}"
            raise AllocationError(f"{where}: has capacity requests, but the DRAConsumableCapacity feature is disabled")
        option = Option(index, name, request, found)
        if request.mode == "ExactCount":
            return option
        if request.mode != "All":
            raise AllocationError(f"{where}: unsupported count mode {request.mode}")
        return Option(index, name, request, found, tuple(self._everything(option, where)))

    def _everything(self, option: Option, where: str) -> Iterator[tuple[Pool, Candidate]]:
        for pool in self._pools:
            state = "currently being updated" if pool.is_incomplete else "currently invalid" if pool.invalid else ""
            if state:
                raise AllocationError(
                    f"{where}: asks for all devices, but resource pool {'/'.join(pool.id)} is {state}"
                )
            for candidate in pool.candidates:
                if self._is_selectable(option, candidate) and self._could_have_room(option, candidate):
                    yield pool, candidate

    def _could_have_room(self, option: Option, candidate: Candidate) -> bool:
        if self._gates.all_in_use_too:
            return has_room(candidate.device, dict(option.request.capacity))
        return self._has_room(option, candidate)

    def _check_sizes(self, wanted: list[tuple[Option, ...]]) -> None:
        least = [0] * len(self._claims)
        for options in wanted:
            least[options[0].claim] += min(map(_count, options))
        for claim, devices in zip(self._claims, least, strict=True):
            if devices > MAX_DEVICES:
                raise AllocationError(
                    f"claim {claim.key}: number of requested devices {devices} exceeds the claim limit of {MAX_DEVICES}"
                )

    def _solve(self, wanted: list[tuple[Option, ...]], position: int) -> bool:
        """Choose for the request at this position and all after it; earlier choices stand."""
        if position == len(wanted):
            return True
        for option in wanted[position]:
            if len(self._results[option.claim]) + _count(option) > MAX_DEVICES:
                continue
            choices = self._all(option) if option.everything is not None else self._combinations(option)
            if any(self._solve(wanted, position + 1) for _ in choices):
                return True
        return False

    def _all(self, option: Option) -> Iterator[None]:
        """Take every device of the option, or none at all."""
        undos: list[Undo] = []
        for pool, candidate in option.everything or ():
            undo = self._take(option, pool, candidate, must=True)
            if undo is None:
                break
            undos.append(undo)
        else:
            if undos:
                yield
        for undo in reversed(undos):
            undo()

    def _combinations(self, option: Option) -> Iterator[None]:
        """Take as many devices as the option asks for, in each combination in turn."""
        offered: list[Offer] = [(pool, candidate) for pool in self._pools for candidate in self._offered(pool)]
        chosen: list[tuple[int, Undo]] = []
        start = 0
        while True:
            if len(chosen) == option.request.count:
                yield
            else:
                step = self._next(option, offered, start)
                if step is not None:
                    chosen.append(step)
                    start = 0 if self._gates.permutes else step[0] + 1
                    continue
            if not chosen:
                return
            position, undo = chosen.pop()
            undo()
            start = position + 1

    def _offered(self, pool: Pool) -> tuple[Candidate | None, ...]:
        """The devices of a pool that may be given out; None is where the search fails instead."""
        if pool.invalid:
            return (None,) if self._gates.fails_on_invalid else ()
        return () if pool.is_incomplete and self._gates.whole_pools else pool.candidates

    def _next(self, option: Option, offered: list[Offer], start: int) -> tuple[int, Undo] | None:
        for position in range(start, len(offered)):
            pool, candidate = offered[position]
            if candidate is None:
                raise AllocationError(f"pool {pool.id[1]} is invalid: {pool.invalid}")
            self._trials += 1
            if self._trials > MAX_TRIALS:
                raise UnsupportedError(f"a choice among more than {MAX_TRIALS} combinations of devices")
            if self._in_use(option, candidate) or not self._is_selectable(option, candidate):
                continue
            undo = self._take(option, pool, candidate)
            if undo is not None:
                return position, undo
        return None

    def _is_selectable(self, option: Option, candidate: Candidate) -> bool:
        key = (candidate.id, option.claim, option.name)
        if key not in self._selectable:
            claim = self._claims[option.claim]
            fits = selected(candidate, option.request, option.device_class, claim, self._gates)
            per_device = candidate.slice.per_device
            self._selectable[key] = fits and (not per_device or reaches(candidate.device.reach, self.node))
        return self._selectable[key]

    def _in_use(self, option: Option, candidate: Candidate) -> bool:
        holders = self._marked.get(candidate.id, [])
        if option.request.admin_access:
            return option.claim in holders
        return candidate.id in self._taken.devices or bool(holders)

    def _has_room(self, option: Option, candidate: Candidate) -> bool:
        if not self._gates.shared_capacity:
            return True
        asked = dict(option.request.capacity)
        held = self._taken.shared.get(candidate.id, {})
        return has_room(candidate.device, asked, held, *self._sharing.get(candidate.id, ()))

    def _take(self, option: Option, pool: Pool, candidate: Candidate, *, must: bool = False) -> Undo | None:
        """Give the device to the option; returns how to take it back, None when it cannot be had."""
        if self._in_use(option, candidate) or not self._counters_left(pool, candidate):
            return None
        if self._is_tainted(option, candidate):
            return None
        if not self._join(option, candidate):
            if must:
                where = f"claim {self._claims[option.claim].key}, request {option.request.name}"
                device = "/".join(candidate.id)
                raise AllocationError(
                    f"{where}: cannot add device {device} because a claim constraint would not be satisfied"
                )
            return None
        if not self._has_room(option, candidate):
            self._leave(option)
            return None
        return self._record(option, pool, candidate)

    def _leave(self, option: Option) -> None:
        """Take the device that joined last out of the constraints of its claim."""
        for constraint in reversed(self._constraints[option.claim]):
            constraint.remove(option.name)

    def _is_tainted(self, option: Option, candidate: Candidate) -> bool:
        return self._gates.taints and any(
            taint.effect in _PREVENTS and not any(t.tolerates(taint) for t in option.request.tolerations)
            for taint in candidate.device.taints
        )

    def _join(self, option: Option, candidate: Candidate) -> bool:
        """Add the device to all constraints of its claim, or to none."""
        joined: list[Together] = []
        for constraint in self._constraints[option.claim]:
            if not constraint.add(option.name, candidate):
                for earlier in joined:
                    earlier.remove(option.name)
                return False
            joined.append(constraint)
        return True

    def _counters_left(self, pool: Pool, candidate: Candidate) -> bool:
        needed = candidate.device.counters
        if not needed:
            return True
        if not self._gates.partitions:
            return False
        if self._is_shared_already(candidate):
            return True
        left = self._counters(pool)
        return all(amount <= left[counter] for counter, amount in needed.items()) and all(
            amount.nanos >= 0 for amount in left.values()
        )

    def _is_shared_already(self, candidate: Candidate) -> bool:
        """A device that others share has its counters accounted for."""
        if not (self._gates.shared_capacity and candidate.device.shareable):
            return False
        return candidate.id in self._taken.shared or bool(self._sharing.get(candidate.id))

    def _counters(self, pool: Pool) -> dict[tuple[str, str], Quantity]:
        """What is left of the pool's counters, with every device that is given out or chosen taken off."""
        if pool.id not in self._counted:
            left = dict(pool.counters or {})
            for candidate in (*pool.candidates, *pool.others):
                if candidate.id in self._taken.devices or candidate.id in self._taken.shared:
                    _spend(left, candidate, -1)
            self._counted[pool.id] = left
        return self._counted[pool.id]

    def _record(self, option: Option, pool: Pool, candidate: Candidate) -> Undo:
        shares = self._gates.shared_capacity and candidate.device.shareable
        counts = bool(candidate.device.counters) and not self._is_shared_already(candidate)
        if counts:
            _spend(self._counters(pool), candidate, -1)
        amounts = consumed(candidate.device, dict(option.request.capacity)) if shares else {}
        if shares:
            self._sharing.setdefault(candidate.id, []).append(amounts)
        else:
            self._marked.setdefault(candidate.id, []).append(option.claim)
        admin, share = option.request.admin_access, "new" if shares else ""
        given = AllocatedDevice(*candidate.id, admin, share, tuple(sorted(amounts.items())))
        self._results[option.claim].append((candidate, given))

        def undo() -> None:
            self._results[option.claim].pop()
            (self._sharing if shares else self._marked)[candidate.id].pop()
            self._leave(option)
            if counts:
                _spend(self._counters(pool), candidate, 1)

        return undo


def _constraints(claim: ResourceClaim, gates: Gates) -> list[Together]:
    for position, constraint in enumerate(claim.constraints):
        if constraint.distinct and not gates.distinct:
            raise AllocationError(
                f"claim {claim.key}, constraint #{position}: empty constraint (unsupported constraint type?)"
            )
    return [together(constraint, gates) for constraint in claim.constraints]


def _count(option: Option) -> int:
    return option.request.count if option.everything is None else len(option.everything)


def _spend(left: dict[tuple[str, str], Quantity], candidate: Candidate, sign: int) -> None:
    for counter, amount in candidate.device.counters.items():
        left[counter] = left[counter] - amount if sign < 0 else left[counter] + amount
