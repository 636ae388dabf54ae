"""Writes the sample clusters: `python -m tools.samples [FOLDER]`."""

import subprocess
import sys
from pathlib import Path

from ksolver_cli.cli.analyze import DEMO_EFFORT
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


DEMO_PAGE = """# The demo: a shop's production cluster

Two years old, grown by copy and paste: six node groups on EKS, seventy services, spread and anti-affinity where
somebody once had an outage, budgets that allow nothing, volumes in zones, a GPU corner, one pod that fits nowhere, and
half of what is paid for unused.

`ksolver analyze --demo` prints its report.
"""


def _write(world: World, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    objects = {kind: tuple(prune(kind, item) for item in world.objects.get(kind, [])) for kind in KINDS_SEEN.split()}
    storage = {"kind": "StorageClass", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": "gp3"}}
    objects["storageclasses"] = (
        {**storage, "provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer"},
    )
    snapshot = Snapshot(objects, (), world.version, world.name, COLLECTED_AT)
    write_snapshot(snapshot, folder / "snapshot.json")


def readme(title: str, text: str, headline: str) -> str:
    """The page of a sample: its story, and the headline that its report must print."""
    return f"# {title}\n\n{text}\n\nHeadline: {headline}\n"


def headline(removed: int, monthly: str) -> str:
    """What the drain plan does, in one line that a test reads back."""
    return f"{removed} nodes go, ${monthly} a month." if removed else "no node can go."


def _report(folder: Path) -> None:
    """The text report as a file, wide as a pipe gets it."""
    ksolver = Path(sys.executable).with_name("ksolver")
    command = [str(ksolver), "analyze", str(folder / "snapshot.json"), "--out", str(folder / "report.txt")]
    # As `--demo` does it: the demo answers in seconds.
    effort = ["--effort", str(DEMO_EFFORT)] if folder.name == "demo" else []
    subprocess.run([*command, *effort], check=True)


def main(folder: Path) -> None:
    """Write every sample below the folder."""
    for story in STORIES:
        _write(story.build(), folder / story.folder)
        page = readme(story.title, story.text, headline(story.nodes_removed, story.monthly))
        (folder / story.folder / "README.md").write_text(page, encoding="utf-8")
    world = demo()
    place(world, SEED)
    _write(world, folder / "demo")
    (folder / "demo" / "README.md").write_text(DEMO_PAGE, encoding="utf-8")
    for sample in sorted(path for path in folder.iterdir() if path.is_dir()):
        _report(sample)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "snapshots"))
