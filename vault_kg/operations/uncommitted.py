"""Files of a vault that no commit of the branch holds, although nothing of them waits for Git.

So it is after `.git` was removed, or on a branch that began anew: what is written from then on is
committed, and nothing else.
"""

from __future__ import annotations

from collections.abc import Collection
from weakref import WeakKeyDictionary

from vault_kg.errors import NotFound, UnsafePath
from vault_kg.index import settled
from vault_kg.index.findings import Finding
from vault_kg.index.indexer import generation
from vault_kg.index.parsed import partition_of
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace
from vault_kg.state import journal as rows
from vault_kg.store import unasked
from vault_kg.store.git import GitUnavailable
from vault_kg.store.git_trees import split_path
from vault_kg.store.vault import CONFIG

_Key = tuple[str | None, int, int]

_known: WeakKeyDictionary[Workspace, tuple[_Key, tuple[str, ...]]] = WeakKeyDictionary()


def files(ws: Workspace, caller: Caller) -> list[str]:
    """Return the records and sources that a caller may see and that are in no commit, by path."""
    return [path for path in _every(ws) if caller.sees(partition_of(path))]


def said(paths: Collection[str]) -> str:
    """Return in words how many files are in no commit."""
    one = len(paths) == 1
    return f"{len(paths):,} file{'' if one else 's'} of the vault {'is' if one else 'are'} in no commit"


def found(ws: Workspace, caller: Caller) -> list[Finding]:
    """Return the finding that says so, if there is anything to say."""
    paths = files(ws, caller)
    if not paths:
        return []
    tops = " ".join(sorted({path.partition("/")[0] for path in paths}))
    return [
        Finding(
            "in_no_commit", "warning",
            f"{said(paths)} of this branch, this one for instance: a clone and a push lack them, "
            "and their older revisions may be lost", paths[0], None, None,
            "bring the old `.git` or branch back; or begin anew from what stands here: "
            f"`git init && git add {tops} && git add -f {CONFIG} && git commit -m vault`",
            partition_of(paths[0]),
        )
    ]  # fmt: skip


def _every(ws: Workspace) -> tuple[str, ...]:
    if ws.vault.reading or unasked.is_unasked(ws.database):
        return ()
    # What waits is read before the head: whatever is committed meanwhile is in the head.
    state = generation(ws.database), rows.last_seq(ws.database)
    wanted = settled.paths(ws.database)
    try:
        head = ws.history.resolve("HEAD")
        known = _known.get(ws)
        if known is None or known[0] != (head, *state):
            known = (head, *state), tuple(p for p in _outside(ws, head, wanted) if _can_be_in(p))
            _known[ws] = known
    except (GitUnavailable, NotFound):
        return ()  # the queue says what is wrong with Git
    return known[1]


def _outside(ws: Workspace, head: str | None, wanted: list[str]) -> list[str]:
    if head is None:
        return wanted
    folders = {path.partition("/")[0] + "/" if "/" in path else "" for path in wanted}
    if "" in folders:
        folders = {""}
    there = {path for f in folders for path, _ in ws.history.list_files(head, f, "")}
    return [path for path in wanted if path not in there]


def _can_be_in(path: str) -> bool:
    try:
        split_path(path)
    except UnsafePath:
        return False
    return True
