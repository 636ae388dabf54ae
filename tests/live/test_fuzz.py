"""Random clusters with every construct, put to the real scheduler and to our families: every plugin on every node.

Each run draws a fresh seed and prints it. `KSOLVER_FUZZ_SEED` repeats a run, `KSOLVER_FUZZ_CLUSTERS` makes it longer.
"""

import json
import logging
import os
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ksolver_cli.constraints.registry import families
from ksolver_cli.normalise.version import parse_version
from tests.live.oracle import Oracle
from tests.live.worlds.compare import Json, compared, shrunk, signature, theirs
from tests.live.worlds.everything import world

log = logging.getLogger(__name__)

CLUSTERS = {"1.36": 1_500, "1.34": 300, "1.37": 300}
ORACLES = {"1.36": "oracle", "1.34": "oracle_134", "1.37": "oracle_137"}
_MANY = 1_000
"""From this many clusters on every family has surely rejected some pair."""

UNSURE_AT_MOST = 0.02
"""Share of pairs of which we may say that we do not know."""


@dataclass
class Tally:
    """What a run saw, so that it cannot pass without having looked."""

    pairs: int = 0
    passing: int = 0
    unsure: int = 0
    rejected: Counter[str] = field(default_factory=Counter)

    def add(self, said: Json) -> None:
        for verdict in said.values():
            self.pairs += 1
            self.unsure += "unknown" in verdict
            self.passing += not verdict["alone"] and "unknown" not in verdict
            self.rejected.update(verdict["alone"])


@pytest.fixture(scope="module")
def seed() -> str:
    return os.environ.get("KSOLVER_FUZZ_SEED") or str(random.SystemRandom().randrange(10**9))


@pytest.mark.parametrize("version", CLUSTERS)
def test_every_plugin_says_what_the_scheduler_s_says(
    version: str, seed: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    oracle: Oracle = request.getfixturevalue(ORACLES[version])
    clusters = int(os.environ.get("KSOLVER_FUZZ_CLUSTERS") or CLUSTERS[version])
    log.info("KSOLVER_FUZZ_SEED=%s, Kubernetes %s, %d clusters", seed, version, clusters)
    tally = Tally()
    for number in range(clusters):
        drawn = world(f"{seed}-{version}-{number}")
        said, different = compared(drawn, oracle, version)
        if different:
            pytest.fail(saved(drawn, oracle, version, f"seed {seed}, cluster {number}", tmp_path), pytrace=False)
        tally.add(said)
    counts = dict(tally.rejected.most_common())
    log.info("%d pairs, %d pass, %d unsure; %s", tally.pairs, tally.passing, tally.unsure, counts)
    assert tally.unsure <= UNSURE_AT_MOST * tally.pairs
    assert tally.passing > tally.pairs / 10
    if clusters >= _MANY:
        assert never_rejecting(version, tally) == set()


def never_rejecting(version: str, tally: Tally) -> set[str]:
    """Families of which the run saw no rejection at all."""
    return {str(rule.family) for rule in families(parse_version(version) or (0, 0))} - set(tally.rejected)


def saved(drawn: Json, oracle: Oracle, version: str, where: str, folder: Path) -> str:
    """Make the case small, write it down, and say where it is."""
    wanted = sorted(signature(drawn, oracle, version))
    small = shrunk(drawn, lambda one: wanted[0] in signature(one, oracle, version)) if wanted else drawn
    path = folder / "case.json"
    path.write_text(json.dumps(small, indent=1))
    both = json.dumps(compared(small, oracle, version)[1], indent=1)
    return f"{where}, Kubernetes {version}: {wanted}\n{both}\n{json.dumps(small)}\nsaved as {path}"


def test_a_case_is_made_small_and_keeps_its_difference(oracle: Oracle) -> None:
    """The shrinker itself, on a difference that is there by construction: a rule that 1.37 has otherwise than 1.36."""
    for number in range(3_000):
        drawn = world(f"shrink-{number}")
        found = sorted(signature(drawn, oracle, "1.37"))
        if "InterPodAffinity" in found:
            break
    small = shrunk(drawn, lambda one: "InterPodAffinity" in signature(one, oracle, "1.37"))
    assert "InterPodAffinity" in signature(small, oracle, "1.37")
    assert len(json.dumps(small)) < len(json.dumps(drawn)) / 2
    assert theirs(small, oracle)
