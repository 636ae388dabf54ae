"""The next wave as text: a line of what happened, then the commands as they are typed."""

from collections.abc import Iterator

from ksolver_cli.explain.next_wave import NextWave
from ksolver_cli.render.safe import shell


def next_wave_lines(facts: NextWave) -> Iterator[str]:
    """Lines without markup."""
    yield f"# {len(facts.gone)} nodes of the plan are gone, {len(facts.left)} are left"
    if facts.given_back:
        yield f"# {len(facts.given_back)} are given back: their pods would not all find a place"
    if facts.joined:
        yield f"# {len(facts.joined)} more can go"
    if not facts.plan.waves:
        yield "# nothing is left to remove"
    else:
        first = facts.plan.waves[0]
        yield f"# wave 1 of {len(facts.plan.waves)}: {len(first.evictions)} pods, {len(first.nodes)} nodes removed"
    for command in (*facts.prechecks, *facts.commands):
        yield shell(command.argv)
        if command.wait:
            yield f"# wait: {command.wait}"
