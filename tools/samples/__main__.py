"""Writes the sample clusters: `python -m tools.samples [FOLDER]`."""

import sys
from pathlib import Path

from ksolver_cli.snapshot.model import Snapshot
from ksolver_cli.snapshot.prune import prune
from ksolver_cli.snapshot.write import write_snapshot
from tools.samples.demo import SEED, demo
from tools.samples.placing import place
from tools.samples.stories import STORIES
from tools.samples.world import World

COLLECTED_AT = "2026-09-01T08:00:00Z"
KINDS_SEEN = (
    "nodes pods namespaces replicasets deployments statefulsets daemonsets jobs poddisruptionbudgets priorityclasses "
    "persistentvolumeclaims persistentvolumes storageclasses csinodes csidrivers services resourceclaims "
    "resourceslices deviceclasses replicationcontrollers volumeattachments csistoragecapacities"
)


def _write(world: World, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    objects = {kind: tuple(prune(kind, item) for item in world.objects.get(kind, [])) for kind in KINDS_SEEN.split()}
    storage = {"kind": "StorageClass", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": "gp3"}}
    objects["storageclasses"] = (
        {**storage, "provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer"},
    )
    snapshot = Snapshot(objects, (), world.version, world.name, COLLECTED_AT)
    write_snapshot(snapshot, folder / "snapshot.json")


def main(folder: Path) -> None:
    """Write every sample below the folder."""
    for story in STORIES:
        _write(story.build(), folder / story.folder)
    world = demo()
    place(world, SEED)
    _write(world, folder / "demo")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "snapshots"))
