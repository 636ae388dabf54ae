"""Where the bundled sample clusters are: in the wheel, or at the top of a checkout."""

from pathlib import Path

from ksolver_cli.cli.common.exits import CommandError, Exit

_PACKAGE = Path(__file__).resolve().parent.parent.parent
DEMO = "demo"


def samples_folder() -> Path:
    """The folder with one folder a sample."""
    for candidate in (_PACKAGE / "_data" / "snapshots", _PACKAGE.parent / "snapshots"):
        if candidate.is_dir():
            return candidate
    raise CommandError("the sample clusters are not installed", "install ksolver again", Exit.SNAPSHOT)


def sample(name: str) -> Path:
    """The snapshot of a sample; raises CommandError naming those that exist."""
    folder = samples_folder()
    path = folder / name / "snapshot.json"
    if not path.is_file():
        names = ", ".join(sorted(entry.name for entry in folder.iterdir() if entry.is_dir()))
        raise CommandError(f"there is no sample {name}", f"samples are: {names}", Exit.USAGE)
    return path
