"""Nodes and price files for the tests of pricing."""

from collections.abc import Mapping
from pathlib import Path

from ksolver_cli.catalog.facts import NodePricingFacts
from ksolver_cli.catalog.userfile.files import load_price_file
from ksolver_cli.catalog.userfile.model import UserPrices

GIB = 2**30


def node(
    instance_type: str | None = "m5.xlarge",
    region: str | None = "us-east-1",
    *,
    name: str = "n1",
    provider_id: str = "aws:///us-east-1a/i-1",
    labels: Mapping[str, str] | None = None,
    gpu: str | None = None,
    gpus: int | None = 0,
    cores: int = 4,
    gib: int = 16,
    virtual: bool = False,
) -> NodePricingFacts:
    """A node; AWS on-demand unless told otherwise."""
    all_labels = {"kubernetes.io/os": "linux"}
    if instance_type:
        all_labels["node.kubernetes.io/instance-type"] = instance_type
    if region:
        all_labels["topology.kubernetes.io/region"] = region
    all_labels |= labels or {}
    return NodePricingFacts(name, all_labels, provider_id, gpu, gpus, cores * 1000, gib * GIB, virtual)


def price_file(folder: Path, text: str, suffix: str = ".yaml") -> UserPrices:
    """The prices of a file with that text."""
    return load_price_file(written(folder, text, suffix))


def written(folder: Path, text: str, suffix: str = ".yaml") -> Path:
    """A file with that text."""
    path = folder / f"prices{suffix}"
    path.write_text(text, encoding="utf-8")
    return path
