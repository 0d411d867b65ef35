"""What every command starts with: its settings, the vault it works on, and the calls it makes.

The shared options may stand before or after the subcommand. Nothing heavy is imported here; a vault
is opened inside `session`.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from vault_kg.cli import folders
from vault_kg.errors import Busy, NotFound, VaultError, WriteFailed

if TYPE_CHECKING:
    from vault_kg.operations.caller import Caller
    from vault_kg.operations.workspace import Workspace

F = TypeVar("F", bound=Callable[..., Any])

READ_WAIT_SECONDS = 0.5
"""How long a read waits for a writer before it answers without the newest edits."""

TOOLS = "VAULT_KG_TOOLS"
"""What `chore run` sets for an agent: the operations that it may run, with commas between them."""

_ID = re.compile(r"(pg|cl|re|sr)_[0-9a-z]{26}|doc:file:.+")
"""What is an id and no name."""


@dataclass
class Settings:
    """What the shared options say."""

    vault: Path | None = None
    state: Path | None = None
    actor: str | None = None
    json: bool = False
    scan: bool = True


@dataclass(frozen=True)
class Session:
    """An opened vault, and who uses it."""

    settings: Settings
    workspace: Workspace
    caller: Caller

    def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Run an operation; arguments that are None are left out.

        Raises:
            VaultError: a refusal.
        """
        from vault_kg.operations import registry

        given = {key: value for key, value in arguments.items() if value is not None}
        return registry.call(self.workspace, name, given, self.caller)

    def change(self, name: str, request_id: str | None, /, **arguments: Any) -> dict[str, Any]:
        """Run a changing operation under a request id, which a refusal tells for the repetition."""
        import uuid

        request = request_id or str(uuid.uuid4())
        try:
            return self.call(name, requestId=request, **arguments)
        except VaultError as error:
            if error.code in ("busy", "write_failed", "conflict_blocked", "unavailable"):
                error.data.setdefault("request_id", request)
            raise

    def resolve(self, text: str) -> str:
        """Return the id that an id, title, alias or path means.

        Raises:
            NotFound: nothing is called so.
            Ambiguous: several records are.
        """
        if _ID.fullmatch(text):
            return text
        return str(self.call("knowledge_lookup", text=self.inside(text) or text)["record"]["id"])

    def resolve_any(self, text: str) -> str:
        """Return the id that a name means, also of the one record that was withdrawn or corrected.

        Raises:
            NotFound: nothing is called so, or several records that are not current.
            Ambiguous: several records are.
        """
        try:
            return self.resolve(text)
        except NotFound as error:
            past = error.data.get("candidates", ())
            if len(past) != 1:
                raise
            return str(past[0]["id"])

    def inside(self, text: str) -> str | None:
        """Return the vault-relative path of an existing file, given from the working folder."""
        try:
            path = Path(text).absolute()
            if not path.is_file():
                return None
            return path.resolve().relative_to(self.workspace.vault.root.resolve()).as_posix()
        except (OSError, ValueError):
            return None


def everywhere(command: F) -> F:
    """Add the options that every command takes."""
    options = (
        click.option(
            "--vault", metavar="DIR", type=click.Path(path_type=Path), expose_value=False,
            callback=_remember, help="The vault's folder.",
        ),
        click.option(
            "--state", metavar="PATH", type=click.Path(path_type=Path), expose_value=False,
            callback=_remember,
            help="Its state, where it is not in the vault.",
        ),
        click.option(
            "--actor", metavar="NAME", expose_value=False, callback=_remember,
            help="Who is acting (default: $VAULT_KG_ACTOR, or cli).",
        ),
        click.option(
            "--scan/--no-scan", default=None, expose_value=False, callback=_remember,
            help="Look for edited files first (default), or not.",
        ),
        click.option(
            "--no-color", is_flag=True, expose_value=False, callback=_uncoloured,
            help="Plain text, also on a terminal.",
        ),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def json_flag(command: F) -> F:
    """Add `--json`, for the operation's result as one JSON document."""
    return click.option(
        "--json", is_flag=True, default=None, expose_value=False, callback=_remember,
        help="Print the result as JSON.",
    )(command)  # fmt: skip


class Words(click.Command):
    """A command whose words may begin with a dash, as `-word` does; of its options only help has one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line with such words behind the options."""
        end = args.index("--") if "--" in args else len(args)
        own = ("", "-", *ctx.help_option_names)
        words = [one for one in args[:end] if one[:1] == "-" and not {one, one[1:2]} & {*own}]
        if words:
            others = [one for one in args[:end] if one not in words]
            args = [*others, "--", *words, *args[end + 1 :]]
        return super().parse_args(ctx, args)


def command(function: Callable[..., Any]) -> click.Command:
    """Make a function a subcommand that takes the settings first, and the shared options last."""
    return _command(function, click.Command)


def words_command(function: Callable[..., Any]) -> click.Command:
    """Make a function such a subcommand, whose words may begin with a dash."""
    return _command(function, Words)


def _command(function: Callable[..., Any], kind: type[click.Command]) -> click.Command:
    made = click.command(cls=kind)(click.pass_obj(function))
    made.params += click.command(everywhere(json_flag(lambda: None))).params
    return made


def prepare_streams() -> None:
    """Make output that a terminal's encoding cannot show escaped instead of an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def session(settings: Settings, *, make: bool = False, look: bool = True) -> Iterator[Session]:
    """Open the vault for a command.

    Args:
        settings: the shared options.
        make: make a folder without a vault one, quietly.
        look: take in edited files first.

    Raises:
        Unavailable: there is no vault, or it cannot be served.
    """
    from vault_kg.cli import progress
    from vault_kg.operations.workspace import Workspace

    root = folders.find(settings)
    if root is None:
        root = folders.make_quietly(settings) if make else None
    if root is None:
        raise folders.no_vault(settings)
    workspace = Workspace.open(root, settings.state and settings.state.absolute())
    try:
        if look and settings.scan:
            take_in(workspace, progress.bar("reading the vault"))
        if look and workspace.indexing is not None:
            click.echo(f"{workspace.indexing}; what is missing may still come", err=True)
        yield Session(settings, workspace, caller(settings))
    finally:
        workspace.close()


def take_in(workspace: Workspace, shown: Any) -> None:
    """Take in edited files; a vault that is busy or cannot be written is answered as it stands."""
    try:
        with shown as advance:
            workspace.scan(advance, READ_WAIT_SECONDS if workspace.scanned else None)
    except (Busy, WriteFailed) as error:
        click.echo(f"edits are not taken in: {error.message}", err=True)


def caller(settings: Settings) -> Caller:
    """Return who acts."""
    from vault_kg.operations.caller import Caller

    actor = settings.actor or os.environ.get("VAULT_KG_ACTOR") or "cli"
    return Caller(actor, tools=tools())


def tools() -> frozenset[str] | None:
    """Return the operations that the environment confines us to, or None where it does not."""
    names = os.environ.get(TOOLS, "").replace(",", " ").split()
    return frozenset(names) or None


def settings() -> Settings:
    """Return the shared options of the running command."""
    found = click.get_current_context().find_object(Settings)
    return found if found is not None else Settings()


def vault_root() -> Path:
    """Return the vault of the running command, without opening it.

    Raises:
        Unavailable: there is none.
    """
    root = folders.find(settings())
    if root is None:
        raise folders.no_vault(settings())
    return root


def scopes(value: str) -> frozenset[str]:
    """Read a list of scopes with commas between them, or all; `review` is a person's.

    Raises:
        click.BadParameter: it names something else.
    """
    every = {"read", "write", "cypher", "admin"}
    names = frozenset(name.strip() for name in value.split(",") if name.strip())
    if names == {"all"}:
        return frozenset(every)
    if "review" in names:
        raise click.BadParameter("review is for people, in the command line and the UI")
    if not names or not names <= every:
        raise click.BadParameter(
            f"{value!r}: give some of read, write, cypher, admin, with commas, or all"
        )
    return names


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    if value is not None and param.name is not None:
        setattr(ctx.ensure_object(Settings), param.name, value)
    return value


def _uncoloured(
    ctx: click.Context,
    param: click.Parameter,  # noqa: ARG001 - click's signature
    value: bool,
) -> bool:
    if value or os.environ.get("NO_COLOR"):
        ctx.color = False
    return value
