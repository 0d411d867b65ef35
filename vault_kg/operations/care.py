"""What is done to a vault as a whole by whoever runs it, and never by an agent.

Finding it lost, recovering, reindexing, backing up, watching: none of these is in the registry.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from vault_kg.errors import InvalidArgument, WriteFailed
from vault_kg.store.vault import CONFIG

if TYPE_CHECKING:
    from vault_kg.index.indexer import Progress
    from vault_kg.operations.workspace import Workspace


def is_lost(folder: Path) -> bool:
    """Say whether a folder's Git history says that it is a vault, while its identity is gone."""
    from vault_kg.store.git import GitUnavailable, History

    if not (folder / ".git").exists() or (folder / CONFIG).is_file():
        return False
    try:
        with History(folder) as history:
            head = history.resolve("HEAD")
            return head is not None and history.read_file(head, CONFIG) is not None
    except GitUnavailable:
        return False


def can_write(folder: Path) -> bool:
    """Say whether this account may make files in a folder."""
    from vault_kg.store import reading

    return reading.can_write(folder)


def begin_history(ws: Workspace) -> bool:
    """Take a vault that a read made for one that somebody asked for; returns whether it was such.

    Raises:
        WriteFailed: the vault is open for reading only.
    """
    from vault_kg.store import unasked

    ws.vault.check_writable()
    with ws.lane.hold(), unasked.beginning(ws.database) as began:
        pass
    ws.outbox.drain()
    return began


def recover(root: Path, state: Path | None = None) -> dict[str, Any]:
    """Rebuild a lost state from Git and the files; returns what was recovered.

    Raises:
        Unavailable: there is a state already, or nothing says which vault it is.
    """
    from vault_kg.store.git import History
    from vault_kg.store.recovery import recover as recover_vault

    with History(root) as history:
        return asdict(recover_vault(root, history, state))


def reindex(ws: Workspace, progress: Progress | None = None) -> None:
    """Drop everything that is derived from the files, and derive it anew."""
    from vault_kg.index import schema

    with ws.lane.hold(), ws.database.write():
        schema.drop(ws.database)
        schema.ensure(ws.database, schema.VERSION)
    ws.scan(progress)


def backup(ws: Workspace, target: Path) -> None:
    """Copy the state to a new file with SQLite's online backup; it appears when it is complete.

    Raises:
        InvalidArgument: the file is there already.
        WriteFailed: it cannot be written.
    """
    if target.exists():
        raise InvalidArgument(f"{target} is there already; name a new file", path=str(target))
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        partial.touch(exist_ok=False)
        ws.database.backup(partial)
        with partial.open("rb+") as written:
            os.fsync(written.fileno())
        partial.rename(target)
    except (OSError, apsw.Error) as error:
        partial.unlink(missing_ok=True)
        raise WriteFailed(f"{target} cannot be written: {error}", path=str(target)) from error


def watch(
    ws: Workspace,
    stop: threading.Event,
    on_change: Callable[[list[str]], None] = lambda _: None,
    on_trouble: Callable[[str], None] = lambda _: None,
) -> None:
    """Take in edits as they are saved, until told to stop; see `index.watch`.

    A vault that is open for reading follows its owner's decisions, too.
    """
    from vault_kg.index.watch import watch as watch_files
    from vault_kg.operations import following

    ended = threading.Event()
    if ws.vault.reading:
        told = (ws, ended, on_change, on_trouble)
        threading.Thread(target=following.keep, args=told, daemon=True).start()
    try:
        watch_files(ws, stop, on_change, on_trouble)
    finally:
        ended.set()
