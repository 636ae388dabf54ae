"""The comparison as JSON: its keys are an interface of the command."""

from ksolver_cli.conform.facts import Bucket, Comparison, Pair
from ksolver_cli.domain.verdict import Verdict
from ksolver_cli.render.phrases import sentence


def comparison_record(found: Comparison) -> dict[str, object]:
    """Counts, differences and the gate; false positives come first in every list."""
    return {
        "strict": _counts(found.strict),
        "expected_divergence": _counts(found.expected),
        "expected_divergence_reason_counts": dict(sorted(found.reason_counts.items())),
        "mismatches": [_pair(pair) for pair in found.strict.mismatches],
        "expected_divergence_mismatches": [_pair(pair) for pair in found.expected.mismatches],
        "pods_evaluated": len(found.pods),
        "cordoned_nodes_skipped": found.cordoned,
        "nodes_total": found.nodes_total,
        "nodes_evaluated": len(found.nodes),
        "simulator_probes": found.probes,
        "pairs_total": found.pairs_total,
        "interrupted": found.interrupted,
        "strict_gate_status": found.gate.value,
        "scheduler": {
            "source": found.asked.source,
            "version": found.asked.version or None,
            "judged_as": found.asked.judged_as,
        },
    }


def skipped_record(why: str, how: str) -> dict[str, object]:
    """What JSON says when there was no scheduler to ask."""
    return {"skipped": True, "reason": why, "configure": how}


def words(verdict: Verdict) -> str:
    """One of our objections: the plugin, and what it says."""
    return f"{verdict.family}: {sentence(verdict)}"


def _counts(bucket: Bucket) -> dict[str, int]:
    return {outcome.value: count for outcome, count in bucket.counts.items()}


def _pair(pair: Pair) -> dict[str, object]:
    return {
        "pod": pair.pod,
        "node": pair.node,
        "verdict": pair.outcome.value,
        "ours_reasons": [words(verdict) for verdict in pair.ours.objections],
        "scheduler_reason": pair.theirs.reason,
        "expected_divergence_reasons": list(pair.expected),
    }
