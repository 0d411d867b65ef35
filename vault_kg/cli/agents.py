"""Connecting other programs: `mcp` and `completion`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from vault_kg.cli import context
from vault_kg.cli.context import Settings

CLIENTS = {
    "claude-code": ".mcp.json of the project",
    "claude-desktop": "claude_desktop_config.json (Settings, Developer, Edit Config)",
    "cursor": ".cursor/mcp.json of the project, or ~/.cursor/mcp.json",
    "vscode": ".vscode/mcp.json of the project",
}


@context.command
@click.option(
    "--scope",
    default="read,write",
    show_default=True,
    metavar="SCOPES",
    help="What the agent may do.",
)
@click.option(
    "--partition", "partitions", metavar="NAME", multiple=True, help="Only these are seen."
)
@click.option("--toolset", "toolsets", metavar="NAME", multiple=True, help="Default: records.")
@click.option(
    "--max-chars",
    type=click.IntRange(5_000),
    default=100_000,
    show_default=True,
    help="The longest answer; longer ones are paged.",
)
@click.option(
    "--print-config",
    type=click.Choice(list(CLIENTS)),
    metavar="CLIENT",
    help=f"Print what to paste for {', '.join(CLIENTS)}.",
)
def mcp(
    settings: Settings,
    scope: str,
    partitions: tuple[str, ...],
    toolsets: tuple[str, ...],
    max_chars: int,
    print_config: str | None,
) -> None:
    """Serve the vault to an agent over MCP (stdio).

    Changes are recorded under the client's own name, unless --actor gives one. The server ends when
    its standard input closes.
    """
    scopes = context.scopes(scope)
    root = context.vault_root()
    if print_config:
        _print_config(settings, root, print_config, scope, partitions)
        return
    from vault_kg.serve import stdio

    wire = stdio.claim_output()  # before anything native is loaded
    from vault_kg.serve.mcp import Offer, serve

    offer = Offer(
        scopes=scopes,
        toolsets=frozenset(toolsets or ("records",)),
        partitions=frozenset(partitions) if partitions else None,
        actor=settings.actor,
        max_chars=max_chars,
    )
    serve(root, settings.state and settings.state.absolute(), offer, wire)


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@context.everywhere
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    For bash, in ~/.bashrc: eval "$(vault-kg completion bash)". For zsh the same in ~/.zshrc. For
    fish: vault-kg completion fish > ~/.config/fish/completions/vault-kg.fish.
    """
    from click.shell_completion import get_completion_class

    from vault_kg.cli.application import cli

    found = get_completion_class(shell)
    assert found is not None, "click knows the shells that are offered"
    made = found(cli, {}, "vault-kg", "_VAULT_KG_COMPLETE")
    click.echo(made.source_template % made.source_vars())


def _print_config(
    settings: Settings, root: Path, client: str, scope: str, partitions: tuple[str, ...]
) -> None:
    import json

    command, *first = _own_command()
    arguments = [*first, "mcp", "--vault", str(root)]
    if settings.state is not None:
        arguments += ["--state", str(settings.state.absolute())]
    if settings.actor:
        arguments += ["--actor", settings.actor]
    if scope != "read,write":
        arguments += ["--scope", scope]
    for name in partitions:
        arguments += ["--partition", name]
    server: dict[str, Any] = {"command": command, "args": arguments}
    if client == "vscode":
        made: dict[str, Any] = {"servers": {"vault-kg": {"type": "stdio", **server}}}
    else:
        made = {"mcpServers": {"vault-kg": server}}
    click.echo(f"Paste this into {CLIENTS[client]}:", err=True)
    click.echo(json.dumps(made, indent=2, ensure_ascii=False))


def _own_command() -> list[str]:
    """Return how this very program is started from anywhere."""
    script = Path(sys.argv[0])
    if script.stem == "vault-kg" and script.exists():
        return [str(script.absolute())]
    return [sys.executable, "-m", "vault_kg.cli"]
