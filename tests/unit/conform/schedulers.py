"""Schedulers for tests: our own families in the scheduler's seat, whole or with a fault."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ksolver_cli.collect.schedulers.exchange import Answer, Question, Said
from ksolver_cli.conform.ours import judge
from ksolver_cli.domain.verdict import Family


@dataclass
class FamilyScheduler:
    """Answers as our families do, looking past some of them; counts what it is asked."""

    blind_to: frozenset[Family] = frozenset()
    says: Mapping[str, Said] = field(default_factory=dict)
    """Verdicts by node name that stand whatever the families say."""
    carries: frozenset[str] | None = None
    silent_on: Callable[[Question], bool] = lambda question: False
    source: str = "simulator"
    version: str = "v1.36.3"
    asked: list[Question] = field(default_factory=list)

    def prepare(self, question: Question) -> Question:
        return question if self.carries is None else question.only(self.carries)

    def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        if question.node_name in self.says:
            return Answer(self.says[question.node_name], "because")
        if self.silent_on(question):
            return Answer(Said.NO_ANSWER, "silent")
        objections = [v for v in judge(question, "1.36").objections if v.family not in self.blind_to]
        return Answer(Said.FAIL, str(objections[0].family)) if objections else Answer(Said.PASS)
