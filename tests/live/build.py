"""Build the servers and oracles the live tests start, once per machine.

Everything comes from Go modules at pinned versions and lands in a cache folder outside the checkout, in a sub-folder
named by version and by a hash of what it was built from, so that a second run costs nothing. Compiled packages are
kept beside them: a change of the oracle links again and compiles one file.
"""

import fcntl
import hashlib
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

log = logging.getLogger(__name__)

HERE = Path(__file__).resolve().parent
PLANE_VERSION = "1.36.3"
ORACLE_MODFILES = {"1.34": "go.1.34.mod", "1.36": "go.mod", "1.37": "go.1.37.mod"}


class BuildError(RuntimeError):
    """A binary could not be built; the text ends with what Go said."""


@dataclass(frozen=True)
class Target:
    """One folder of binaries: `packages` of the Go module in `folder`, as `modfile` pins them."""

    name: str
    folder: Path
    packages: tuple[str, ...]
    modfile: str = "go.mod"
    linker: tuple[str, ...] = field(default=())
    tags: str = ""

    def inputs(self) -> list[Path]:
        """Files whose bytes decide what is built."""
        pins = [self.folder / self.modfile, (self.folder / self.modfile).with_suffix(".sum")]
        return pins + sorted(self.folder.glob("*.go"))

    def key(self) -> str:
        """Folder name in the cache: the same inputs give the same name on every checkout."""
        digest = hashlib.sha256(repr((self.packages, self.linker, self.tags)).encode())
        for path in self.inputs():
            digest.update(path.read_bytes())
        return f"{self.name}-{digest.hexdigest()[:12]}"


def _version_flags(version: str) -> tuple[str, ...]:
    """Version the Kubernetes binaries report: without it they say v0.0.0-master and refuse their own feature gates."""
    major, minor, _ = version.split(".")
    base = "k8s.io/component-base/version"
    return (f"-X={base}.gitVersion=v{version}", f"-X={base}.gitMajor={major}", f"-X={base}.gitMinor={minor}")


def _required(modfile: Path, module: str) -> str:
    """Version of `module` that `modfile` requires, without its leading v."""
    found = re.search(rf"^(?:\t|require ){re.escape(module)} v(\S+)", modfile.read_text(), re.MULTILINE)
    if not found:
        raise BuildError(f"{modfile} requires no {module}")
    return found[1]


def plane_targets() -> list[Target]:
    """Targets of the control plane: Kubernetes with its etcd, and kwok in place of kubelets."""
    commands = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
    packages = ("go.etcd.io/etcd/server/v3", *(f"k8s.io/kubernetes/cmd/{name}" for name in commands))
    folder = HERE / "plane"
    version = _required(folder / "go.mod", "k8s.io/kubernetes")
    kwok = Target("kwok-0.7.0", folder / "kwok", ("sigs.k8s.io/kwok/cmd/kwok",))
    return [Target(f"plane-{version}", folder, packages, linker=_version_flags(version)), kwok]


def oracle_target(minor: str) -> Target:
    """Target of the oracle that links the scheduler of Kubernetes `minor`, such as "1.36"."""
    folder = HERE / "oracle"
    modfile = ORACLE_MODFILES[minor]
    version = _required(folder / modfile, "k8s.io/kubernetes")
    tags = "k8s" + minor.replace(".", "")
    return Target(f"oracle-{version}", folder, (".",), modfile, _version_flags(version), tags)


def cache_root() -> Path:
    """Folder of all binaries: KSOLVER_LIVE_CACHE, else ksolver-live in the user's cache."""
    chosen = os.environ.get("KSOLVER_LIVE_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ksolver-live"


def ensure(target: Target) -> Path:
    """Folder with the target's binaries, built first where the cache has none."""
    root = cache_root()
    home = root / target.key()
    if home.is_dir():
        return home
    root.mkdir(parents=True, exist_ok=True)
    with _locked(root / f"{target.name}.lock"):
        if not home.is_dir():
            _build(target, home)
    return home


def _build(target: Target, home: Path) -> None:
    """Build into a folder beside `home` and rename it, so that a half-built folder is never taken for a whole one."""
    go = shutil.which("go")
    if go is None:
        raise BuildError(
            "no Go toolchain on PATH.\nInstall Go 1.26 or newer: the live tests build their servers from Go modules."
        )
    log.info("building %s", target.name)
    for left in home.parent.glob(f"{target.name}-*.part"):
        shutil.rmtree(left)
    work = Path(tempfile.mkdtemp(prefix=f"{target.name}-", suffix=".part", dir=home.parent))
    command = [go, "build", "-trimpath", "-buildvcs=false", f"-modfile={target.modfile}", f"-tags={target.tags}"]
    command += [f"-ldflags={' '.join(('-s -w', *target.linker))}", "-o", f"{work}/", *target.packages]
    env = os.environ | {"CGO_ENABLED": "0", "GOCACHE": str(home.parent / "go-build"), "GOWORK": "off"}
    done = subprocess.run(command, cwd=target.folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        shutil.rmtree(work)
        raise BuildError(f"go build of {target.name} failed:\n{done.stderr[-4000:]}")
    etcd = work / "server"
    if etcd.exists():
        etcd.rename(work / "etcd")
    work.rename(home)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of one target: two test processes must not compile the same packages twice."""
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def main(names: list[str]) -> None:
    """Build what is named (plane, oracle-1.34 …), or everything."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    targets = [*plane_targets(), *(oracle_target(minor) for minor in ("1.36", "1.34", "1.37"))]
    for target in targets:
        if not names or any(target.name.startswith(name) for name in names):
            log.info("%s", ensure(target))


if __name__ == "__main__":
    main(sys.argv[1:])
