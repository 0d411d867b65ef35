"""The history of a vault: exact byte snapshots become commits, in order.

Commits are made through Git's plumbing: blobs, the trees along the changed paths, the commit, and
the branch moved only if it is where it was. The person's repository is never disturbed: no hook,
filter or signature runs, nothing that was staged is touched, nothing is fetched or sent, and a
moment at which a commit would be in the way is reported as pending.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_kg.errors import NotFound
from vault_kg.store.flushing import Hardening
from vault_kg.store.git_commit import CommitRequest, Committer, FileSnapshot
from vault_kg.store.git_history import FileChange, HistoryReader, LoggedCommit
from vault_kg.store.git_layout import Layout, find_layout
from vault_kg.store.git_objects import explaining
from vault_kg.store.git_process import Git, GitPending, GitUnavailable, ObjectReader

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = [
    "CommitRequest",
    "FileChange",
    "FileSnapshot",
    "GitPending",
    "GitUnavailable",
    "History",
    "LoggedCommit",
]


_LOOSE_ARE_MANY = 6700


@dataclass(frozen=True)
class _Repository:
    """A repository that was found, with what works on it."""

    layout: Layout
    reader: ObjectReader
    committer: Committer
    history: HistoryReader


class History:
    """The Git history of one vault.

    Opening costs nothing; Git starts with the first question, and is kept running for the next, so
    close the history, or use it in a `with` statement.
    """

    def __init__(self, root: Path) -> None:
        """Stand for the history of a vault.

        Args:
            root: The vault's folder. An enclosing repository is never adopted.
        """
        self._git = Git(root.resolve())
        self._opening = threading.RLock()
        self._writing = threading.Lock()
        self._opened: _Repository | None = None

    def __enter__(self) -> History:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the Git processes that were kept running; a later question starts them again."""
        with self._opening:
            opened, self._opened = self._opened, None
            if opened is not None:
                opened.reader.close()
                opened.committer.close()

    def commit(self, requests: Sequence[CommitRequest]) -> list[str]:
        """Commit each request on top of the one before, making the repository if there is none.

        All of them become visible together, or none, and survive a power cut once this returns. A
        request that changes nothing gets the id of the commit that it finds; one that was committed
        before and carries trailers gets the id that it had. Without requests, an index that could
        not be brought up to date before is now.

        Args:
            requests: What to commit, oldest first.

        Returns:
            One id for each request.

        Raises:
            GitPending: This is not the moment; the same requests can be given again later.
            GitUnavailable: Git cannot be used here until somebody acts.
            UnsafePath: A path is none that Git can hold.
            InvalidArgument: A trailer is not of one line, or a path is both a file and a folder.
        """
        with self._writing:
            if not requests and self._open() is None:
                return []
            self._ensure()
            return self._existing().committer.commit(requests)

    def tidy(self) -> bool:
        """Pack loose objects once there are many; nothing is removed that is not in a pack.

        Git does so after a person's commits; a vault that only agents write to needs it done. While
        another Git changes the index or collects garbage, nothing is done.

        Returns:
            Whether they were packed.

        Raises:
            GitUnavailable: Git cannot pack them.
        """
        repository = self._open()
        if repository is not None and repository.layout.is_in_use():
            return False
        # Object names are evenly spread: as `git gc --auto`, judge by one of 256 folders.
        sample = list((repository.layout.objects / "17").glob("*")) if repository else []
        if 256 * len(sample) < _LOOSE_ARE_MANY:
            return False
        packing = ("repack", "-d", "-l", "-q", "--geometric=2", "--no-write-bitmap-index")
        done = self._git.run(*packing)
        if done.returncode != 0:
            raise GitUnavailable(f"objects cannot be packed: {done.complaint}", "git_failed")
        return True

    def resolve(self, commitish: str) -> str | None:
        """Return the id of the commit that a branch, tag or (short) id stands for, or None."""
        repository = self._open()
        return repository.history.resolve(commitish) if repository else None

    def read_blob(self, oid: str) -> bytes:
        """Return the content of a blob.

        Raises:
            NotFound: There is no such blob.
        """
        return self._existing().history.read_blob(oid)

    def read_file(self, commit: str, path: str) -> bytes | None:
        """Return the bytes of a file as a commit has it, or None where it has none.

        Raises:
            NotFound: There is no such commit.
        """
        return self._existing().history.read_file(commit, path)

    def list_files(
        self, commit: str, prefix: str = "", suffix: str = ".md"
    ) -> list[tuple[str, str]]:
        """Return path and blob of each regular file in a commit whose path begins and ends so.

        Raises:
            NotFound: There is no such commit.
        """
        return self._existing().history.list_files(commit, prefix, suffix)

    def log_with_trailers(
        self,
        after: str | None = None,
        changes: bool = False,
        saying: str | None = None,
        of: str = "HEAD",
    ) -> Iterator[LoggedCommit]:
        """Yield the commits of the head, parents before children, as they are read.

        Args:
            after: Leave out this commit and all before it.
            changes: Tell the files that each commit changed, too.
            saying: Only commits that have a trailer of this name.
            of: Another head than that of the branch.
        """
        repository = self._open()
        if repository is not None:
            yield from repository.history.log(of, after, changes, saying)

    def describe(self, commitish: str) -> LoggedCommit | None:
        """Return a commit and what it says of itself, without its changes; None if there is none."""
        repository = self._open()
        return repository.history.describe(commitish) if repository else None

    def refs(self, prefix: str) -> dict[str, str]:
        """Return the references whose names begin so, each with the commit that it stands for."""
        if self._open() is None:
            return {}
        listed = self._git.run("for-each-ref", "--format=%(objectname) %(refname)", prefix)
        lines = listed.stdout.decode("utf-8", "replace").splitlines()
        return {name: oid for oid, _, name in (line.partition(" ") for line in lines)}

    def set_ref(self, name: str, commit: str | None) -> None:
        """Make or move a reference outside the person's branches and tags; None removes it.

        Raises:
            GitUnavailable: Git refuses.
        """
        self._existing()
        arguments = ("-d", name) if commit is None else (name, commit)
        with self._writing:
            done = self._git.run("update-ref", *arguments)
        if done.returncode != 0:
            raise GitUnavailable(f"{name} cannot be set: {done.complaint}", "git_failed")

    def _ensure(self) -> None:
        if self._open() is not None:
            return
        root = self._git.root
        init = ("init", "--quiet", "--template=", str(root))
        made = self._git.run("-c", "init.defaultBranch=main", *init)
        if made.returncode != 0:
            message = f"no repository can be made in {root}: {made.complaint}"
            raise GitUnavailable(message, "no_permission")
        with explaining(root):
            Hardening([root, root / ".git"]).wait()

    def _existing(self) -> _Repository:
        repository = self._open()
        if repository is None:
            raise NotFound(f"{self._git.root} has no history yet", path=str(self._git.root))
        return repository

    def _open(self) -> _Repository | None:
        """Find the repository, anew where another one stands at its place."""
        with self._opening:
            if self._opened is not None and self._opened.layout.stands():
                return self._opened
            self.close()
            layout = find_layout(self._git)
            if layout is not None:
                reader = ObjectReader(self._git)
                committer = Committer(self._git, layout, reader)
                history = HistoryReader(self._git, layout, reader)
                self._opened = _Repository(layout, reader, committer, history)
            return self._opened
