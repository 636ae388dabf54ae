"""Actions as numbered paragraphs with the commands to run."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ksolver_cli.domain.report.actions import Action, ActionKind, Command
from ksolver_cli.render.amounts import many, monthly
from ksolver_cli.render.console import paragraph
from ksolver_cli.render.safe import plain, shell_lines

TITLES = {
    ActionKind.DRAIN_NODES: "Drain and remove {nodes}",
    ActionKind.RESIZE_POOL: "Resize pool {subject}",
    ActionKind.REMOVE_IDLE_NODES: "Remove {nodes} without workload pods",
    ActionKind.FIX_BUDGET: "Fix PodDisruptionBudget {subject}",
    ActionKind.PRICE_NODES: "Give {nodes} a price",
}


FEW_COMMANDS = 3
"""As many commands are printed of any action."""


def title(action: Action) -> str:
    """What the action does, in a few words."""
    count = len(action.nodes)
    if action.kind is ActionKind.DRAIN_NODES and not count:
        return "Move pods off nodes that a later step removes"
    return TITLES[action.kind].format(nodes=many(count, "node"), subject=plain(action.subject))


def _amount(action: Action, currency: str) -> str:
    if action.saving is None:
        return ""
    low, high = monthly(action.saving.at_least_micros, currency), monthly(action.saving.at_most_micros, currency)
    return f"{low} a month" if low == high else f"{low} … {high} a month"


def _commands(console: Console, heading: str, commands: Sequence[Command]) -> None:
    if not commands:
        return
    console.print(f"    {heading}", style="dim")
    for command in commands:
        # Never wrapped by the console: a command that breaks without a backslash cannot be pasted.
        for line in shell_lines(command.argv, console.width - 6):
            console.print(Text(f"      {line}"), soft_wrap=True)
        if command.wait:
            console.print(f"        # {plain(command.wait)}", style="dim", soft_wrap=True)


def render_actions(console: Console, actions: Sequence[Action], currency: str, *, every: bool) -> None:
    """Print every action with its amount, effort, risk, pre-checks, commands and the way back. Without `every`, long
    lists of commands are counted instead, but for the first action's: nobody reads a thousand lines on a terminal.
    """
    console.print("Actions", style="bold")
    if not actions:
        console.print("  Nothing to do.")
    for position, action in enumerate(actions):
        head = Text(f"  {action.id}  {title(action)}", style="bold")
        amount = _amount(action, currency)
        if amount:
            head.append(f"  {amount}", style="green")
        console.print(head)
        facts = [f"effort {action.effort}", f"risk {action.risk}"]
        if action.pods_moved:
            facts.append(f"{many(action.pods_moved, 'pod')} to move")
        if action.after:
            facts.append(f"after {', '.join(action.after)}")
        paragraph(console, " · ".join(facts), 4, style="dim")
        for reason in action.reasons:
            paragraph(console, plain(reason), 4)
        if every or position == 0 or len(action.commands) <= FEW_COMMANDS:
            _commands(console, "check first", action.prechecks)
            _commands(console, "run", action.commands)
            _commands(console, "undo", action.undo)
        else:
            counted = f"{many(len(action.commands), 'command')}: --out FILE writes them, --all-nodes prints them"
            paragraph(console, counted, 4, style="dim")
