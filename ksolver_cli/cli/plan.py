"""`ksolver plan`: go on with a drain plan, wave by wave."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ksolver_cli.cli.common import options as o
from ksolver_cli.cli.common.exits import CommandError, Exit
from ksolver_cli.cli.common.guard import guarded

if TYPE_CHECKING:
    from ksolver_cli.domain.plan import Wave
    from ksolver_cli.explain.next_wave import NextWave

app = typer.Typer(name="plan", help="Carry out a drain plan wave by wave.", no_args_is_help=True)

_FORMATS = ("text", "json")
_HINT = "give the report or plan that `ksolver analyze --json` or `ksolver plan next --json` wrote"

PlanFile = Annotated[Path, typer.Argument(metavar="PLAN", help="A report or plan as JSON.")]
Fresh = Annotated[list[str], typer.Argument(metavar="SNAPSHOT...", help="The cluster as it is now.")]


@app.callback()
def plan() -> None:
    """Carry out a drain plan wave by wave."""


def next_(
    plan: PlanFile,
    snapshot: Fresh,
    prices: o.Prices = None,
    region: o.Region = None,
    spot_factor: o.SpotFactor = None,
    output: o.Output = "text",
    json: o.Json = False,
    out: o.Out = None,
    complete: o.Complete = False,
    seed: o.Seed = 0,
    time_limit: o.TimeLimit = 300,
    effort: o.Effort = 1.0,
) -> None:
    """Look afresh at what is left of PLAN, and print the commands of its next wave.

    Run it after each wave, with a snapshot taken since: the scheduler may have placed pods differently than foreseen.
    """
    if output not in _FORMATS:
        raise CommandError(f"-o {output}: no such format", f"formats are {', '.join(_FORMATS)}", Exit.USAGE)
    from ksolver_cli.cli.common.prices import pricing
    from ksolver_cli.cli.common.progress import watching
    from ksolver_cli.domain.plan import Limits
    from ksolver_cli.explain.next_wave import NextRequest, next_wave
    from ksolver_cli.plan.search import SearchOptions
    from ksolver_cli.snapshot.read import read_snapshot

    waves = _planned(plan)
    seen = read_snapshot(snapshot)
    priced = pricing(prices, region, spot_factor, seen.collected_at)
    limits = Limits(seed=seed, seconds=time_limit, effort=effort or 1.0)
    request = NextRequest(waves, priced.user, priced.options, limits, SearchOptions(), complete)
    with watching(time_limit) as watch:
        facts = next_wave(seen, request, (watch.progress, watch.interrupted))
    _print(facts, "json" if json else output, out)


def _planned(path: Path) -> "tuple[Wave, ...]":
    import orjson

    from ksolver_cli.plan.next_wave import planned_waves

    try:
        document: object = orjson.loads(sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes())
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}", _HINT, Exit.USAGE) from error
    except orjson.JSONDecodeError as error:
        raise CommandError(f"{path}: not JSON ({error})", _HINT, Exit.USAGE) from error
    waves = planned_waves(document)
    if waves is None:
        raise CommandError(f"{path}: holds no plan (no list `waves` with `nodes`)", _HINT, Exit.USAGE)
    return waves


def _print(facts: "NextWave", form: str, out: str | None) -> None:
    from ksolver_cli.cli.common.output import emit
    from ksolver_cli.render.json_report import to_json
    from ksolver_cli.render.text.next_wave import next_wave_lines

    emit(to_json(facts) if form == "json" else "".join(f"{line}\n" for line in next_wave_lines(facts)), out)


app.command("next")(guarded(next_))
