"""How long and how much memory a snapshot of 5,000 nodes and 150,000 pods takes, and reading it back.

`python -m tests.bench.snapshot_scale [nodes] [pods]`. The aim: two minutes and 1 GiB to write it; to read and normalise
it, a minute and 4 GiB.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

_MEASURED = """
import resource, sys, time
start = time.monotonic()
{work}
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
took = f"{{time.monotonic() - start:.1f}} s ({{time.process_time():.1f}} s of CPU)"
sys.stderr.write(f"{{what}}: {{took}}, {{peak}} MiB\\n")
"""
_TAKE = """
what = "snapshot"
sys.argv = ["ksolver", "snapshot", "--kubeconfig", {config!r}, "--out", {out!r}, "--force", *{more!r}]
from ksolver_cli.cli.main import main
try:
    main()
except SystemExit as end:
    if end.code: raise
"""
_READ = """
what = "read"
from ksolver_cli.snapshot.read import read_snapshot
from ksolver_cli.normalise.cluster import normalise
snapshot = read_snapshot([{out!r}])
sys.stderr.write(f"read: {{time.monotonic() - start:.1f}} s\\n")
cluster = normalise(snapshot)
what = f"read and normalised {{len(cluster.nodes)}} nodes, {{len(cluster.pods)}} pods"
"""


def _run(work: str) -> None:
    script = _MEASURED.format(work=work)
    subprocess.run([sys.executable, "-c", script], check=True)


def main(arguments: list[str]) -> None:
    """Measure and print."""
    size = [argument for argument in arguments if argument.isdigit()] or ["5000", "150000"]
    more = [argument for argument in arguments if argument.startswith("-")]
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.snapshot_server", *size], stdout=subprocess.PIPE, text=True
    )
    try:
        address = (server.stdout.readline() if server.stdout else "").strip()
        with tempfile.TemporaryDirectory() as folder:
            config, out = Path(folder) / "kubeconfig", Path(folder) / "cluster.json.zst"
            config.write_text(
                json.dumps(
                    {
                        "current-context": "big",
                        "clusters": [{"name": "big", "cluster": {"server": address}}],
                        "contexts": [{"name": "big", "context": {"cluster": "big"}}],
                    }
                )
            )
            _run(_TAKE.format(config=str(config), out=str(out), more=more))
            sys.stderr.write(f"file: {out.stat().st_size / 2**20:.1f} MiB\n")
            _run(_READ.format(out=str(out)))
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main(sys.argv[1:])
