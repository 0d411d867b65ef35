"""The vault as a whole: `init`, `watch`, `reindex`, `backup`, `recover`."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vault_kg.cli import context, folders
from vault_kg.cli.context import Session, Settings
from vault_kg.errors import InvalidArgument, VaultError

if TYPE_CHECKING:
    import threading

    from vault_kg.operations.workspace import Workspace

QUEUE_SECONDS = 1.0
"""How often a watcher looks whether hooks have queued anything."""


@context.command
@click.argument("folder", metavar="[DIR]", type=click.Path(path_type=Path), required=False)
def init(settings: Settings, folder: Path | None) -> None:
    """Make a folder a vault.

    Its files stay as they are: notes are searchable at once, and `adopt` makes them pages. Only
    .vault-kg/ is new; a Git repository is made with the first change. In a folder that was only
    read so far, the history begins.
    """
    from vault_kg.cli import progress, render
    from vault_kg.operations.workspace import Workspace

    root = (folder or settings.vault or Path.cwd()).absolute()
    state = settings.state and settings.state.absolute()
    if folders.is_vault(root):
        workspace = _begun(root, state)
    else:
        _check_can_be_made(root)
        workspace = Workspace.create(root, state)
    try:
        with progress.bar("reading the files") as advance:
            workspace.scan(advance)
        session = Session(settings, workspace, context.caller(settings))
        status = session.call("knowledge_status")
        wrong = session.call("knowledge_diagnostics", limit=1)["total"]
    finally:
        workspace.close()
    if settings.json:
        render.print_json(status)
        return
    _tell_made(root, status, wrong)


@context.command
@click.option("--quiet", is_flag=True, help="Do not list the files.")
def watch(settings: Settings, quiet: bool) -> None:
    """Take in edits as they are saved.

    Until Ctrl-C, or the end of the process.
    """
    import threading

    from vault_kg.cli import render
    from vault_kg.operations import care

    def changed(paths: list[str]) -> None:
        if settings.json:
            render.print_json({"changed": paths})
        elif not quiet:
            click.echo("\n".join(render.line(path) for path in paths) or "the vault was scanned")

    def trouble(sentence: str) -> None:
        click.echo(render.line(sentence), err=True)

    with context.session(settings, make=True) as session:
        click.echo(f"watching {session.workspace.vault.root} (Ctrl-C stops)", err=True)
        stop = threading.Event()
        threading.Thread(target=_index_queued, args=(session, stop), daemon=True).start()
        try:
            care.watch(session.workspace, stop, changed, trouble)
        finally:
            stop.set()


@context.command
@click.option("--embed/--no-embed", default=True, help="Also embed what has no vector yet.")
def reindex(settings: Settings, embed: bool) -> None:
    """Build the index anew from the files.

    No file is changed, and nothing that only the state knows is lost.
    """
    from vault_kg.cli import progress, render
    from vault_kg.operations import care

    with context.session(settings, look=False) as session:
        with progress.bar("reading the files") as advance:
            care.reindex(session.workspace, advance)
        reason = _embed(session.workspace) if embed else None
        status = session.call("knowledge_status")
    if settings.json:
        render.print_json(status)
        return
    passages = status["index"].get("passages") or 0
    click.echo(f"indexed {render.counted(status['records'])}; {passages:,} passages")
    if reason:
        click.echo(f"search by meaning: {render.line(reason)}", err=True)


@context.command
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def backup(settings: Settings, file: Path) -> None:
    """Copy the vault's state to a file.

    Others may go on using the vault. The files and their history are backed up with Git; this is
    the rest: revisions, guards, merges, accepted requests.
    """
    from vault_kg.cli import render
    from vault_kg.operations import care

    target = file.absolute()
    with context.session(settings, look=False) as session:
        care.backup(session.workspace, target)
    size = target.stat().st_size
    if settings.json:
        render.print_json({"path": str(target), "size": size})
    else:
        click.echo(f"{target}  {size:,} bytes")


@context.command
def recover(settings: Settings) -> None:
    """Rebuild a lost state from Git and the files.

    No file is changed. What could not be proved from the history is listed.
    """
    from vault_kg.cli import render
    from vault_kg.operations import care

    root = folders.find(settings) or folders.folder_of(settings)
    report = care.recover(root, settings.state and settings.state.absolute())
    settings.vault = root
    with context.session(settings) as session:
        status = session.call("knowledge_status")
    if settings.json:
        render.print_json(report)
        return
    unproven = report.pop("unproven")
    click.echo("recovered " + ", ".join(f"{count:,} {what}" for what, count in report.items()))
    click.echo(f"now at journal position {status['position']:,}")
    for doubt in unproven:
        click.echo(f"not proved: {render.line(doubt)}")


def _index_queued(session: Session, stop: threading.Event) -> None:
    """Index in the derived graph what hooks have queued, until told to stop."""
    while not stop.wait(QUEUE_SECONDS):
        with contextlib.suppress(VaultError):
            session.call("graph_index", queued_only=True)


def _begun(root: Path, state: Path | None) -> Workspace:
    """Open a vault that a read made, and let its history begin.

    Raises:
        InvalidArgument: somebody made it one already.
        VaultError: it cannot be opened.
    """
    from vault_kg.operations import care
    from vault_kg.operations.workspace import Workspace

    workspace = Workspace.open(root, state)
    if not care.begin_history(workspace):
        workspace.close()
        raise InvalidArgument(f"{root} is a vault already", path=str(root))
    return workspace


def _check_can_be_made(root: Path) -> None:
    if root.exists() and not root.is_dir():
        raise InvalidArgument(f"{root} is not a folder", path=str(root))
    folders.check_not_lost(root)
    around = next((f for f in root.parents if folders.is_vault(f)), None)
    if around is not None:
        raise InvalidArgument(
            f"{root} lies inside the vault {around}; a vault cannot hold another", path=str(root)
        )


def _tell_made(root: Path, status: dict[str, Any], wrong: int) -> None:
    from vault_kg.cli import render

    click.echo(f"{render.heading(str(root))} is a vault now ({status['vaultId']}).")
    found = {kind: count for kind, count in status["records"].items() if count}
    if found:
        click.echo(f"Found {render.counted(found)}.")
    else:
        click.echo("It has no Markdown files yet.")
    if wrong:
        click.echo(f"{wrong:,} finding(s): vault-kg diagnostics")
    where = "" if root == Path.cwd() else f" --vault {root}"
    click.echo("\nNext:")
    steps = (
        (f"vault-kg search WORDS{where}", "find something"),
        (f"vault-kg adopt NOTE.md{where}", "make a note a page, with history"),
        (f"vault-kg mcp --print-config claude-code{where}", "let an agent use it"),
    )
    render.echo_lines(render.table([[f"  {a}", b] for a, b in steps], flexible=1))


def _embed(workspace: Workspace) -> str | None:
    """Embed what is pending; returns why it was not done, if it was not."""
    from vault_kg.cli import progress

    with progress.bar("embedding passages") as advance:
        _, reason = workspace.semantics.embed_pending(advance)
    return reason
