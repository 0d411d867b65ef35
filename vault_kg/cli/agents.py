"""Connecting other programs: `mcp` and `completion`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vault_kg.cli import context
from vault_kg.cli.context import Settings
from vault_kg.errors import InvalidArgument, legible

if TYPE_CHECKING:
    from vault_kg.serve.engine import Engine
    from vault_kg.serve.mcp import Offer

MAX_CHARS = 100_000

TOOLSETS = ("records", "graph", "consolidation", "code", "maintain")

ANY_PORT = "0"
"""What `--http` without a port means: any that is free."""

THIS_VAULT = ""
"""What `--connect` without a place means: the service of the vault that is meant."""

CLIENTS = {
    "claude-code": ".mcp.json of the project",
    "claude-desktop": "claude_desktop_config.json (Settings, Developer, Edit Config)",
    "cursor": ".cursor/mcp.json of the project, or ~/.cursor/mcp.json",
    "vscode": ".vscode/mcp.json of the project",
}

PASSED_ON = (
    "VAULT_KG_EMBEDDING_MODEL", "VAULT_KG_CACHE", "VAULT_KG_EXTRACTION_MODEL",
    "VAULT_KG_EXTRACTION_ENDPOINT", "VAULT_KG_EXTRACTION_SECONDS", "VAULT_KG_ATTACHED_IDLE_SECONDS",
    context.TOOLS,
)  # fmt: skip
"""Set here, these are set for the server too: clients do not hand their own environment on."""


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
@click.option(
    "--toolset",
    "toolsets",
    type=click.Choice(TOOLSETS),
    multiple=True,
    help="Which tools it gets; give it several times for more. Default: records.",
)
@click.option(
    "--max-chars",
    type=click.IntRange(5_000),
    default=MAX_CHARS,
    show_default=True,
    help="The longest answer; longer ones are paged.",
)
@click.option(
    "--connect",
    metavar="[PLACE]",
    is_flag=False,
    flag_value=THIS_VAULT,
    help="Use the running service (`vault-kg serve`) of this vault, or the one at a socket, pipe "
    "or vault, instead of opening the vault.",
)
@click.option(
    "--http",
    metavar="[PORT]",
    is_flag=False,
    flag_value=ANY_PORT,
    type=click.IntRange(0, 65_535),
    help="Serve streamable HTTP on the loopback address, for clients that have a bearer token.",
)
@click.option("--connect-eager", is_flag=True, help="Dial the service now, and fail without it.")
@click.option("--allow-remote-close", is_flag=True, help="Let the agent stop the service.")
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
    connect: str | None,
    http: int | None,
    connect_eager: bool,
    allow_remote_close: bool,
    print_config: str | None,
) -> None:
    """Serve the vault to an agent over MCP (stdio).

    Changes are recorded under the client's own name, unless --actor gives one. The server ends when
    its standard input closes. With --http it ends with Ctrl-C or SIGTERM; the token is that of
    VAULT_KG_HTTP_TOKEN, or of .vault-kg/http.token, which is made for you.
    """
    scopes = context.scopes(scope)
    if connect is None and (connect_eager or allow_remote_close):
        raise click.UsageError("--connect-eager and --allow-remote-close go with --connect")
    if http is not None and print_config:
        raise click.UsageError("--print-config is for servers that the client starts itself")
    root = None if connect else context.vault_root()
    if print_config:
        asked = click.get_current_context().params
        _print_config(settings, root, print_config, _asked(asked))
        return
    from vault_kg.serve import stdio

    wire = stdio.claim_output()  # before anything native is loaded
    from vault_kg.serve.mcp import Offer, serve

    if connect is None:
        engine = _standalone(settings, root)
    else:
        engine = _attached(root, connect, eager=connect_eager, allow_close=allow_remote_close)

    offer = Offer(
        scopes=scopes,
        toolsets=frozenset(toolsets or ("records",)),
        partitions=frozenset(partitions) if partitions else None,
        actor=settings.actor,
        max_chars=max_chars,
        tools=context.tools(),
    )
    if http is None:
        serve(engine, offer, wire)
    else:
        _serve_http(engine, offer, root, http)


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


def _serve_http(engine: Engine, offer: Offer, root: Path | None, port: int) -> None:
    from vault_kg.serve import endpoint, http

    token, where = http.token_for(root and root / endpoint.PRIVATE)

    def ready(url: str) -> None:
        click.echo(f"serving {url}; the token is in {where}", err=True)

    http.serve(engine, offer, port, token, ready)


def _standalone(settings: Settings, root: Path | None) -> Engine:
    from vault_kg.serve.engine import Standalone
    from vault_kg.serve.keeper import Keeper

    assert root is not None
    return Standalone(Keeper(root, settings.state and settings.state.absolute()))


def _attached(root: Path | None, place: str, *, eager: bool, allow_close: bool) -> Engine:
    """Return the client of a service; where it listens is asked again at each dialling."""
    from vault_kg.serve import endpoint
    from vault_kg.serve.attached import Attached

    def address() -> str:
        return endpoint.named(place) if root is None else endpoint.find(root / endpoint.PRIVATE)

    attached = Attached(address, allow_close=allow_close)
    if eager:
        attached.check()
    return attached


def _asked(given: dict[str, Any]) -> list[str]:
    """Return the options of `mcp` that were given, as a client has to repeat them."""
    said: list[str] = []
    if given["scope"] != "read,write":
        said += ["--scope", given["scope"]]
    for option, name in (("--partition", "partitions"), ("--toolset", "toolsets")):
        for value in given[name]:
            said += [option, value]
    if given["max_chars"] != MAX_CHARS:
        said += ["--max-chars", str(given["max_chars"])]
    if given["connect"] is not None:
        place = given["connect"]
        said += ["--connect", *([] if place == THIS_VAULT else [str(Path(place).absolute())])]
    said += ["--connect-eager"] * given["connect_eager"]
    return said + ["--allow-remote-close"] * given["allow_remote_close"]


def _print_config(settings: Settings, root: Path | None, client: str, options: list[str]) -> None:
    import json

    command, *first = _own_command()
    arguments = [*first, "mcp", *(("--vault", str(root)) if root else ())]
    if settings.state is not None:
        arguments += ["--state", str(settings.state.absolute())]
    if settings.actor:
        arguments += ["--actor", settings.actor]
    arguments += options
    if any(legible(one) != one for one in arguments):
        raise InvalidArgument(
            "a configuration in JSON cannot name a folder whose path is not UTF-8; rename it"
        )
    server: dict[str, Any] = {"command": command, "args": arguments}
    passed = {name: _from_anywhere(os.environ[name]) for name in PASSED_ON if os.environ.get(name)}
    if passed:
        server["env"] = passed
    if client == "vscode":
        made: dict[str, Any] = {"servers": {"vault-kg": {"type": "stdio", **server}}}
    else:
        made = {"mcpServers": {"vault-kg": server}}
    click.echo(f"Paste this into {CLIENTS[client]}:", err=True)
    click.echo(json.dumps(made, indent=2, ensure_ascii=False))


def _from_anywhere(value: str) -> str:
    """Return a setting so that it means the same in another folder."""
    is_path = os.sep in value and Path(value).exists()
    return str(Path(value).absolute()) if is_path else value


def _own_command() -> list[str]:
    """Return how this very program is started from anywhere."""
    script = Path(sys.argv[0])
    if script.stem == "vault-kg" and script.exists():
        return [str(script.absolute())]
    return [sys.executable, "-m", "vault_kg.cli"]
