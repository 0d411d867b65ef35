"""One file of a journal entry on its way to its place: prepared, exchanged, compared, taken back."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from vault_kg.errors import UnsafePath
from vault_kg.state.journal import FileRow
from vault_kg.store import files, paths
from vault_kg.store.failpoints import reach
from vault_kg.store.files import Displaced, Found
from vault_kg.store.writers import OpenElsewhere, is_open_for_writing


class Place:
    """One file's place in the vault, and its prepared file."""

    def __init__(self, root: Path, file: FileRow, prepared: Path) -> None:
        """Look at nothing yet.

        Args:
            root: the vault's folder.
            file: the bytes before and after.
            prepared: the name that the new file has until it is placed, and the old one afterwards.
        """
        self._root = root
        self._path = file.path
        self._before = file.before
        self._after = file.after
        self._hashes = (file.before_hash, file.after_hash)
        self._prepared = prepared
        self._target = root.joinpath(*file.path.split("/"))
        self._folders: list[Path] = []

    def recover(self) -> None:
        """Make sense of what a dead process left: finish a move, give an edit back."""
        aside = files.aside_of(self._prepared)
        if os.path.lexists(aside):
            if os.path.lexists(self._target):
                files.take_aside_back(self._prepared)
            else:
                aside.rename(self._target)
        left = files.look(self._prepared)
        if self._is_ours(left):
            return
        if _same_file(self._prepared, self._target):
            self._prepared.unlink()  # a new file, placed and then edited
            return
        self._give_back(left)

    def waits(self) -> bool:
        """Say whether the file is still to be put in place."""
        found = self._found()
        if found.holds(self._after):
            return False
        if not found.holds(self._before):
            raise Displaced(self._path, found.content)
        return True

    @property
    def folder(self) -> Path:
        """The folder that the file is in."""
        return self._target.parent

    def write(self) -> list[Path]:
        """Write the new file, and return where it waits to be flushed."""
        if self._after is None:
            self._prepared.parent.mkdir(parents=True, exist_ok=True)
            return []
        self._folders = files.make_folder(self._target.parent, self._root)
        return [files.write_part(self._prepared, self._after, self._target)]

    def prepare(self) -> None:
        """Give the flushed file the name by which it is known to be whole."""
        if self._after is not None:
            files.part_of(self._prepared).replace(self._prepared)

    def install(self) -> None:
        """Exchange the file for the prepared one; the folder is for the caller to flush.

        Raises:
            Displaced: the file is not what the request saw; it stands as the person left it.
            OSError: the disk refuses.
        """
        if self._after is None:
            self._remove(self._before)
        elif self._before is None:
            self._create()
        else:
            self._replace(self._before)

    def confirm(self) -> None:
        """Look once more at what was replaced.

        Raises:
            Displaced: somebody saved it late; the file stands as the person left it.
            OpenElsewhere: a program may still write to it; it is to be put back.
        """
        is_open = is_open_for_writing(self._prepared)  # asked first: if not, nothing more comes
        left = files.look(self._prepared)
        if not self._is_ours(left):
            self._give_back(left)
        if is_open:
            raise OpenElsewhere(self._path, self._target)

    def take_back(self) -> None:
        """Put back what was replaced; what somebody edited since stays as it is.

        Raises:
            OSError: the disk refuses.
        """
        if self._before == self._after or not self._found().holds(self._after):
            return
        if self._before is None:
            self._prepared.unlink(missing_ok=True)
            with contextlib.suppress(Displaced):  # edited since: it stays
                self._remove(self._after)
            self._remove_folders()
            return
        left = files.look(self._prepared)
        if self._is_ours(left) and not left.holds(self._before):
            files.make_folder(self._target.parent, self._root)
            files.write_complete(self._prepared, self._before, self._target)
        if self._after is None:
            with contextlib.suppress(FileExistsError):  # written anew since: it stays
                files.place(self._prepared, self._target)
        else:
            self._exchange_back()
        files.sync_folder(self._target.parent)

    def clear(self, recorded: bytes | None) -> None:
        """Remove the prepared file; one that somebody wrote to is moved beside its place."""
        with contextlib.suppress(OSError):  # swept the next time
            if is_open_for_writing(self._prepared):
                return  # so is this one, when it is known what was written
            left = files.look(self._prepared)
            if self._is_ours(left) or left.holds(recorded):
                self._prepared.unlink(missing_ok=True)
            else:
                self._prepared.rename(_free_name_beside(self._target))

    def _found(self) -> Found:
        try:
            paths.look(self._root, self._path)
        except UnsafePath:
            return Found(special=True)
        return files.look(self._target)

    def _is_ours(self, found: Found) -> bool:
        if found.special or found.content is None:
            return not found.special
        return files.content_hash(found.content) in self._hashes

    def _replace(self, before: bytes) -> None:
        self._resolve()
        try:
            files.swap(self._prepared, self._target)
        except (FileNotFoundError, FileExistsError):
            raise Displaced(self._path, self._found().content) from None
        reach("install.exchanged")
        displaced = files.look(self._prepared)
        if not displaced.holds(before):
            self._give_back(displaced)

    def _create(self) -> None:
        self._resolve()
        try:
            files.place(self._prepared, self._target)
        except FileExistsError:
            raise Displaced(self._path, self._found().content) from None
        reach("install.exchanged")
        self._prepared.unlink(missing_ok=True)

    def _remove(self, expected: bytes | None) -> None:
        self._resolve()
        try:
            self._target.rename(self._prepared)
        except FileNotFoundError:
            return
        reach("install.exchanged")
        displaced = files.look(self._prepared)
        if not displaced.holds(expected):
            self._give_back(displaced)

    def _resolve(self) -> None:
        """Refuse a path that became a way out of the vault since it was looked at."""
        try:
            paths.look(self._root, self._path)
        except UnsafePath:
            raise Displaced(self._path, None) from None

    def _give_back(self, displaced: Found) -> None:
        """Put somebody's edit back, unless there is a newer one by now, and tell of it.

        Raises:
            Displaced: always.
        """
        there = self._found()
        if there.holds(None) and displaced.special:
            self._prepared.rename(self._target)
        elif there.holds(None):
            with contextlib.suppress(FileExistsError):
                files.place(self._prepared, self._target)
                self._prepared.unlink(missing_ok=True)
        elif self._is_ours(there):
            self._exchange_back()
        raise Displaced(self._path, displaced.content)

    def _exchange_back(self) -> None:
        """Exchange the names again; if what was there is no more ours, it is newer and stays."""
        try:
            files.swap(self._prepared, self._target)
            if not self._is_ours(files.look(self._prepared)):
                files.swap(self._prepared, self._target)
        except (FileNotFoundError, FileExistsError):
            return  # removed or written anew meanwhile, which is newer

    def _remove_folders(self) -> None:
        for folder in self._folders:
            with contextlib.suppress(OSError):  # somebody uses it by now
                folder.rmdir()


def _same_file(first: Path, second: Path) -> bool:
    try:
        found, other = os.lstat(first), os.lstat(second)
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and os.path.samestat(found, other)


def _free_name_beside(target: Path) -> Path:
    number = 1
    while os.path.lexists(kept := target.with_name(f"{target.name}.kept-{number}")):
        number += 1
    return kept
