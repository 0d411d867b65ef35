"""Revisions that no commit of ours tells of, because a person's own commit holds them.

The commit that changes such a record next builds on it: it tells the number that follows, and what
it replaced has the bytes. Of several such revisions in a row only the last is found so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from vault_kg.records import model
from vault_kg.records.frontmatter import FrontMatterError, parse
from vault_kg.state import revisions
from vault_kg.store import files

if TYPE_CHECKING:
    from vault_kg.records.model import Record
    from vault_kg.state.database import Database
    from vault_kg.state.revisions import Revision
    from vault_kg.store.git import History


def replaced(
    database: Database, history: History, parent: str, made: Iterable[Revision], *, edited: bool
) -> list[Revision]:
    """Return what the revisions of a commit replaced, where the state does not know it.

    Args:
        database: the state, in which all commits before are known.
        history: the vault's Git history.
        parent: the commit before, on which the commit builds.
        made: the revisions of the commit.
        edited: whether they are a person's edits, which may be of files that were no records yet.
    """
    heads = revisions.heads_of(database, {after.record_id for after in made})
    found = []
    for after in made:
        head = heads.get(after.record_id)
        known = head.revision if head is not None else 0
        if after.revision <= known + 1 or (head is None and edited):
            continue
        content = history.read_file(parent, after.path)
        record = record_in(content) if content is not None else None
        if content is None or record is None or record.id != after.record_id:
            continue
        digest = files.content_hash(content)
        if head is None or head.hash != digest:
            found.append(
                replace(
                    after, revision=after.revision - 1, hash=digest, blob=files.blob_id(content),
                    lifecycle=head.lifecycle if head is not None else record.lifecycle,
                )
            )  # fmt: skip
    return found


def record_in(content: bytes) -> Record | None:
    """Return the record that the bytes of a file are, or None where they are none."""
    try:
        document = parse(content)
    except FrontMatterError:
        return None
    return model.read_record(document)[0] if model.is_record(document) else None
