"""The `vault-kg` command: its subcommands by name, and how an outcome becomes an exit code.

A subcommand's module is imported when it is used; its line in the help comes from `COMMANDS`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, NamedTuple

import click

from vault_kg import __version__
from vault_kg.cli import context
from vault_kg.cli.context import Settings
from vault_kg.errors import VaultError

REFUSED, WRONG_USAGE, UNAVAILABLE, INTERRUPTED, PIPE_CLOSED = 1, 2, 3, 130, 141


class Entry(NamedTuple):
    """Where a subcommand is, and what its help line says."""

    section: str
    module: str
    help: str


COMMANDS = {
    "init": Entry("Start", "vault", "Make a folder a vault."),
    "status": Entry("Start", "inspecting", "Say how the vault is."),
    "search": Entry("Look", "looking", "Find records and notes by words and meaning."),
    "show": Entry("Look", "showing", "Show one record with its claims, connections and evidence."),
    "records": Entry("Look", "looking", "List records, the latest changed first."),
    "lookup": Entry("Look", "looking", "Find the record that a name means exactly."),
    "connections": Entry("Look", "looking", "Show what a record is joined to."),
    "history": Entry("Look", "looking", "List a record's revisions, newest first."),
    "impact": Entry("Look", "inspecting", "Show what stands on a record."),
    "diagnostics": Entry("Look", "inspecting", "List what somebody should look at."),
    "tui": Entry("Look", "tui", "Review the vault in the terminal."),
    "graph": Entry("Look", "graphing", "Index code and documents, and ask what depends on what."),
    "attach": Entry("Change", "filing", "Retain a file as a source that records can cite."),
    "ingest": Entry("Change", "ingesting", "Read documents into pages, claims and relationships."),
    "adopt": Entry("Change", "filing", "Make notes pages; their text stays as it is."),
    "correct": Entry("Change", "correcting", "Replace a wrong claim or relationship."),
    "withdraw": Entry("Change", "changing", "Retract a record for good."),
    "merge": Entry("Change", "merging", "Merge two pages that are one thing."),
    "unmerge": Entry("Change", "merging", "Take a merge back."),
    "review": Entry("Change", "reviewing", "Look at a conflict and resolve it."),
    "restore": Entry("Change", "changing", "Bring a deleted record's file back."),
    "resume": Entry("Change", "changing", "Finish an accepted request."),
    "sessions": Entry("Care", "consolidating", "See consolidation sessions, and take one back."),
    "events": Entry("Care", "consolidating", "See who is told of consolidations, and tell them."),
    "watch": Entry("Care", "vault", "Take in edits as they are saved."),
    "reindex": Entry("Care", "vault", "Build the index anew from the files."),
    "backup": Entry("Care", "vault", "Copy the vault's state to a file."),
    "recover": Entry("Care", "vault", "Rebuild a lost state from Git and the files."),
    "maintain": Entry("Care", "maintaining", "Look at what the graphs are owed."),
    "chore": Entry("Care", "chores", "Name a small piece of maintenance, or have it done."),
    "models": Entry("Care", "models", "Manage the models for embedding and extraction."),
    "call": Entry("Connect", "calling", "Run any operation with JSON arguments."),
    "operations": Entry("Connect", "calling", "List the operations, or describe one."),
    "serve": Entry("Connect", "serving", "Serve the vault as JSON-RPC over a local socket."),
    "mcp": Entry("Connect", "agents", "Serve the vault to an agent over MCP (stdio)."),
    "completion": Entry("Connect", "agents", "Print the completion script of a shell."),
}


class LazyGroup(click.Group):
    """A group whose subcommands are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order of the help."""
        return list(COMMANDS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        cmd_name: str,
    ) -> click.Command | None:
        """Return a subcommand, importing its module."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module = import_module(f"vault_kg.cli.{entry.module}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the subcommands by section, without importing any of them."""
        for section in dict.fromkeys(entry.section for entry in COMMANDS.values()):
            rows = [(n, e.help) for n, e in COMMANDS.items() if e.section == section]
            with formatter.section(section):
                formatter.write_dl(rows, col_max=14)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a subcommand; a closed pipe is told apart from other errors of the system."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError as error:
            raise _PipeClosed from error
        return result


class _PipeClosed(Exception):
    """Whoever read our output went away."""


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@context.everywhere
@context.json_flag
@click.version_option(__version__, "-V", "--version", prog_name="vault-kg")
def cli() -> None:
    """Keep knowledge as Markdown records in Git.

    People edit the files in any editor; agents write through operations that lose nothing. The
    vault is the nearest folder at or above this one that has .vault-kg/vault.toml, or --vault.
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code; never raises."""
    context.prepare_streams()
    settings = Settings()
    try:
        code = cli.main(
            args=None if arguments is None else list(arguments),
            prog_name="vault-kg",
            standalone_mode=False,
            obj=settings,
        )
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show()
        return WRONG_USAGE if isinstance(error, click.UsageError) else REFUSED
    except VaultError as error:
        return _guarded(_refuse, error, settings)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except _PipeClosed:
        _drop_output()
        return PIPE_CLOSED
    except Exception as error:  # noqa: BLE001 - the outermost frame: a line, not a traceback
        return _guarded(_fail, error, settings)


def _refuse(error: VaultError, settings: Settings) -> int:
    from vault_kg.cli import render

    if settings.json:
        render.print_json({"error": error.to_dict()})
    else:
        render.print_refusal(error)
    return UNAVAILABLE if error.code == "unavailable" else REFUSED


def _fail(error: Exception, settings: Settings) -> int:
    from vault_kg.cli import render

    said = " ".join(render.line(f"{type(error).__name__}: {error}").split())[:500]
    message = f"unexpected {said} (set VAULT_KG_DEBUG=1 to see the traceback)"
    if settings.json:
        render.print_json({"error": {"code": "error", "message": message, "data": {}}})
    if os.environ.get("VAULT_KG_DEBUG"):
        import traceback

        traceback.print_exception(error)
    elif not settings.json:
        click.echo(f"vault-kg: {message}", err=True)
    return REFUSED


def _guarded(tell: Callable[[Any, Settings], int], error: Exception, settings: Settings) -> int:
    try:
        code = tell(error, settings)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        return PIPE_CLOSED
    return code


def _drop_output() -> None:
    """Point standard output at nothing, so that the interpreter's last flush is quiet."""
    with suppress(OSError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.close(nothing)
