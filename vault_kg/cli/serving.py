"""`vault-kg serve`: the operations over a local socket."""

from __future__ import annotations

import click

from vault_kg.cli import context
from vault_kg.cli.context import Settings

SCOPES = ("read", "write", "admin", "cypher")


def _scopes(ctx: click.Context, param: click.Parameter, value: str) -> frozenset[str]:
    names = frozenset(SCOPES if value == "all" else (n.strip() for n in value.split(",")))
    if not names <= frozenset(SCOPES):
        raise click.BadParameter(
            f"{value!r}: give some of {', '.join(SCOPES)}, with commas, or all"
        )
    return names


@context.command
@click.option(
    "--scope",
    "scopes",
    default="read,write,admin",
    show_default=True,
    callback=_scopes,
    metavar="SCOPES",
    help="What clients may do.",
)
@click.option(
    "--partition", "partitions", metavar="NAME", multiple=True, help="Only these are seen."
)
def serve(settings: Settings, scopes: frozenset[str], partitions: tuple[str, ...]) -> None:
    """Serve the vault as JSON-RPC over a local socket.

    Newline-delimited JSON-RPC 2.0 on .vault-kg/service.sock, which only you can reach;
    .vault-kg/service.endpoint names it. Any number of clients, agents and editors may use the vault at
    the same time. Stop it with Ctrl-C or SIGTERM.

    Example: printf '{"jsonrpc":"2.0","id":1,"method":"health_check"}\\n' | nc -U .vault-kg/service.sock
    """
    import logging

    root = context.find(settings)
    if root is None:
        raise context.no_vault(settings)
    from vault_kg.operations.caller import Caller
    from vault_kg.serve.endpoint import Endpoint
    from vault_kg.serve.keeper import Keeper
    from vault_kg.serve.service import Service, private_folder

    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    caller = Caller(settings.actor or "socket", scopes, frozenset(partitions) or None)
    endpoint = Endpoint(private_folder(root))
    service = Service(Keeper(root, settings.state and settings.state.absolute()), endpoint, caller)
    click.echo(f"serving {root} on {endpoint.address}", err=True)
    service.run()
