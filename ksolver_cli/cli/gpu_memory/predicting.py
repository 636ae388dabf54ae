"""What `vram-predict` does once its options are read."""

import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from ksolver_cli.catalog.files import CatalogError
from ksolver_cli.cli.common.exits import CommandError, Exit, one_line
from ksolver_cli.cli.common.output import emit
from ksolver_cli.cli.gpu_memory.advising import advised
from ksolver_cli.cli.gpu_memory.problems import tell
from ksolver_cli.cli.gpu_memory.words import some
from ksolver_cli.domain.gpu_workload.containers import gpu_container
from ksolver_cli.domain.gpu_workload.fingerprint import fingerprint
from ksolver_cli.domain.gpu_workload.hints import Hints, billions_in_name, read_pairs
from ksolver_cli.domain.gpu_workload.raw import at, text
from ksolver_cli.snapshot.source import STDIN
from ksolver_cli.vram import store as stores
from ksolver_cli.vram.cards import GIB_IN_MIB, Cards
from ksolver_cli.vram.facts import workload_hints
from ksolver_cli.vram.manifests import Workload, read_workloads
from ksolver_cli.vram.memory.models import known_model
from ksolver_cli.vram.memory.precision import precision_named
from ksolver_cli.vram.predict.calibrate import Calibration, calibrate
from ksolver_cli.vram.predict.results import Prediction
from ksolver_cli.vram.predict.rooms import Rooms, gpu_node_sizes, rooms_for
from ksolver_cli.vram.predict.targets import Targets, asks_for_mig, worth_predicting
from ksolver_cli.vram.predict.tiers import Predictor

log = logging.getLogger(__name__)

_SCHEMA = "ksolver.vram-predict/1"
_HEADINGS = ("WORKLOAD", "GPU MEMORY", "SOURCE", "CONFIDENCE", "HARD", "MISSING")


@dataclass(frozen=True)
class Answer:
    """What is said of one workload."""

    workload: Workload
    prediction: Prediction
    rooms: Rooms | None

    def words(self) -> str:
        """Return how the number came about, and which nodes it speaks of."""
        return "; ".join([self.prediction.explanation, *([self.rooms.words()] if self.rooms is not None else [])])


Answers = list[Answer]


@dataclass(frozen=True)
class Typed:
    """Facts about the model that were typed; they outrank everything found."""

    model: str | None
    model_parameters_billions: float | None
    batch_size: int | None
    sequence_length: int | None
    precision: str | None


@dataclass(frozen=True)
class Asked:
    """Everything else that was typed."""

    source: str | None
    filename: str | None
    store: Path | None
    hard_admit: bool
    namespace: str | None
    gpu_memory_gib: float | None
    out: str | None


class Question(StrEnum):
    """What is asked of the store and the input."""

    PREDICTION = "prediction"
    CALIBRATION = "calibrate"
    RIGHT_CLASS = "right-class"

    @classmethod
    def asked(cls, *, calibrate: bool, right_class: bool) -> "Question":
        """Return the one question that was typed; raises CommandError for two."""
        if calibrate and right_class:
            raise CommandError("--calibrate and --right-class", "ask one of them at a time", Exit.USAGE)
        if calibrate:
            return cls.CALIBRATION
        return cls.RIGHT_CLASS if right_class else cls.PREDICTION


def run(asked: Asked, typed: Typed, question: Question, *, as_json: bool) -> None:
    """Answer, and write the answer; raises CommandError and SnapshotError."""
    try:
        text = _answered(asked, typed, question, as_json=as_json)
    except CatalogError as error:
        raise CommandError(str(error), error.advice, Exit.USAGE) from error
    emit(text, asked.out)


def _answered(asked: Asked, typed: Typed, question: Question, *, as_json: bool) -> str:
    hints = _hints(typed)
    contents = _read_store(asked.store)
    if question is not Question.PREDICTION and asked.store is None:
        raise CommandError(f"--{question} needs a store", "give --store FILE that vram-observe wrote", Exit.USAGE)
    if question is Question.CALIBRATION:
        return _calibrated(calibrate(contents.observations), as_json=as_json)
    if question is Question.RIGHT_CLASS:
        path = _input(asked.source, asked.filename)
        return advised(path, contents.observations, asked.namespace, as_json=as_json)
    answers = _predicted(asked, hints, contents)
    return _json(answers) if as_json else _table(answers)


def _predicted(asked: Asked, typed: Hints, contents: stores.Contents) -> Answers:
    path = _input(asked.source, asked.filename)
    card_mib = _card_mib(asked.gpu_memory_gib)
    cards = Cards.bundled()
    found, nodes = read_workloads(path)
    predictor = Predictor(contents.observations, largest_card_mib=cards.largest_mib, hard_admit=asked.hard_admit)
    known = [predictor.knows(key.key) if (key := fingerprint(w.pod)) else False for w in found]
    cluster = bool(nodes) or any(w.runs for w in found)
    chosen = worth_predicting(found, known, cluster=cluster)
    if not chosen:
        log.warning("no workload in %s asks for a GPU", "stdin" if path == STDIN else one_line(path))
    targets = Targets(cards, nodes, card_mib, typed)
    wanted = [w for w in chosen if asked.namespace in {None, w.namespace}]
    sizes = gpu_node_sizes(nodes, cards)
    told = [(workload, predictor.predict(targets.asked(workload))) for workload in wanted]
    # The part of a card that a MIG instance is, is not the node's to tell.
    return [Answer(w, answer, None if asks_for_mig(w.pod) else rooms_for(answer, sizes)) for w, answer in told]


def _input(source: str | None, filename: str | None) -> str:
    given = [path for path in (source, filename) if path is not None]
    if len(given) != 1:
        raise CommandError(
            "give one input to predict for" if given else "nothing to predict for",
            "ksolver vram-predict FILE, with a snapshot, a kubectl list or a manifest; - is stdin",
            Exit.USAGE,
        )
    return given[0]


def _read_store(path: Path | None) -> stores.Contents:
    if path is None:
        return stores.Contents(())
    if not path.exists():
        raise CommandError(
            f"{path}: no such store", "run ksolver vram-observe first, or leave --store out", Exit.SNAPSHOT
        )
    try:
        contents = stores.read(path)
    except stores.StoreError as error:
        raise CommandError(str(error), "give --store a file that vram-observe wrote", Exit.SNAPSHOT) from error
    tell(path, contents.problems)
    return contents


def _hints(typed: Typed) -> Hints:
    values = asdict(typed)
    for name, value in values.items():
        if isinstance(value, int | float) and not value > 0:
            option = f"--{name.replace('_', '-')}"
            raise CommandError(f"{option} {value}: not above 0", f"give {option} a positive number", Exit.USAGE)
    if typed.precision is not None and precision_named(typed.precision) is None:
        raise CommandError(f"--precision {typed.precision}: not known", "give fp32, bf16 or fp16", Exit.USAGE)
    hints = read_pairs((name, str(value)) for name, value in values.items() if value is not None)
    billions = billions_in_name(typed.model or "")
    sized = billions is not None or typed.model_parameters_billions is not None or known_model(typed.model) is not None
    if typed.model and not sized:
        what = f"--model {typed.model}: not among the known models, and its name tells no size"
        raise CommandError(what, "give --model-parameters-billions too", Exit.USAGE)
    return hints.over(Hints({} if billions is None else {"model_parameters_billions": billions}))


def _card_mib(gib: float | None) -> int | None:
    if gib is None:
        return None
    if not 0 < gib < 10_000:
        raise CommandError(f"--gpu-memory-gib {gib}: not a card's memory", "give e.g. 80", Exit.USAGE)
    return int(gib * GIB_IN_MIB)


def _record(answer: Answer) -> dict[str, object]:
    workload = answer.workload
    hints = workload_hints(workload.pod, workload.beside)
    place = {
        "kind": workload.kind,
        "namespace": workload.namespace,
        "name": workload.name,
        "role": workload.role,
        "replicas": workload.replicas,
        "image": text(at(gpu_container(workload.pod), "image")),
        "processes": workload.processes,
        "hints": {**hints.numbers, **hints.words},
    }
    nodes = answer.rooms.record() if answer.rooms is not None else None
    return place | answer.prediction.record() | {"gpu_nodes": nodes}


def _json(answers: Answers) -> str:
    predictions = [_record(answer) for answer in answers]
    return json.dumps({"schema": _SCHEMA, "predictions": predictions}, indent=2, ensure_ascii=False) + "\n"


def _table(answers: Answers) -> str:
    rows = [_HEADINGS, *(_row(answer.workload, answer.prediction) for answer in answers)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    reasons = _reasons((row[0], one_line(answer.words())) for row, answer in zip(rows[1:], answers, strict=True))
    return "\n".join([*lines, "", *reasons]) + "\n" if answers else "nothing to predict\n"


def _reasons(told: Iterable[tuple[str, str]]) -> Iterable[str]:
    """Each explanation once, with the first of those it is of: a cluster has thousands of pods that are alike."""
    names: dict[str, list[str]] = {}
    for name, words in told:
        names.setdefault(words, []).append(name)
    for words, (first, *others) in names.items():
        yield f"{first}{f' and {len(others)} more' if others else ''}: {words}"


def _row(workload: Workload, prediction: Prediction) -> tuple[str, ...]:
    name = f"{workload.kind}/{workload.namespace}/{workload.name}" + (f" {workload.role}" if workload.role else "")
    mib = prediction.vram_mib
    memory = "unknown" if mib is None else f"{mib / GIB_IN_MIB:.1f} GiB ({mib} MiB)"
    hard = "yes" if prediction.hard else "no"
    missing = ", ".join(prediction.missing) or "-"
    cells = (name, memory, prediction.source.value, prediction.confidence.value, hard, missing)
    return tuple(one_line(cell) for cell in cells)


def _calibrated(found: Calibration, *, as_json: bool) -> str:
    if as_json:
        return json.dumps({"schema": "ksolver.vram-calibration/1", **found.record()}, indent=2) + "\n"
    return "\n".join(_calibration_lines(found)) + "\n"


def _calibration_lines(found: Calibration) -> Iterable[str]:
    spread = f"{some(found.rows, 'row')} of {some(found.fingerprints, 'fingerprint')}"
    yield f"{spread}; the model answers {found.predicted} of them"
    if found.preallocating:
        yield f"left out: {some(found.preallocating, 'row')} of programs that take a fraction of their card"
    if found.mae_mib is not None:
        yield f"leave-one-fingerprint-out: mean error {found.mae_mib:.0f} MiB, 95 % below {found.p95_mib:.0f} MiB"
        yield f"under-predicted: {100 * (found.under_rate or 0):.1f} % of rows"
    else:
        yield "leave-one-fingerprint-out: no row has hints enough for the memory model, so no error is known"
    for use, justified, missing in (
        ("advisory", found.advisory, found.advisory_missing),
        ("hard", found.hard, found.hard_missing),
    ):
        yield f"{use} use: {_verdict(justified, missing)}"


def _verdict(justified: bool, missing: Sequence[str]) -> str:
    return "justified" if justified else "not justified; there are only " + ", ".join(missing)
