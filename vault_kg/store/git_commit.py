"""Making commits: a plan on top of the head, its objects on the disk, then the branch moved.

The branch moves by compare-and-swap, so that a commit that a person makes at the same moment is
built upon and never lost.
"""

from __future__ import annotations

import contextlib
import errno
import os
import random
import stat
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vault_kg.store import git_message
from vault_kg.store.flushing import Hardening
from vault_kg.store.git_index import IndexKeeper
from vault_kg.store.git_index_swap import PreparedIndex, wait_for_index
from vault_kg.store.git_layout import current_branch, require_quiet
from vault_kg.store.git_objects import StagedObjects, explaining
from vault_kg.store.git_process import GitPending, GitUnavailable, HeadMover
from vault_kg.store.git_tree import EXECUTABLE, PLAIN, Tree, Trees
from vault_kg.store.git_trees import TreeEditor, find_entry

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from vault_kg.store.git_index import Owed, Targets
    from vault_kg.store.git_layout import Layout
    from vault_kg.store.git_process import Git, ObjectReader
    from vault_kg.store.git_tree import Entry
    from vault_kg.store.git_trees import TreeChange

_ATTEMPTS = 10
_LOOKED_BACK = 1000


@dataclass(frozen=True)
class FileSnapshot:
    """The exact bytes that a file had, or None where it was gone; the path is below the vault."""

    path: str
    content: bytes | None


@dataclass(frozen=True)
class CommitRequest:
    """One commit to make.

    Trailers name the request: two different requests never carry the same ones. A request that has
    them and was committed before is recognised, and not committed again.
    """

    files: Sequence[FileSnapshot]
    subject: str
    author_name: str
    author_email: str
    at: datetime
    body: str = ""
    trailers: Sequence[tuple[str, str]] = ()
    empty_subject: str | None = None
    """What a commit is called that is made for its trailers alone, where the files change nothing;
    none is made where None."""

    def messages(self) -> list[bytes]:
        """Return what the message of the commit may be: with a change, and without any."""
        subjects = dict.fromkeys([self.subject, self.empty_subject or self.subject])
        return [self.message(subject) for subject in subjects]

    def message(self, subject: str) -> bytes:
        """Return the message of the commit under a subject."""
        return git_message.format_message(subject, self.body, self.trailers)


@dataclass
class _Plan:
    """What is to stand on top of a head."""

    head: str | None
    tree: str | None
    objects: StagedObjects
    editor: TreeEditor
    tip: str | None = None
    ids: list[str] = field(default_factory=list)
    changes: dict[bytes, TreeChange] = field(default_factory=dict)

    def entry(self, path: bytes) -> Entry | None:
        """Return what a path stands for at the tip."""
        change = self.changes.get(path)
        return change.after if change else self.editor.entry(self.tree, path)


class Committer:
    """Adds commits to the branch that one working tree is on."""

    def __init__(self, git: Git, layout: Layout, reader: ObjectReader) -> None:
        self._git = git
        self._layout = layout
        self._reader = reader
        self._mover = HeadMover(git)
        self._trees = Trees(layout.oid_size)
        self._seen: dict[str, git_message.ParsedCommit] = {}
        self._index = IndexKeeper(git, layout)

    def close(self) -> None:
        """End the process that moves the branch; the next commit starts another."""
        self._mover.stop()
        self._index.release()

    def commit(self, requests: Sequence[CommitRequest]) -> list[str]:
        """Commit each request on top of the one before and return their ids.

        All of them become visible together, or none.

        Raises:
            GitPending: This is not the moment.
            GitUnavailable: Git cannot be used here.
        """
        for attempt in range(_ATTEMPTS):
            self._require_quiet()
            plan = self._plan(requests)
            if self._carry_out(plan):
                return plan.ids
            time.sleep(random.uniform(0, 0.01 * (attempt + 1)))
        raise GitPending("the branch kept moving while we committed", "ref_moved")

    def _require_quiet(self) -> None:
        require_quiet(self._git, self._layout)
        lock = self._layout.index_lock
        if not wait_for_index(self._layout, lambda: not lock.exists()):
            message = f"another Git process holds {lock}: if none runs, remove that file"
            raise GitPending(message, "index_locked")

    def _plan(self, requests: Sequence[CommitRequest]) -> _Plan:
        head = self._reader.read("HEAD")
        objects = StagedObjects(self._layout, self._reader)
        editor = TreeEditor(objects, self._trees, self._mode_of_new)
        oid = head.oid if head else None
        tree = git_message.parse_commit(head.data).tree if head else None
        plan = _Plan(oid, tree, objects, editor, tip=oid)
        blobs = [
            [(file.path, _stage(objects, file.content)) for file in request.files]
            for request in requests
        ]
        made = self._made_before(oid, requests, blobs)
        for request, files, before in zip(requests, blobs, made, strict=True):
            plan.ids.append(before or self._add(plan, request, files))
        return plan

    def _add(
        self, plan: _Plan, request: CommitRequest, files: Sequence[tuple[str, str | None]]
    ) -> str:
        tree, changes = plan.editor.apply(plan.tree, files)
        subject = request.subject if tree != plan.tree else request.empty_subject
        if subject is None:
            assert plan.tip is not None, "what changes nothing changes a tree that is there"
            return plan.tip
        parents = [plan.tip] if plan.tip else []
        author = git_message.format_person(request.author_name, request.author_email, request.at)
        committer = git_message.committer_at(request.at)
        message = request.message(subject)
        data = git_message.format_commit(tree, parents, author, committer, message)
        plan.tree, plan.tip = tree, plan.objects.add("commit", data)
        for change in changes:
            first = plan.changes.get(change.path, change)
            plan.changes[change.path] = type(change)(change.path, first.before, change.after)
        return plan.tip

    def _made_before(
        self,
        head: str | None,
        requests: Sequence[CommitRequest],
        blobs: Sequence[Sequence[tuple[str, str | None]]],
    ) -> list[str | None]:
        """Find requests that a process committed and then died before it could say so."""
        since = min((int(r.at.timestamp()) for r in requests if r.trailers), default=None)
        recent: list[tuple[str, git_message.ParsedCommit]] = []
        while head is not None and since is not None and len(recent) < _LOOKED_BACK:
            parsed = self._parsed(head)
            if parsed is None or parsed.committed < since:
                break
            recent.append((head, parsed))
            head = parsed.parents[0] if parsed.parents else None
        made: list[str | None] = []
        for request, files in zip(requests, blobs, strict=True):
            at = self._position(recent, request, files) if request.trailers else None
            made.append(None if at is None else recent[at][0])
            recent = recent if at is None else recent[:at]
        return made

    def _parsed(self, oid: str) -> git_message.ParsedCommit | None:
        if oid not in self._seen:
            found = self._reader.read(oid)
            if found is None:
                return None
            if len(self._seen) >= 2 * _LOOKED_BACK:
                self._seen.clear()
            self._seen[oid] = git_message.parse_commit(found.data)
        return self._seen[oid]

    def _position(
        self,
        recent: Sequence[tuple[str, git_message.ParsedCommit]],
        request: CommitRequest,
        files: Sequence[tuple[str, str | None]],
    ) -> int | None:
        messages = request.messages()
        author = git_message.format_person(request.author_name, request.author_email, request.at)
        for position in reversed(range(len(recent))):
            commit = recent[position][1]
            same = commit.author == author and commit.message.encode() in messages
            if same and all(self._blob(commit.tree, p) == blob for p, blob in dict(files).items()):
                return position
        return None

    def _blob(self, tree: str, path: str) -> str | None:
        entry = find_entry(self._tree, tree, os.fsencode(path))
        return entry.oid if entry and not entry.is_folder else None

    def _tree(self, oid: str) -> Tree:
        return self._trees.get(oid, StagedObjects(self._layout, self._reader).read)

    def _carry_out(self, plan: _Plan) -> bool:
        """Do what was planned; False where the branch had moved."""
        with explaining(self._layout.git_dir):
            owed = self._index.owe(list(plan.changes.values()))
        targets = {path: plan.entry(path) for path in owed}
        if plan.tip is None or plan.tip == plan.head:
            self._settle(owed, targets, None)
            return True
        written = plan.objects.write(self._git, self._index.notes)
        with self._prepare(owed, targets) or contextlib.nullcontext() as prepared:
            with explaining(self._layout.objects):
                written.wait()
            if not self._move(plan):
                return False
            named = Hardening(self._folders_of_branch())
            self._settle(owed, targets, prepared)
        with explaining(self._layout.common_dir):
            named.wait()
        return True

    def _prepare(self, owed: Owed, targets: Targets) -> PreparedIndex | None:
        """Prepare the index, while the disk takes the objects."""
        if owed:
            with contextlib.suppress(OSError, GitUnavailable):  # told, if at all, by `_settle`
                return self._index.prepare(owed, targets)
        return None

    def _move(self, plan: _Plan) -> bool:
        complaint = self._mover.move(plan.tip or "", plan.head or self._layout.zero)
        if complaint is None:
            return True
        now = self._reader.read("HEAD")
        if (now.oid if now else None) != plan.head:
            return False
        if os.strerror(errno.ENOSPC) in complaint:
            raise GitPending(f"the disk is full: {complaint}", "disk_full")
        if os.strerror(errno.EEXIST) in complaint:
            raise GitPending(f"another Git process holds the branch: {complaint}", "ref_locked")
        denied = (os.strerror(errno.EACCES), os.strerror(errno.EROFS))
        reason = "no_permission" if any(d in complaint for d in denied) else "git_failed"
        raise GitUnavailable(f"the branch cannot be moved: {complaint}", reason)

    def _folders_of_branch(self) -> list[Path]:
        """Name the folders in which the branch got a new file, whose content Git has flushed."""
        common = self._layout.common_dir
        branch = common / (current_branch(self._git, self._layout) or "")
        folders = [common / "reftable", *branch.parents]
        return [f for f in folders if f.is_relative_to(common) and f.is_dir()]

    def _settle(self, owed: Owed, targets: Targets, prepared: PreparedIndex | None) -> None:
        if not owed:
            return
        with contextlib.suppress(OSError, GitUnavailable):  # the commit stands; still owed
            self._index.settle(owed, targets, prepared)

    def _mode_of_new(self, path: bytes) -> bytes:
        try:
            mode = os.lstat(os.fsencode(self._layout.root) + b"/" + path).st_mode
        except OSError:
            return PLAIN
        if not stat.S_ISREG(mode) or not mode & stat.S_IXUSR:
            return PLAIN
        honoured = self._git.run("config", "--type=bool", "--get", "core.fileMode")
        return PLAIN if honoured.stdout.strip() == b"false" else EXECUTABLE


def _stage(objects: StagedObjects, content: bytes | None) -> str | None:
    return None if content is None else objects.add("blob", content)
