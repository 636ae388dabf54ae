"""What a source of the scheduler's verdicts has to offer."""

from typing import Protocol

from ksolver_cli.collect.schedulers.exchange import Answer, Question


class Scheduler(Protocol):
    """A scheduler that is asked one question at a time.

    `source` is its name in reports, `version` its Kubernetes version (`v1.36.3`) or empty where it does not tell.
    """

    source: str
    version: str

    def prepare(self, question: Question) -> Question:
        """The world as this source can show it to its scheduler; our families judge the same."""
        ...

    def ask(self, question: Question) -> Answer:
        """The verdict on a question; never raises for one that fails, but says no answer."""
        ...
