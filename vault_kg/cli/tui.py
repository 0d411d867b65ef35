"""`vault-kg tui`: the review UI in the terminal."""

from __future__ import annotations

import os
import sys

import click

from vault_kg.cli import context
from vault_kg.cli.context import Settings


@context.command
def tui(settings: Settings) -> None:
    """Review the vault in the terminal.

    What was written lately and what waits for your decision, search, browsing, every record with
    its evidence and history. Press ? there for all keys. It changes the vault only where you
    resolve a conflict, decline a merge, adopt a note, restore a file or retry Git.
    """
    root = context.find(settings)
    if root is None:
        raise context.no_vault(settings)
    if not sys.stdout.isatty():
        raise click.UsageError("the review UI needs a terminal; use `vault-kg search` in scripts")
    try:
        from tui.app import ReviewApp
        from tui.desk import Desk
    except ModuleNotFoundError as missing:
        if missing.name != "textual":
            raise
        raise click.ClickException(
            "the review UI needs Textual: pip install 'vault-kg[ui]'"
        ) from None
    actor = settings.actor or os.environ.get("VAULT_KG_ACTOR") or "reviewer"
    ReviewApp(Desk(root, settings.state and settings.state.absolute(), actor=actor)).run()
