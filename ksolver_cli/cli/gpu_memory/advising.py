"""`vram-predict --right-class`: workloads that would run on a cheaper GPU, and what blocks it."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from ksolver_cli.catalog.files import CatalogError
from ksolver_cli.catalog.tables import CURRENCY, bundled_catalog
from ksolver_cli.cli.common.exits import CommandError, Exit, one_line
from ksolver_cli.cli.gpu_memory.words import some
from ksolver_cli.domain.money import HOURS_PER_MONTH, MICROS
from ksolver_cli.render.amounts import monthly
from ksolver_cli.vram.cards import GIB_IN_MIB
from ksolver_cli.vram.join.source import read_objects
from ksolver_cli.vram.observation import Observation
from ksolver_cli.vram.right_class.advice import WrongClass, wrong_classes


def advised(path: str, rows: Sequence[Observation], namespace: str | None, *, as_json: bool) -> str:
    """Return the advice for a cluster as text or JSON; raises CommandError and SnapshotError."""
    try:
        found = wrong_classes(rows, read_objects(path), bundled_catalog())
    except CatalogError as error:
        raise CommandError(str(error), error.advice, Exit.NO_RESULT) from error
    wanted = [advice for advice in found if namespace in {None, advice.namespace}]
    if as_json:
        document = {"schema": "ksolver.vram-right-class/1", "advice": [_record(advice) for advice in wanted]}
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    return "".join(f"{one_line(line)}\n" for line in _lines(wanted))


def _record(advice: WrongClass) -> dict[str, object]:
    month = advice.micros_per_hour_less * HOURS_PER_MONTH / MICROS
    return {**asdict(advice), "currency": CURRENCY, "list_price_less_per_month": round(month, 2)}


def _lines(found: Sequence[WrongClass]) -> Iterator[str]:
    if not found:
        yield "no workload is proven to fit a cheaper GPU class"
        return
    for advice in found:
        yield f"{advice.namespace}/{advice.workload}: {_words(advice)}"
        if advice.blocked_by:
            yield f"  blocked by: {'; '.join(advice.blocked_by)}"
    yield "at list price, by memory alone: speed is not compared, and nothing is saved until the nodes are gone"


def _words(advice: WrongClass) -> str:
    offer = advice.offer
    less = monthly(advice.micros_per_hour_less, CURRENCY)
    return (
        f"uses {advice.peak_mib / GIB_IN_MIB:.1f} GiB of {advice.gpu} ({advice.samples} observations, "
        f"{some(advice.gpus, 'GPU')} in {some(advice.pods, 'pod')}); fits {offer.gpu} ({offer.instance_type}), "
        f"{less} a month less"
    )
