"""What a prediction says, and what it does not."""

from dataclasses import dataclass
from enum import StrEnum


class Source(StrEnum):
    """Where a prediction comes from, by the order in which they are asked."""

    ANNOTATION = "annotation"
    OBSERVATIONS = "observations"
    CONFIGURATION = "model-configuration"
    HINTS = "hints"
    NONE = "none"


class Confidence(StrEnum):
    """How far a prediction can be trusted."""

    AUTHORITATIVE = "authoritative"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    UNKNOWN = "unknown"


CONFIDENCE = {
    Source.ANNOTATION: Confidence.AUTHORITATIVE,
    Source.OBSERVATIONS: Confidence.HIGH,
    Source.CONFIGURATION: Confidence.MEDIUM,
    Source.HINTS: Confidence.LOW,
    Source.NONE: Confidence.UNKNOWN,
}

TIER = {Source.ANNOTATION: 1, Source.OBSERVATIONS: 4, Source.CONFIGURATION: 3, Source.HINTS: 2, Source.NONE: None}


@dataclass(frozen=True)
class Prediction:
    """Peak memory of the fullest GPU in MiB; None where nothing answers.

    `hard` predictions may keep a pod off a smaller card; others are advice. `upper_mib` bounds what the next pod will
    use with 95 % confidence, `needed_mib` is the least an engine that takes what it gets can run with. `missing` are
    facts that would make it better.
    """

    vram_mib: int | None
    source: Source
    missing: tuple[str, ...]
    fingerprint: str | None
    hard: bool
    explanation: str
    samples: int = 0
    upper_mib: int | None = None
    needed_mib: int | None = None

    @property
    def confidence(self) -> Confidence:
        """The confidence that goes with the source."""
        return CONFIDENCE[self.source]

    def record(self) -> dict[str, object]:
        """Return the prediction as plain data."""
        return {
            "vram_mib": self.vram_mib,
            "source": self.source.value,
            "tier": TIER[self.source],
            "confidence": self.confidence.value,
            "missing": list(self.missing),
            "fingerprint": self.fingerprint,
            "hard": self.hard,
            "explanation": self.explanation,
            "samples": self.samples,
            "upper_mib": self.upper_mib,
            "needed_mib": self.needed_mib,
        }
