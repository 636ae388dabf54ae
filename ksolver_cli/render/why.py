"""The verdicts on one pod as JSON and as text."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

from ksolver_cli.domain.verdict import ObjectRef, Rejection, Unknown, Verdict
from ksolver_cli.explain.why import Answer, NodeAnswer, Objection, Why
from ksolver_cli.render.phrases import object_text, reasons, sentence
from ksolver_cli.render.safe import plain

TERMINAL_ROWS = 40
"""Nodes shown on a terminal; a pipe always gets all of them."""


def why_record(facts: Why) -> dict[str, object]:
    """The facts as JSON has them: rejections in the scheduler's words, the first one it would report first."""
    return {
        "pod": facts.pod,
        "kubernetes_version": facts.kubernetes_version,
        "evicted_from": facts.evicted_from or None,
        "scheduler": facts.scheduler,
        "gated": None if facts.gated is None else list(facts.gated.params),
        "nodes": [_node_record(node) for node in facts.nodes],
    }


def _node_record(node: NodeAnswer) -> dict[str, object]:
    return {
        "node": node.node,
        "verdict": str(node.answer),
        "rejections": [
            _rejection_record(objection, objection.verdict)
            for objection in node.objections
            if isinstance(objection.verdict, Rejection)
        ],
        "unknown": [
            {
                "plugin": str(objection.verdict.family),
                "family": str(objection.verdict.family),
                "missing": objection.verdict.missing,
                "object": _object_record(objection.verdict.source),
            }
            for objection in node.objections
            if isinstance(objection.verdict, Unknown)
        ],
    }


def _rejection_record(objection: Objection, rejection: Rejection) -> dict[str, object]:
    words = reasons(rejection)
    return {
        "plugin": str(rejection.family),
        "family": str(rejection.family),
        "stage": str(objection.stage),
        "code": str(rejection.code),
        "reason": ", ".join(words),
        "reasons": list(words),
        "object": _object_record(rejection.source),
    }


def _object_record(source: ObjectRef | None) -> dict[str, str] | None:
    if source is None:
        return None
    return {"kind": source.kind, "name": source.name, "detail": source.detail}


def render_why(console: Console, facts: Why) -> None:
    """Print how many nodes pass, why the others do not by how many they are, and a row a node."""
    console.print(plain(facts.pod), style="bold", end="")
    console.print(f" on {_nodes(len(facts.nodes))}, Kubernetes {facts.kubernetes_version}", soft_wrap=True)
    for note in _notes(facts):
        console.print(note, style="dim")
    counts = (f"{facts.count(answer)} {answer}" for answer in Answer if facts.count(answer))
    console.print(f"Verdicts: {', '.join(counts) or 'no node in the input'}", style="bold")
    groups = _grouped(facts.nodes)
    if groups:
        console.print(_reason_table(groups))
    shown = facts.nodes[:TERMINAL_ROWS] if console.is_terminal else facts.nodes
    console.print(_node_table(shown))
    if len(shown) < len(facts.nodes):
        console.print(f"{len(facts.nodes) - len(shown)} more nodes: pipe the output, or use -o json", style="dim")


def _nodes(count: int) -> str:
    return "1 node" if count == 1 else f"{count} nodes"


def _notes(facts: Why) -> Iterable[str]:
    if facts.evicted_from:
        yield f"Judged as if just evicted from {plain(facts.evicted_from)}."
    if facts.gated is not None:
        yield f"It waits before any node is looked at: {sentence(facts.gated)}."
    if facts.scheduler != "default-scheduler":
        yield f"Its scheduler is {plain(facts.scheduler)}; the verdicts are kube-scheduler's."


@dataclass(slots=True)
class _Group:
    """Nodes to which one plugin objects in the same words, and the objects behind it."""

    plugin: str
    words: str
    nodes: int = 0
    objects: set[str] = field(default_factory=set)

    def text(self) -> str:
        """The words, and the object behind them where there is only one."""
        return f"{self.words}: {next(iter(self.objects))}" if len(self.objects) == 1 else self.words


def _grouped(nodes: Iterable[NodeAnswer]) -> list[_Group]:
    groups: dict[tuple[str, str], _Group] = {}
    for node in nodes:
        for objection in node.objections:
            key = (_plugin(objection.verdict), sentence(objection.verdict))
            group = groups.setdefault(key, _Group(*key))
            group.nodes += 1
            group.objects.add(object_text(objection.verdict.source))
    return sorted(groups.values(), key=lambda group: (-group.nodes, group.plugin, group.words))


def _plugin(verdict: Verdict) -> str:
    return str(verdict.family)


def _reason_table(groups: Iterable[_Group]) -> Table:
    table = _table()
    table.add_column("Nodes", justify="right", no_wrap=True)
    table.add_column("Plugin", no_wrap=True)
    table.add_column("Reason", overflow="fold")
    for group in groups:
        table.add_row(str(group.nodes), group.plugin, plain(group.text()))
    return table


def _node_table(nodes: Iterable[NodeAnswer]) -> Table:
    table = _table()
    table.add_column("Node", overflow="fold")
    table.add_column("Verdict", no_wrap=True)
    table.add_column("Objections, the scheduler's first one first", overflow="fold")
    for node in nodes:
        table.add_row(plain(node.node), str(node.answer), ", ".join(map(_short, node.objections)))
    return table


def _short(objection: Objection) -> str:
    """The plugin and what of the node or pod it looks at: the words stand in the table above."""
    verdict = objection.verdict
    if isinstance(verdict, Unknown):
        return f"{_plugin(verdict)}?"
    detail = verdict.source.detail if verdict.source else ""
    return f"{_plugin(verdict)} ({plain(detail)})" if detail else _plugin(verdict)


def _table() -> Table:
    return Table(box=None, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
