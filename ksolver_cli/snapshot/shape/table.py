"""The shape of every kind, in one table."""

from ksolver_cli.snapshot.shape.extensions import SHAPES as _EXTENSIONS
from ksolver_cli.snapshot.shape.machines import SHAPES as _MACHINES
from ksolver_cli.snapshot.shape.metadata import METADATA
from ksolver_cli.snapshot.shape.vocabulary import PUBLIC, Record
from ksolver_cli.snapshot.shape.workloads import SHAPES as _WORKLOADS

OBJECTS: dict[str, Record] = {
    plural: Record(shape.fields, apiVersion=PUBLIC, kind=PUBLIC, metadata=METADATA)
    for plural, shape in {**_WORKLOADS, **_MACHINES, **_EXTENSIONS}.items()
}
"""Plural kind to the shape of its objects; a kind without one does not get into a snapshot."""
