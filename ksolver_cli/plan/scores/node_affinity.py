"""NodeAffinity: the weights of the preferred terms that a node matches."""

from ksolver_cli.plan.scores.candidates import Candidates, Scores, normalised

WEIGHT = 2


def score(candidates: Candidates) -> Scores | None:
    """100 for the largest sum of weights among the candidates; None where no term matches."""
    terms = candidates.crew.lead.node_terms
    return None if terms is None else normalised(candidates, terms[candidates.nodes], reverse=False)
