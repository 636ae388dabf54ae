"""TaintToleration: fewer PreferNoSchedule taints that the pod does not tolerate."""

from ksolver_cli.plan.scores.candidates import Candidates, Scores, normalised

WEIGHT = 3


def score(candidates: Candidates) -> Scores | None:
    """100 for the nodes with none, 0 for those with the most; None where all are alike."""
    taints = candidates.crew.lead.taints
    return None if taints is None else normalised(candidates, taints[candidates.nodes], reverse=True)
