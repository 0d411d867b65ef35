"""Watching a vault's files, so that a save is in the index right after.

Events only say where to look: what changed is decided by comparing the files with the index, so
that our own writes, a save by rename and a missed event all come out right. Where the system cannot
watch (too many folders, a network share), the vault is scanned at intervals instead.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from watchfiles import Change

from vault_kg.errors import VaultError, legible
from vault_kg.index import walk, watched
from vault_kg.index.indexer import Indexer, Progress
from vault_kg.state.database import Database
from vault_kg.store.journal import Journal
from vault_kg.store.vault import Vault

RETRY_SECONDS = 1.0
SCAN_SECONDS = 5.0
REST = 10.0
"""Between two scans at intervals lies so many times as long as a scan takes, if that is longer."""

FEW_FOLDERS = 200
"""So many folders are watched in this process: to begin takes some milliseconds."""

_HASH = "SELECT hash FROM file WHERE path = ?"


class Watched(Protocol):
    """What the watcher needs of an opened vault."""

    vault: Vault
    indexer: Indexer
    journal: Journal

    @property
    def database(self) -> Database:
        """The vault's state."""

    def scan(self, progress: Progress | None = None, *, aside: bool = False) -> object:
        """Take in everything that changed, and let Git follow."""

    def look_at(self, paths: Iterable[str]) -> object:
        """Take in edits of these files, and let Git follow."""


def watch(
    ws: Watched,
    stop: threading.Event,
    on_change: Callable[[list[str]], None] = lambda _: None,
    on_trouble: Callable[[str], None] = lambda _: None,
) -> None:
    """Take in edits as they are saved, until told to stop.

    Args:
        ws: the opened vault.
        stop: ends the watching.
        on_change: called with the vault-relative paths that were taken in; empty after a scan that
            found no single path to name.
        on_trouble: called with a sentence where edits could not be taken in yet, or not be watched.
    """
    _Watcher(ws, stop, on_change, on_trouble).run()


@dataclass
class _Watcher:
    ws: Watched
    stop: threading.Event
    on_change: Callable[[list[str]], None]
    on_trouble: Callable[[str], None]
    _root: Path = field(init=False)
    _waiting: set[str] = field(default_factory=set)
    _scan: bool = True
    """Whether everything is to be looked at; so at first, for what changed before we watched."""

    def __post_init__(self) -> None:
        self._root = self.ws.vault.root.resolve()

    def run(self) -> None:
        try:
            for events in self._events():
                self._sort(events)
                self._take_in()
        except OSError as error:
            self.on_trouble(
                f"the files cannot be watched ({error}); they are looked at every "
                f"{SCAN_SECONDS:g} seconds instead, less often where that takes long"
            )
            self._scan_at_intervals()

    def _events(self) -> Iterator[set[watched.Event]]:
        if legible(self._root) != str(self._root):
            raise OSError("the path of the vault is not UTF-8")
        folders = int(self.ws.database.value("SELECT count(DISTINCT folder) FROM file"))
        begin = watched.here if folders <= FEW_FOLDERS else watched.apart
        return begin(self._root, self.stop)

    def _sort(self, events: set[watched.Event]) -> None:
        """Note what is to be looked at: single files, or everything where a folder moved."""
        for change, path in events:
            relative = watched.relative(self._root, path)
            if relative is None or self._asks_for_a_scan(change, relative):
                self._scan = True
            elif walk.wanted(relative) and not walk.ignored(self._root, relative):
                self._waiting.add(relative)

    def _asks_for_a_scan(self, change: Change, relative: str) -> bool:
        name = relative.rpartition("/")[2]
        if name in (".gitignore", walk.ONTOLOGY):
            return True
        if walk.wanted(relative):
            return False
        if change == Change.deleted:
            return self._holds_known_files(relative)
        return change == Change.added and (self._root / relative).is_dir()

    def _holds_known_files(self, folder: str) -> bool:
        """Say whether the index knows a file inside a folder that is gone."""
        found = self.ws.database.value(
            "SELECT 1 FROM file WHERE path >= ? AND path < ? LIMIT 1", (f"{folder}/", f"{folder}0")
        )
        return found is not None

    def _take_in(self) -> None:
        try:
            if self._scan:
                self._scan_all()
            elif self._waiting:
                self._look()
        except VaultError as error:
            self.on_trouble(f"edits are not taken in yet: {error.message}")
            self.stop.wait(RETRY_SECONDS)

    def _scan_all(self) -> None:
        report = self.ws.scan(aside=True)
        changed = sorted(self._waiting)
        self._scan = False
        self._waiting.clear()
        if getattr(report, "changed", 0) or getattr(report, "removed", 0):
            self.on_change(changed)

    def _look(self) -> None:
        """Look at single files; what a writer keeps from us, or was just saved, again next time."""
        self._waiting = set(self.ws.indexer.stale(sorted(self._waiting)))
        if not self._waiting:
            return
        before = self._known(self._waiting)
        self.ws.look_at(sorted(self._waiting))
        after = self._known(self._waiting)
        changed = [path for path in sorted(self._waiting) if before.get(path) != after.get(path)]
        if changed:
            self.on_change(changed)

    def _known(self, paths: set[str]) -> dict[str, str]:
        """Return the content hashes that the index has of some files."""
        found = {p: self.ws.database.value(_HASH, (p,)) for p in paths}
        return {path: known for path, known in found.items() if known is not None}

    def _scan_at_intervals(self) -> None:
        while not self.stop.is_set():
            began = time.monotonic()
            self._scan = True
            self._take_in()
            self.stop.wait(max(SCAN_SECONDS, REST * (time.monotonic() - began)))
