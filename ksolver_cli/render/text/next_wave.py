"""The next wave as text: a line of what happened, then the commands as they are typed."""

from collections.abc import Iterator

from ksolver_cli.explain.next_wave import NextWave
from ksolver_cli.render.safe import shell


def next_wave_lines(facts: NextWave) -> Iterator[str]:
    """Lines without markup."""
    yield f"# nodes of the plan that are gone: {len(facts.gone)}, left: {len(facts.left)}"
    if facts.given_back:
        yield f"# given back, since their pods would not all find a place: {len(facts.given_back)}"
    if facts.joined:
        yield f"# can go in addition: {len(facts.joined)}"
    if not facts.plan.waves:
        yield "# nothing is left to remove"
    else:
        first = facts.plan.waves[0]
        yield f"# wave 1 of {len(facts.plan.waves)}"
        yield f"# pods evicted: {len(first.evictions)}, nodes removed: {len(first.nodes)}"
    for command in (*facts.prechecks, *facts.commands):
        yield shell(command.argv)
        if command.wait:
            yield f"# wait: {command.wait}"
