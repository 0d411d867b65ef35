"""What waits for Git and needs no commit any more: a person's own commits went past it.

During a rebase, a merge or a visit of an old commit Git changes files, and each look takes in what
they hold at that moment. Nothing can be committed then; doing it afterwards would take the branch
back to those moments and forth again. What somebody typed meanwhile is no such moment: Git has never
had it. The journal keeps the bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_kg.errors import NotFound
from vault_kg.store.files import blob_id
from vault_kg.store.journal import OBSERVE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_kg.state.journal import Entry, FileRow
    from vault_kg.store.git import History

Waiting = tuple["Entry", list["FileRow"]]
"""An entry that waits for Git, with its files."""


def is_edit(entry: Entry) -> bool:
    """Say whether an entry tells of files alone, which any commit that holds them tells as well."""
    return entry.operation == OBSERVE and not guarded(entry)


def guarded(entry: Entry) -> int:
    """Return of how many records an entry says that they are withdrawn, superseded or merged."""
    return len(entry.effects["guards"]) + len(entry.effects["merges"])


def passed(history: History, head: str | None, waiting: Sequence[Waiting]) -> set[int]:
    """Return the numbers of the edits that the head has passed.

    They saw what Git has, their files were seen once more since, and the head holds exactly what was
    seen last.

    Args:
        history: the vault's Git history.
        head: the head of the branch; None where there is none.
        waiting: what waits, oldest first.
    """
    if head is None:
        return set()
    edits = [(entry.seq, files) for entry, files in waiting if is_edit(entry)]
    last = {file.path: file.after for _, files in edits for file in files}
    held: dict[str, bool] = {}

    def is_held(path: str) -> bool:
        if path not in held:
            held[path] = history.read_file(head, path) == last[path]
        return held[path]

    return {
        seq
        for seq, files in edits
        if any(file.after != last[file.path] for file in files)
        and all(is_held(file.path) and _has(history, file.after) for file in files)
    }


def _has(history: History, content: bytes | None) -> bool:
    """Say whether some bytes are an object of Git already."""
    try:
        return content is None or history.read_blob(blob_id(content)) == content
    except NotFound:
        return False
