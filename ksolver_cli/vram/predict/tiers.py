"""The four tiers, in order: annotation, observations, model configuration, hints."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ksolver_cli.domain.gpu_workload.fingerprint import fingerprint
from ksolver_cli.domain.gpu_workload.hints import Hints, parse_number
from ksolver_cli.domain.gpu_workload.raw import RawObject, annotations_of
from ksolver_cli.vram.facts import from_numbers, preallocates, workload_hints
from ksolver_cli.vram.memory.configuration import CONFIG_ANNOTATION, BadConfiguration, read_configuration
from ksolver_cli.vram.memory.estimate import Setting, estimate
from ksolver_cli.vram.observation import Observation
from ksolver_cli.vram.predict.residual import Residual, learn, usable
from ksolver_cli.vram.predict.results import Prediction, Source
from ksolver_cli.vram.predict.statistics import percentile, upper_bound

BYTES_ANNOTATION = "ksolver.dev/predicted-peak-vram-bytes"
GIB_ANNOTATION = "ksolver.dev/predicted-peak-vram-gib"
MIB = 2**20
GIB_IN_MIB = 1024

_ENOUGH = 3
_SHARE = 0.95


@dataclass(frozen=True)
class Asked:
    """A workload to predict: its pod or template, annotations of what made it, where it runs, hints from elsewhere."""

    pod: RawObject
    setting: Setting = field(default_factory=Setting)
    annotations: Mapping[str, str] = field(default_factory=dict)
    beside: Hints = field(default_factory=Hints)
    typed: Hints = field(default_factory=Hints)


@dataclass(frozen=True)
class _Answer:
    mib: float
    explanation: str
    missing: tuple[str, ...] = ()
    samples: int = 0
    upper_mib: int | None = None
    needed_mib: int | None = None
    may_be_hard: bool = True


class Predictor:
    """Answers from a store of observations and the memory model.

    Tiers 1 and 4 may be hard filters; the model's answers only with `hard_admit`. Nothing is hard that is not above
    zero, is larger than any card, or follows the card's own size.
    """

    def __init__(self, rows: Iterable[Observation], *, largest_card_mib: int, hard_admit: bool = False) -> None:
        alone = usable(rows)
        self._residual = learn(alone)
        self._largest = largest_card_mib
        self._hard_admit = hard_admit
        self._by_key: dict[str, list[Observation]] = defaultdict(list)
        for row in alone:
            self._by_key[row.key].append(row)

    @property
    def residual(self) -> Residual:
        """What the store has taught the memory model."""
        return self._residual

    def knows(self, key: str) -> bool:
        """Tell whether the store holds a fingerprint."""
        return key in self._by_key

    def predict(self, asked: Asked) -> Prediction:
        """Return the first tier's answer; a tier that cannot answer says why in the explanation."""
        print_ = fingerprint(asked.pod)
        key = print_.key if print_ is not None else None
        remarks: list[str] = []
        tiers = (
            (Source.ANNOTATION, self._annotation),
            (Source.OBSERVATIONS, lambda asked, remarks: self._observations(key, asked, remarks)),
            (Source.CONFIGURATION, self._configuration),
            (Source.HINTS, self._hints),
        )
        for source, tier in tiers:
            answer = tier(asked, remarks)
            if answer is not None:
                return self._prediction(source, answer, key, remarks)
        explanation = "; ".join(["no tier answers", *remarks])
        missing = ("model_parameters_billions", f"observations ({_ENOUGH} of this fingerprint)")
        return Prediction(None, Source.NONE, missing, key, hard=False, explanation=explanation)

    def _prediction(self, source: Source, answer: _Answer, key: str | None, remarks: Sequence[str]) -> Prediction:
        words = [answer.explanation, *remarks]
        possible = 0 < answer.mib <= self._largest
        if not possible:
            words.append(f"advisory: not above 0 and at most the largest card ({self._largest} MiB)")
        allowed = source in {Source.ANNOTATION, Source.OBSERVATIONS} or self._hard_admit
        return Prediction(
            vram_mib=math.ceil(answer.mib),
            source=source,
            missing=answer.missing,
            fingerprint=key,
            hard=possible and allowed and answer.may_be_hard,
            explanation="; ".join(words),
            samples=answer.samples,
            upper_mib=answer.upper_mib,
            needed_mib=answer.needed_mib,
        )

    def _annotation(self, asked: Asked, remarks: list[str]) -> _Answer | None:
        annotations = {**asked.annotations, **annotations_of(asked.pod)}
        for name, unit_mib in ((BYTES_ANNOTATION, 1 / MIB), (GIB_ANNOTATION, GIB_IN_MIB)):
            if name not in annotations:
                continue
            # A longer text is no amount of memory, and might be megabytes long.
            number = parse_number(annotations[name]) if len(annotations[name]) < 40 else None
            if number is not None:
                return _Answer(number * unit_mib, f"annotation {name}")
            remarks.append(f"annotation {name} is not a number and was passed over")
        return None

    def _observations(self, key: str | None, asked: Asked, remarks: list[str]) -> _Answer | None:
        rows = self._by_key.get(key or "", [])
        if len(rows) < _ENOUGH:
            if rows:
                remarks.append(f"{len(rows)} of {_ENOUGH} observations needed")
            return None
        peaks = [float(row.peak_mib) for row in rows]
        bound = upper_bound(peaks)
        words = f"95th percentile of {len(peaks)} observations ({min(peaks):.0f} to {max(peaks):.0f} MiB)"
        if any(row.oom for row in rows):
            words += "; some ran out of memory, so that the need is at least this"
        # Told by the pod itself or by how it was measured; either is enough.
        elastic = preallocates(self._found(asked)) or any(preallocates(from_numbers(row.hints)) for row in rows)
        if elastic:
            words += "; the engine takes a fraction of whatever card it gets, so that this is no need"
        return _Answer(
            percentile(peaks, _SHARE),
            words,
            samples=len(peaks),
            upper_mib=math.ceil(bound) if math.isfinite(bound) else None,
            may_be_hard=not elastic,
        )

    def _configuration(self, asked: Asked, remarks: list[str]) -> _Answer | None:
        text = {**asked.annotations, **annotations_of(asked.pod)}.get(CONFIG_ANNOTATION)
        if text is None:
            return None
        try:
            configured = read_configuration(text)
        except BadConfiguration as bad:
            remarks.append(f"{bad} and was passed over")
            return None
        return self._modelled(configured.over(self._found(asked)), asked.setting, remarks)

    def _hints(self, asked: Asked, remarks: list[str]) -> _Answer | None:
        return self._modelled(self._found(asked), asked.setting, remarks)

    def _found(self, asked: Asked) -> Hints:
        return asked.typed.over(workload_hints(asked.pod, asked.beside))

    def _modelled(self, hints: Hints, setting: Setting, remarks: list[str]) -> _Answer | None:
        answer = estimate(hints, setting)
        if answer is None:
            remarks.append("the number of parameters is not known")
            return None
        corrected = self._residual.applied(answer)
        words = answer.explanation
        if corrected != answer.mib:
            words += f"; × {self._residual.factor:.2f} learnt from {self._residual.fingerprints} fingerprints"
        return _Answer(
            corrected,
            words,
            missing=answer.missing,
            needed_mib=answer.needed_mib if answer.elastic else None,
            may_be_hard=not answer.elastic and answer.complete,
        )
