"""Installing the files of one journal entry: all of them or none, and nobody's bytes lost.

Each new file waits complete and flushed under a name of the private folder (*prepared*) before the
first one is put in place. After the exchange of names, what was replaced is under the prepared name
and is compared: it is what the request saw, or somebody's edit, which goes back. It stays there
until the entry is published, so that taking an installation back needs no room on the disk. What a
dead process left is told by the same comparison.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from vault_kg.state import journal as rows
from vault_kg.state.database import Database
from vault_kg.state.journal import FileRow
from vault_kg.store.failpoints import reach
from vault_kg.store.flushing import Hardening
from vault_kg.store.placing import Place
from vault_kg.store.plan import Tell, quiet

_STEP = 200


class Installation:
    """The files of one entry on their way to their places."""

    def __init__(self, root: Path, folder: Path, seq: int, changed: Sequence[FileRow]) -> None:
        """Look at nothing yet.

        Args:
            root: the vault's folder.
            folder: the private folder for prepared files, on the same file system.
            seq: the entry's number.
            changed: its files, in order.
        """
        self._places = [
            Place(root, file, folder / f"{seq}-{ordinal}") for ordinal, file in enumerate(changed)
        ]

    def install(self, tell: Tell = quiet) -> None:
        """Put every file in its place, going on where a dead process stopped.

        Args:
            tell: told how many of the files are written, and how many are in their places.

        Raises:
            Displaced: a file is not what the request saw; it stands as the person left it.
            OSError: the disk refuses.
        """
        for place in self._places:
            place.recover()
        waiting = [place for place in self._places if place.waits()]
        self._write(waiting, tell)
        for place in waiting:
            place.prepare()
            reach("install.temp-written")
        for number, place in enumerate(waiting):
            if number % _STEP == 0:
                tell(number, len(waiting), "placing files")
            place.install()
            reach("install.file-done")
        Hardening({place.folder for place in waiting}).wait()

    def _write(self, waiting: Sequence[Place], tell: Tell) -> None:
        parts: list[Path] = []
        try:
            for number, place in enumerate(waiting):
                if number % _STEP == 0:
                    tell(number, len(waiting), "writing files")
                parts += place.write()
            Hardening(parts).wait()
        except OSError:
            for part in parts:
                part.unlink(missing_ok=True)
            raise

    def confirm(self) -> None:
        """Look once more at what was replaced: an editor may have had it open and saved late.

        Raises:
            Displaced: somebody did; the file stands as the person left it.
            OpenElsewhere: somebody may still; all is to be taken back.
        """
        for place in self._places:
            place.confirm()

    def take_back(self) -> None:
        """Put back what was replaced; what somebody edited since stays as it is.

        Raises:
            OSError: the disk refuses.
        """
        for place in reversed(self._places):
            place.take_back()
            reach("install.taken-back")

    def clear(self, recorded: bytes | None = None) -> None:
        """Let go of what was replaced, and of what was prepared and not used.

        Args:
            recorded: somebody's bytes that are kept elsewhere.
        """
        for place in self._places:
            place.clear(recorded)


def sweep(root: Path, folder: Path, database: Database) -> None:
    """Remove what dead processes left of entries that are finished; the caller holds the lane.

    Args:
        root: the vault's folder.
        folder: the private folder for prepared files.
        database: says which entries still need theirs.
    """
    with contextlib.suppress(OSError):  # swept the next time
        unfinished = {entry.seq for entry in rows.unfinished(database)}
        for left in folder.iterdir():
            seq, _, ordinal = left.name.partition("-")
            if not seq.isdigit() or int(seq) not in unfinished:
                _sweep_one(root, left, database, seq, ordinal)


def _sweep_one(root: Path, left: Path, database: Database, seq: str, ordinal: str) -> None:
    changed = rows.files(database, int(seq)) if seq.isdigit() else []
    if ordinal.isdigit() and int(ordinal) < len(changed):
        Place(root, changed[int(ordinal)], left).clear(None)
    elif not left.is_dir():
        left.unlink(missing_ok=True)  # written in part, or of a database that is no more
