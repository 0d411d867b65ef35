"""Reading the history of a vault: files as they stood, and commits with what they say."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from vault_kg.errors import NotFound
from vault_kg.store.git_message import parse_commit
from vault_kg.store.git_process import GitUnavailable
from vault_kg.store.git_tree import Tree
from vault_kg.store.git_trees import find_entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from vault_kg.store.git_layout import Layout
    from vault_kg.store.git_process import Git, ObjectReader

_REGULAR = b"1007", b"1006"


@dataclass(frozen=True)
class FileChange:
    """A file that a commit set to a blob, or removed where that is None."""

    path: str
    blob: str | None


@dataclass(frozen=True)
class LoggedCommit:
    """A commit of the history and what it says of itself."""

    id: str
    parents: tuple[str, ...]
    at: datetime
    subject: str
    trailers: list[tuple[str, str]]
    author: tuple[str, str]
    committer: tuple[str, str]
    changes: tuple[FileChange, ...] = ()
    """Against the first parent; empty unless asked for, and for a merge."""
    joined: tuple[list[tuple[str, str]], ...] = ()
    """The trailers of each message of which this one was made; of most there is one."""


class HistoryReader:
    """Answers from the objects of one repository."""

    def __init__(self, git: Git, layout: Layout, reader: ObjectReader) -> None:
        self._git = git
        self._layout = layout
        self._reader = reader

    def resolve(self, commitish: str) -> str | None:
        """Return the id of the commit that a name stands for, or None."""
        found = self._reader.read(f"{commitish}^{{commit}}") if ":" not in commitish else None
        return found.oid if found else None

    def read_blob(self, oid: str) -> bytes:
        """Return the content of a blob.

        Raises:
            NotFound: There is no such blob.
        """
        found = self._reader.read(oid) if _is_hex(oid) else None
        if found is None or found.kind != "blob":
            raise NotFound(f"the history has no blob {oid}", blob=oid)
        return found.data

    def read_file(self, commit: str, path: str) -> bytes | None:
        """Return the bytes of a file in a commit, or None where it has none.

        Raises:
            NotFound: There is no such commit.
        """
        entry = find_entry(self._parsed, self._tree(commit), os.fsencode(path))
        if entry is None or not entry.mode.startswith(_REGULAR):
            return None
        return self.read_blob(entry.oid)

    def list_files(self, commit: str, prefix: str, suffix: str) -> list[tuple[str, str]]:
        """Return the paths and blobs of the regular files in a commit, by path.

        Raises:
            NotFound: There is no such commit.
            GitUnavailable: Git does not list it.
        """
        folder, slash, _ = prefix.rpartition("/")
        entry = find_entry(self._parsed, self._tree(commit), os.fsencode(folder))
        if entry is None or not entry.is_folder:
            return []
        listed = self._git.run("ls-tree", "-r", "-z", entry.oid)
        if listed.returncode != 0:
            raise GitUnavailable(f"a commit cannot be listed: {listed.complaint}", "git_failed")
        files: list[tuple[str, str]] = []
        for line in listed.stdout.split(b"\0")[:-1]:
            about, _, name = line.partition(b"\t")
            path = folder + slash + os.fsdecode(name)
            regular = about.startswith(_REGULAR)
            if regular and path.startswith(prefix) and path.endswith(suffix):
                files.append((path, about.rsplit(b" ", 1)[1].decode()))
        return files

    def describe(self, commitish: str) -> LoggedCommit | None:
        """Return a commit without its changes, or None."""
        oid = self.resolve(commitish)
        found = self._reader.read(oid) if oid is not None else None
        return _logged(found.oid, found.data, []) if found is not None else None

    def log(
        self, of: str, after: str | None, changes: bool, saying: str | None
    ) -> Iterator[LoggedCommit]:
        """Yield the commits that a head contains, parents before children.

        Raises:
            NotFound: There is no commit `after`.
        """
        head = self.resolve(of)
        if head is None:
            return
        span = [head] if after is None else [head, f"^{self._commit(after)}"]
        span += [f"--grep=^{saying}: "] if saying is not None else []
        for oid, changed in self._with_changes(span) if changes else self._alone(span):
            found = self._reader.read(oid)
            if found is not None:
                yield _logged(oid, found.data, changed)

    def _alone(self, span: list[str]) -> Iterator[tuple[str, list[FileChange]]]:
        with self._git.start("rev-list", "--reverse", "--topo-order", *span, "--") as process:
            assert process.stdout is not None
            for line in process.stdout:
                yield line.decode().strip(), []

    def _with_changes(self, span: list[str]) -> Iterator[tuple[str, list[FileChange]]]:
        listing = self._git.start("rev-list", "--reverse", "--topo-order", *span, "--")
        assert listing.stdout is not None
        shown = ("-r", "-z", "--root", "--raw", "--no-abbrev", "--no-renames", "--always")
        with (
            listing,
            self._git.start("diff-tree", "--stdin", *shown, stdin=listing.stdout.fileno()) as diff,
        ):
            assert diff.stdout is not None
            listing.stdout.close()
            yield from _by_commit(_fields(diff.stdout))

    def _commit(self, commitish: str) -> str:
        oid = self.resolve(commitish)
        if oid is None:
            raise NotFound(f"the history has no commit {commitish}", commit=commitish)
        return oid

    def _tree(self, commit: str) -> str:
        return parse_commit(self._content(self._commit(commit))).tree

    def _content(self, oid: str) -> bytes:
        found = self._reader.read(oid)
        if found is None:
            raise NotFound(f"the history has lost the object {oid}: run `git fsck`", object=oid)
        return found.data

    def _parsed(self, tree: str) -> Tree:
        return Tree.parse(self._content(tree), self._layout.oid_size)


def _logged(oid: str, data: bytes, changes: Sequence[FileChange]) -> LoggedCommit:
    commit = parse_commit(data)
    return LoggedCommit(
        oid, commit.parents, commit.at, commit.subject, commit.trailers, commit.authored_by,
        commit.committed_by, tuple(changes), tuple(commit.joined_trailers),
    )  # fmt: skip


def _by_commit(fields: Iterator[bytes]) -> Iterator[tuple[str, list[FileChange]]]:
    oid, changes = "", list[FileChange]()
    for text in fields:
        if text.startswith(b":"):
            after, kind = text.split(b" ")[3:5]
            blob = None if kind == b"D" else after.decode()
            changes.append(FileChange(os.fsdecode(next(fields)), blob))
            continue
        if oid:
            yield oid, changes
        oid, changes = text.decode(), []
    if oid:
        yield oid, changes


def _fields(stream: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    while chunk := stream.read1(1 << 16):  # type: ignore[attr-defined]
        *complete, rest = (rest + chunk).split(b"\0")
        yield from complete


def _is_hex(oid: str) -> bool:
    return len(oid) in (40, 64) and set(oid) <= set("0123456789abcdef")
