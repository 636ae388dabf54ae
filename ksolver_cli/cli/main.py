"""The `ksolver` command: what there is to type."""

import os
import sys
from typing import Annotated

import typer

from ksolver_cli import __version__
from ksolver_cli.cli import analyze, catalog, conform, doctor, plan, rbac, snapshot, vram_observe, vram_predict, why
from ksolver_cli.cli.common.config import load_defaults
from ksolver_cli.cli.common.exits import CommandError, tell
from ksolver_cli.cli.common.guard import DEBUG_VARIABLE, guarded
from ksolver_cli.cli.common.streams import forgive

app = typer.Typer(
    name="ksolver",
    help="How much a Kubernetes cluster overpays for compute, what stops it from paying less, and how to get there.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Boxes cut names that do not fit 80 columns; plain help breaks lines instead, and starts faster.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "KSOLVER"},
)


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"ksolver {__version__}\n")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            # No variable: KSOLVER_VERSION is what installers and images call the version they want.
            "--version",
            callback=_version,
            is_eager=True,
            allow_from_autoenv=False,
            help="Print the version and exit.",
        ),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback when something goes wrong.")] = False,
) -> None:
    """How much a Kubernetes cluster overpays for compute, what stops it from paying less, and how to get there.

    ksolver reads a cluster or a saved snapshot. It never changes anything.
    """
    if debug:
        os.environ[DEBUG_VARIABLE] = "1"


app.command("analyze", short_help="What the cluster overpays, why, and how to get there.")(guarded(analyze.analyze))
app.command("snapshot")(guarded(snapshot.snapshot))
app.command("rbac", short_help="Print the read-only roles that ksolver needs.")(guarded(rbac.rbac))
app.command("doctor", short_help="Check access, versions and Prometheus; say what to fix.")(guarded(doctor.doctor))
app.command("why", short_help="What every node's Filter phase says of one pod.")(guarded(why.why))
app.command("conform", short_help="Compare feasibility with kube-scheduler's, pair by pair.")(guarded(conform.conform))
app.command("vram-observe", short_help="Append measured peak GPU memory to a store.")(
    guarded(vram_observe.vram_observe)
)
app.command("vram-predict", short_help="Predict the peak GPU memory of workloads.")(guarded(vram_predict.vram_predict))
app.add_typer(catalog.app, name="catalog")
app.add_typer(plan.app, name="plan")


def main() -> None:
    """Entry point of `ksolver` and of `kubectl ksolver`."""
    forgive()
    try:
        defaults = load_defaults(typer.main.get_command(app))
    except CommandError as error:
        tell(error.what, error.hint)
        sys.exit(error.code)
    name = "kubectl ksolver" if os.path.basename(sys.argv[0]).startswith("kubectl-") else "ksolver"
    app(prog_name=name, default_map=defaults)
