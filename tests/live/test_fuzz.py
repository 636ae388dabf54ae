"""Random clusters with every construct, put to the real scheduler and to our families: every plugin on every node."""

import logging
from pathlib import Path

import pytest

from ksolver_cli.constraints.registry import families
from ksolver_cli.normalise.version import parse_version
from tests.live import fuzz
from tests.live.oracle import Oracle
from tests.live.worlds import everything

log = logging.getLogger(__name__)

ORACLES = {"1.36": "oracle", "1.34": "oracle_134", "1.37": "oracle_137"}
CLUSTERS = {"1.36": 1_200, "1.34": 300, "1.37": 300}
MANY = 1_000
"""From this many clusters on, every family has surely rejected some pair."""


@pytest.mark.parametrize("version", CLUSTERS)
def test_every_plugin_says_what_the_scheduler_s_says(
    version: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    oracle: Oracle = request.getfixturevalue(ORACLES[version])
    world = everything.plain_world if version == "1.34" else everything.world
    run = fuzz.put(world, oracle, version, count=CLUSTERS[version], stop=1)
    log.info("KSOLVER_FUZZ_SEED=%d, %s: %d pairs, %d feasible", fuzz.SEED, version, run.pairs, run.feasible)
    for found in run.disagreements:
        path = found.save(tmp_path, "everything")
        pytest.fail(
            f"seed {found.seed}, Kubernetes {version}, kept as {path}: {found.differs}\n{found.case}", pytrace=False
        )
    assert run.feasible > run.pairs / 10
    if CLUSTERS[version] >= MANY:
        assert {str(rule.family) for rule in families(parse_version(version) or (0, 0))} <= set(run.agreed)
