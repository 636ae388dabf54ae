"""`ksolver --help` must not pay for what it does not use."""

import subprocess
import sys

HEAVY = ("ortools", "highspy", "numpy", "pandas", "kubernetes", "httpx", "yaml.cyaml")


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "sys.argv = ['ksolver', '--help']\n"
        "from ksolver_cli.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"sys.stderr.write(','.join(m for m in {HEAVY!r} if m in sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "analyze" in done.stdout
    assert done.stderr == ""
