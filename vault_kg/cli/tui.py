"""`vault-kg tui`: the review UI, in the terminal or in a browser."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vault_kg.cli import context, folders
from vault_kg.cli.context import Settings

if TYPE_CHECKING:
    from tui.app import ReviewApp

PORT = 8765
WEB = ("textual_serve", "aiohttp")
"""What comes with the extra `web`."""


@context.command
@click.option(
    "--connect",
    is_flag=True,
    help="Use the running service (`vault-kg serve`), where there is one, instead of opening the "
    "vault.",
)
@click.option("--web", is_flag=True, help="Show it in a browser of this machine instead.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="Where the browser finds it; 0 takes a free port.",
)
def tui(settings: Settings, connect: bool, web: bool, port: int) -> None:
    """Review the vault in the terminal.

    What was written lately and what waits for your decision, search, browsing, every record with
    its evidence and history. Press ? there for all keys. It changes the vault only where you
    resolve a conflict, decline a merge, adopt a note, restore a file or retry Git.
    """
    root = folders.find(settings)
    if root is None:
        raise folders.no_vault(settings)
    try:
        if web:
            _serve(settings, root, connect, port)
        else:
            _app(settings, root, connect).run()
    except ModuleNotFoundError as missing:
        if missing.name not in WEB:
            raise
        raise click.ClickException("--web needs an extra: pip install 'vault-kg[web]'") from None


def _app(settings: Settings, root: Path, connect: bool) -> ReviewApp:
    """Return the UI on a vault."""
    if not sys.stdout.isatty() and "TEXTUAL_DRIVER" not in os.environ:
        raise click.UsageError("the review UI needs a terminal; use `vault-kg search` in scripts")
    from tui import engines
    from tui.app import ReviewApp
    from tui.desk import Desk

    state = settings.state and settings.state.absolute()
    notices: list[str] = []
    if connect:
        engine = engines.connected(root, state, otherwise=notices.append)
    else:
        engine = engines.opened(root, state)
    return ReviewApp(Desk(root, engine, actor=_actor(settings)), "".join(notices))


def _serve(settings: Settings, root: Path, connect: bool, port: int) -> None:
    """Serve the UI to a browser; each page that is opened runs this very command."""
    from tui.web import LocalServer

    command = [sys.executable, "-m", "vault_kg.cli", "tui", "--vault", str(root)]
    command += ["--actor", _actor(settings), *(["--connect"] if connect else [])]
    if settings.state:
        command += ["--state", str(settings.state.absolute())]
    try:
        server = LocalServer(command, port, f"vault-kg: {root.name}")
    except OSError as error:
        raise click.ClickException(
            f"port {port} cannot be used ({error.strerror}); choose another with --port"
        ) from None
    server.run(lambda link: click.echo(f"open {link}", err=True))


def _actor(settings: Settings) -> str:
    return settings.actor or os.environ.get("VAULT_KG_ACTOR") or "reviewer"
