"""Servers and oracles that live tests share, each started once in a test run, on first use."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.build import ensure, oracle_target, plane_targets
from tests.live.oracle import Oracle
from tests.live.plane import Plane

HERE = Path(__file__).resolve().parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder, before `-m` picks."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.live)


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """The control plane, up. Tests share it: use names of your own, or `clean_plane`."""
    binaries, kwok = (ensure(target) for target in plane_targets())
    running = Plane(tmp_path_factory.mktemp("plane"), binaries, kwok)
    running.start()
    yield running
    running.stop()


@pytest.fixture
def clean_plane(plane: Plane) -> Iterator[Plane]:
    """The control plane without nodes, workloads and volumes, and left so."""
    plane.clear()
    yield plane
    plane.clear()


def _oracle(minor: str, folder: Path) -> Iterator[Oracle]:
    binary = ensure(oracle_target(minor)) / "oracle"
    with Oracle(binary, folder / "oracle.log") as running:
        yield running


@pytest.fixture(scope="session")
def oracle_134(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    """Oracle of Kubernetes 1.34."""
    yield from _oracle("1.34", tmp_path_factory.mktemp("oracle-134"))


@pytest.fixture(scope="session")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    """Oracle of Kubernetes 1.36, the version of the control plane and of the shared cases."""
    yield from _oracle("1.36", tmp_path_factory.mktemp("oracle-136"))


@pytest.fixture(scope="session")
def oracle_137(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    """Oracle of Kubernetes 1.37."""
    yield from _oracle("1.37", tmp_path_factory.mktemp("oracle-137"))
