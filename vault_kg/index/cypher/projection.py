"""Projections on disk: each a graph file that is never changed, and a note of what it holds.

A refresh copies the file that stands, changes the copy, and then names it as the one to ask; nobody
waits who reads the old one, and a crash leaves a file that is named nowhere. Two processes that
refresh one projection take turns by a lock of their own.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from vault_kg.errors import Busy, Unavailable
from vault_kg.index.cypher.process import Stopped, WorkerLost, WorkerRefused, Workers
from vault_kg.index.cypher.tables import TABLES, VERSION, Row

FOLDER = "cypher"
BUILD_SECONDS = 600.0
MAX_STEPS = 100
"""So many times a file is made from the one before: each leaves room in it that is not used again."""

MAX_AGE_SECONDS = 30 * 86_400.0
"""A projection that nothing was changed in for so long is removed when another one is made."""

_NOTE = "current.json"
_SUFFIX = ".lbug"

Rows = Mapping[str, Sequence[Row]]
"""The rows of each table, by its name."""

Digests = dict[str, dict[str, str]]
"""A digest of each row, by table and key."""


def folder_of(state: Path, partitions: Collection[str] | None) -> Path:
    """Return the folder of the projection of a set of partitions; None is all of them."""
    named = json.dumps(sorted(partitions)) if partitions is not None else "all"
    return state / FOLDER / hashlib.sha256(named.encode()).hexdigest()[:24]


@dataclass
class _Note:
    """Which file is asked, by which rules it was made, and what it holds."""

    file: str
    rules: str
    steps: int = 0
    """How many times it was changed since it was made anew."""
    digests: Digests = field(default_factory=dict)


class Projection:
    """The graph of one set of partitions."""

    def __init__(self, folder: Path, workers: Workers) -> None:
        self._folder = folder
        self._workers = workers

    def refresh(self, rows: Rows, stopped: Stopped = lambda: False) -> Path:
        """Return a graph file that holds exactly these rows.

        Args:
            rows: what the graph is to hold; of equal keys in one table the first counts.
            stopped: asked while the file is made.

        Raises:
            Unavailable: the engine could not make it, or the folder cannot be written.
            Busy: another process is making it, and takes long.
            WorkerLost: nobody waits any more.
        """
        wanted = _digests(rows)
        known = self._known()
        if known is not None and known.digests == wanted:
            return self._folder / known.file
        try:
            if not self._folder.exists():
                self._folder.mkdir(parents=True, exist_ok=True)
                _remove_old(self._folder.parent)
            with FileLock(self._folder / "build.lock", timeout=BUILD_SECONDS):
                return self._built(rows, wanted, stopped)
        except Timeout:
            raise Busy("another process is still making this graph; try again") from None
        except OSError as error:
            raise Unavailable(f"the graph for Cypher cannot be written: {error}") from error

    def forget(self) -> None:
        """Have the next refresh make everything anew."""
        with suppress(OSError):
            (self._folder / _NOTE).unlink(missing_ok=True)

    def _built(self, rows: Rows, wanted: Digests, stopped: Stopped) -> Path:
        known = self._known()
        if known is not None and known.digests == wanted:
            return self._folder / known.file
        target = self._folder / f"{secrets.token_hex(8)}{_SUFFIX}"
        steps = 0
        try:
            if known is not None and self._changed(known, target, rows, wanted, stopped):
                steps = known.steps + 1
            else:
                self._make(target, _changes(rows, {}, wanted), stopped, fresh=True)
        except WorkerRefused as error:
            raise Unavailable(f"the graph for Cypher could not be made: {error}") from error
        self._name(_Note(target.name, _rules(), steps, wanted), before=known)
        return target

    def _changed(
        self, known: _Note, target: Path, rows: Rows, wanted: Digests, stopped: Stopped
    ) -> bool:
        """Make the file from the one that stands; says whether that was possible."""
        if known.steps >= MAX_STEPS:
            return False
        changes = _changes(rows, known.digests, wanted)
        try:
            shutil.copyfile(self._folder / known.file, target)
            self._make(target, changes, stopped, fresh=False)
        except (WorkerLost, WorkerRefused, OSError):
            if stopped():
                raise
            target.unlink(missing_ok=True)
            return False
        return True

    def _make(self, path: Path, changes: dict[str, Any], stopped: Stopped, *, fresh: bool) -> None:
        asked = {"do": "build", "path": os.fspath(path), "changes": changes, "fresh": fresh}
        try:
            self._workers.ask(asked, BUILD_SECONDS, stopped)
        except WorkerLost as error:
            path.unlink(missing_ok=True)
            if stopped() or not fresh:
                raise
            raise Unavailable(f"the graph for Cypher could not be made: {error}") from error

    def _known(self) -> _Note | None:
        try:
            note = _Note(**json.loads((self._folder / _NOTE).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        sound = note.rules == _rules() and (self._folder / note.file).is_file()
        return note if sound else None

    def _name(self, note: _Note, before: _Note | None) -> None:
        """Make a file the one that is asked, and remove all but it and the one before."""
        new = self._folder / f"{_NOTE}.new"
        new.write_text(json.dumps(note.__dict__), encoding="utf-8")
        new.replace(self._folder / _NOTE)
        kept = {note.file, before.file if before else ""}
        for path in self._folder.iterdir():
            if _SUFFIX in path.name and path.name.partition(".")[0] not in _stems(kept):
                with suppress(OSError):  # somebody still reads it, where that keeps a file
                    path.unlink()


def _remove_old(projections: Path) -> None:
    """Remove the projections of callers who have not come for long; they are made again."""
    for note in projections.glob(f"*/{_NOTE}"):
        with suppress(OSError):
            if time.time() - note.stat().st_mtime > MAX_AGE_SECONDS:
                shutil.rmtree(note.parent)


def _stems(files: Collection[str]) -> set[str]:
    return {name.partition(".")[0] for name in files}


def _rules() -> str:
    return f"{VERSION}/{metadata.version('ladybug')}"


def _digests(rows: Rows) -> Digests:
    found: Digests = {name: {} for name in TABLES}
    for name, table in TABLES.items():
        for row in rows[name]:
            found[name].setdefault(table.key(row), _digest(row))
    return found


def _digest(row: Row) -> str:
    text = json.dumps(row, ensure_ascii=False)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _changes(rows: Rows, before: Digests, wanted: Digests) -> dict[str, dict[str, list[Any]]]:
    """Return what each table loses, gains and changes; a changed relationship is made anew."""
    changes: dict[str, dict[str, list[Any]]] = {}
    for name, table in TABLES.items():
        old, new = before.get(name, {}), wanted[name]
        first = {table.key(row): row for row in reversed(rows[name])}
        changed = [key for key in new if key in old and old[key] != new[key]]
        gone, added = [key for key in old if key not in new], [key for key in new if key not in old]
        if table.ends is not None:
            gone, added, changed = gone + changed, added + changed, []
        changes[name] = {
            "delete": gone,
            "insert": [first[key] for key in added],
            "update": [first[key] for key in changed],
        }
    return changes
