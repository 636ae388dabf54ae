"""What the families demand of counts, in the vocabulary that every solver understands."""

from ksolver_cli.constraints.rules.post import rules

__all__ = ["rules"]
