"""`ksolver rbac`: the read-only rights that reading a cluster takes, as YAML to apply."""

import sys
from typing import Annotated

import typer

from ksolver_cli.cli.common import options as o
from ksolver_cli.cli.common.exits import CommandError, Exit

Name = Annotated[str, typer.Option("--name", help="Name of the roles and bindings.")]
Account = Annotated[str, typer.Option("--service-account", metavar="NAMESPACE/NAME", help="Who gets the rights.")]
Addons = Annotated[bool, typer.Option("--addons/--no-addons", help="Also the role for kinds of add-ons.")]
Proxy = Annotated[bool, typer.Option("--prometheus-proxy", help="Also to reach a Prometheus through the API server.")]


def rbac(
    namespace: o.Namespaces = None,
    name: Name = "ksolver",
    service_account: Account = "ksolver/ksolver",
    addons: Addons = True,
    prometheus_proxy: Proxy = False,
    out: o.Out = None,
) -> None:
    """Print the roles that ksolver needs: get and list only, no secrets, no configmaps.

    With -n the rights are for single namespaces; what lives in none (nodes, volumes, classes) is a role of its own.
    """
    import yaml

    from ksolver_cli.cli.common.output import emit
    from ksolver_cli.collect.rights import Scope, manifests

    place, slash, account = service_account.partition("/")
    if not slash or not place or not account:
        what = f"--service-account {service_account}: not NAMESPACE/NAME"
        raise CommandError(what, "give e.g. ksolver/ksolver", Exit.USAGE)
    made = manifests(Scope(name, tuple(dict.fromkeys(namespace or ())), account, place, prometheus_proxy))
    if not addons:
        made = [entry for entry in made if not _is_addons(entry, name)]
    emit(yaml.safe_dump_all(made, sort_keys=False, explicit_start=True), out)
    if out is None and sys.stdout.isatty():
        sys.stderr.write("ksolver: apply it with `ksolver rbac | kubectl apply -f -`\n")


def _is_addons(entry: dict[str, object], name: str) -> bool:
    metadata = entry["metadata"]
    return isinstance(metadata, dict) and metadata["name"] == f"{name}-addons"
