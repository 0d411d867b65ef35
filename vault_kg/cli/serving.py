"""`vault-kg serve`: the operations over a local socket."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from vault_kg.cli import context
from vault_kg.cli.context import Settings
from vault_kg.errors import Unavailable

if TYPE_CHECKING:
    from pathlib import Path


@context.command
@click.option(
    "--scope",
    default="read,write,admin",
    show_default=True,
    metavar="SCOPES",
    help="What clients may do: some of read, write, cypher, admin, or all.",
)
@click.option(
    "--partition", "partitions", metavar="NAME", multiple=True, help="Only these are seen."
)
def serve(settings: Settings, scope: str, partitions: tuple[str, ...]) -> None:
    """Serve the vault as JSON-RPC over a local socket.

    Newline-delimited JSON-RPC 2.0 on .vault-kg/service.sock, which only you can reach;
    .vault-kg/service.endpoint names it. Any number of clients, agents and editors may use the vault
    at the same time. A client says by itself who acts, unless --actor gives a name: that one stands
    then. Stop it with Ctrl-C or SIGTERM: what runs is finished.
    """
    import logging

    scopes = context.scopes(scope)
    root = context.vault_root()
    _check_writable(root)
    from vault_kg.operations.caller import Caller
    from vault_kg.serve.endpoint import PRIVATE, Endpoint
    from vault_kg.serve.keeper import Keeper
    from vault_kg.serve.service import Service

    def ready(address: str) -> None:
        click.echo(f"serving {root} on {address}", err=True)

    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s")
    caller = Caller(settings.actor or "socket", scopes, frozenset(partitions) or None)
    keeper = Keeper(root, settings.state and settings.state.absolute())
    by_name = settings.actor is None
    Service(keeper, Endpoint(root / PRIVATE), caller, ready, names_itself=by_name).run()


def _check_writable(root: Path) -> None:
    """Refuse to serve where the socket cannot be made.

    Raises:
        Unavailable: says what else can be used.
    """
    from vault_kg.operations import care
    from vault_kg.serve.endpoint import PRIVATE

    if (root / PRIVATE).is_dir() and care.can_write(root / PRIVATE):
        return
    raise Unavailable(
        f"{root / PRIVATE} cannot be written, and the socket lies there. Other commands read the "
        "vault with --state FOLDER, a folder outside of it; `vault-kg mcp` is one of them",
        path=str(root / PRIVATE),
    )
